package txn

import (
	"unsafe"

	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// ahead tells the coroutine what it will touch of its transaction when it goes
// on, so that the host has it at hand; see r2.Co.Ahead.
func (tx *Tx) ahead() {
	tx.c.Ahead(unsafe.Pointer(tx), unsafe.Sizeof(*tx), func() {
		if n := len(tx.set); n > 0 {
			r2.Prefetch(unsafe.Pointer(&tx.set[0]), uintptr(n)*unsafe.Sizeof(tx.set[0]))
		}
		if n := len(tx.logs); n > 0 {
			r2.Prefetch(unsafe.Pointer(&tx.logs[0]), uintptr(n)*unsafe.Sizeof(tx.logs[0]))
		}
	})
}

// aheadPosts asks for the queue pairs that the next phase posts to: the first
// post would otherwise wait for each in turn.
func (tx *Tx) aheadPosts() {
	for i := range tx.set {
		tx.c.AheadPost(int(tx.set[i].machine))
	}
}

// aheadLocal asks for the records of the own machine that are about to be read,
// from index first of the set on: one after the other, each would be waited for.
func (tx *Tx) aheadLocal(first int) {
	if len(tx.set)-first < 2 {
		return
	}
	for i := first; i < len(tx.set); i++ {
		if a := &tx.set[i]; a.state == wanted && !a.located && int(a.machine) == tx.c.Machine() {
			a.table.store.AheadLocal(tx.c, a.key)
		}
	}
}

// aheadApply asks for the rows that an entry is about to be applied to.
func (db *DB) aheadApply(c *r2.Co, e record.Entry) {
	if e.Updates < 2 {
		return
	}
	for u, ok := e.Next(); ok; u, ok = e.Next() {
		db.tables[u.Table].store.AheadBackup(c, c.Machine(), u.Key)
	}
}
