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
		tx.c.AheadAtomic(int(tx.set[i].machine))
	}
}

// aheadReclaim asks for the log entry that a reclaim is about.
func (db *DB) aheadReclaim(machine int, from r2.Peer, req []byte) {
	if len(req) < 8 || machine >= len(db.ringMR) || from.Thread >= len(db.ringMR[machine]) {
		return
	}
	word := u64(req)
	at, n := db.ringAddr(machine, from.Machine, from.Thread, word>>16), int(word&0xffff)
	db.cl.AheadBytes(machine, at, n)
	if n > 8 {
		db.cl.AheadBytes(machine, at+r2.Addr(n-8), 8)
	}
}

// aheadRows asks for the backup's rows that an entry changes.
func (db *DB) aheadRows(machine int, e record.Entry) {
	for u, ok := e.Next(); ok; u, ok = e.Next() {
		db.tables[u.Table].store.AheadBackup(machine, u.Key)
	}
}
