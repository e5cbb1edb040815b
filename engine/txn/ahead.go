package txn

import "unsafe"

// Prefetcher is a session that asks the host for the memory that its next step touches. It has no effect on results: thousands of coroutines
// take turns, and the host is faster where their memory is in its caches by then.
type Prefetcher interface{ Ahead() }

// ahead tells the coroutine what it will touch of its transaction when it goes
// on, so that the host has it at hand; see r2.Co.Ahead.
func (tx *Tx) ahead() {
	var session func()
	if p, ok := tx.run.(Prefetcher); ok {
		session = p.Ahead
	}
	tx.c.Ahead(unsafe.Pointer(tx), unsafe.Sizeof(*tx), session)
}
