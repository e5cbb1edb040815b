package versions

import (
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// waiter is a snapshot that waits for the holders of locks: a coroutine of the machine, or a request that was deferred.
type waiter struct {
	left    int // holders that have not let go
	co      *r2.Co
	asleep  bool
	ticket  *r2.Ticket
	at      []spot // of the records of its request, as pass 1 has found them
	passed  bool   // the last of them is one whose writers are not waited for
	awaited []byte // the others, for a WriterWaiter

	table *txn.Table // the record that pass 1 is at, for Stuck
	key   uint64
}

// queued is a waiter in the queue of a row.
type queued struct {
	*waiter
	of    *txn.Table
	key   uint64
	since r2.Time
}

// spot is where a record is; ok is false if it is missing.
type spot struct {
	loc store.Location
	ok  bool
}

// wait queues w at a row whose lock was found held. It reports whether the holder will say when it lets go; if not, it has
// let go already.
func (s *Store) wait(c *r2.Co, m *machine, row r2.Addr, w *waiter) bool {
	m.touchQueue(c, row)
	m.queues[row] = append(m.queues[row], queued{w, w.table, w.key, c.Now()}) // measured: how long it waits
	w.left++                                                                  // before the look at the lock: its holder may let go meanwhile
	for lock := c.Load64(row); s.host.Busy(lock); {
		if lock&Waited != 0 {
			return true
		}
		was := c.LocalCAS(row, lock, lock|Waited)
		if was == lock {
			return true
		}
		lock = was
	}
	m.leave(c, row, w)
	return false
}

// leave takes w out of the queue of a row, if it is still there.
func (m *machine) leave(c *r2.Co, row r2.Addr, w *waiter) bool {
	m.touchQueue(c, row)
	q := m.queues[row]
	i := slices.IndexFunc(q, func(x queued) bool { return x.waiter == w })
	if i < 0 {
		return false
	}
	w.left--
	if q = slices.Delete(q, i, i+1); len(q) == 0 {
		delete(m.queues, row)
	} else {
		m.queues[row] = q
	}
	return true
}

func (m *machine) touchQueue(c *r2.Co, row r2.Addr) {
	c.Touch(m.lines+r2.Addr(spread(row)%queueLines*lineBytes), 16)
}

// Released answers the snapshots that have waited for the holder of a row's lock. A host calls it after it has
// released a lock with the bit Waited.
func (s *Store) Released(c *r2.Co, row r2.Addr) {
	m := s.machines[c.Machine()]
	m.touchQueue(c, row)
	q := m.queues[row]
	delete(m.queues, row)
	for _, x := range q {
		s.counts(c).Blocked++
		s.counts(c).WaitPS += c.Now() - x.since // measured: how long it has waited
		w := x.waiter
		if w.left--; w.left > 0 {
			continue
		}
		switch {
		case w.ticket != nil:
			s.answer(c, w)
		case w.asleep:
			w.asleep = false
			c.Wake(w.co)
		}
	}
}

// Unlock releases a lock of c's machine that is held with that word, and wakes the snapshots that wait for it.
func (s *Store) Unlock(c *r2.Co, row r2.Addr, word uint64) {
	if c.LocalCAS(row, word, 0) != word {
		c.Store64(row, 0)
		s.Released(c, row)
	}
}
