package txn

import "unsafe"

// ahead tells the coroutine what it will touch of its transaction when it goes
// on, so that the host has it at hand; see r2.Co.Ahead.
func (tx *Tx) ahead() {
	tx.c.Ahead(unsafe.Pointer(tx), unsafe.Sizeof(*tx), tx.run.Ahead)
}
