package txn

import (
	"unsafe"

	"drtmx/engine/r2"
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
