package twopl

import (
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/txn"
)

// The lock of one record or gap: its holders, its queue, and which request is next. It is data alone; table.go
// has the word in memory, the latch, and the messages.

// mode is how a lock is held, or wanted.
type mode uint8

const (
	none mode = iota
	shared
	exclusive
)

func (m mode) String() string { return [...]string{"none", "shared", "exclusive"}[m] }

// party is an attempt of a transaction, as one server knows it.
type party struct {
	id     uint64
	age    uint64 // when its transaction began its first attempt, by the clock of its machine
	owner  record.Owner
	held   []*lock     // in the order in which it got them
	placed []placement // rows that it has given to new records
	gaps   []r2.Addr   // that it has found empty, where records have versions
	parts  int         // of its last request, which came in several messages
	stamp  uint64      // that it commits with, where records have versions; 0: it aborts
}

// older says that a party's transaction began before that of another one. No two are of one age.
func (p *party) older(q *party) bool {
	if p.age != q.age {
		return p.age < q.age
	}
	return p.id < q.id
}

// lock is held exclusively by one party, or shared by some, and others wait for it: first come, first served,
// but that a holder that upgrades from shared to exclusive is in front.
type lock struct {
	at      r2.Addr // of its word
	mode    mode
	holders []*party // in the order in which they got it
	queue   []*request

	reserved *txn.Table // where its exclusive holder has room for the version that it will overwrite
}

// verdict is what becomes of a request for a lock.
type verdict uint8

const (
	granted verdict = iota
	waits
	refused
)

// holds says that a party holds the lock, in whatever mode.
func (l *lock) holds(p *party) bool {
	for _, h := range l.holders {
		if h == p {
			return true
		}
	}
	return false
}

// request asks for the lock. If a request that waits has to go for this one, it is the victim, and out of the
// queue.
func (l *lock) request(r *request, want mode, waitsFor waitRule) (v verdict, victim *request) {
	switch held := l.holds(r.party); {
	case held && (l.mode == exclusive || want == shared):
		return granted, nil
	case held:
		return l.upgrade(r, waitsFor)
	case len(l.queue) == 0 && compatible(l, want):
		l.admit(r.party, want)
		return granted, nil
	case waitsFor(l, r, want):
		r.want, r.upgrades = want, false
		l.queue = append(l.queue, r)
		return waits, nil
	}
	return refused, nil
}

// upgrade asks for the lock exclusively that the party shares. Two upgrades would wait for each other: the younger aborts.
func (l *lock) upgrade(r *request, waitsFor waitRule) (v verdict, victim *request) {
	if alone(l) {
		l.mode = exclusive
		return granted, nil
	}
	if len(l.queue) > 0 && l.queue[0].upgrades {
		if first := l.queue[0]; r.party.older(first.party) {
			l.remove(first)
			victim = first
		} else {
			return refused, nil
		}
	}
	if !waitsFor(l, r, exclusive) {
		return refused, victim
	}
	r.want, r.upgrades = exclusive, true
	l.queue = append(l.queue, nil)
	copy(l.queue[1:], l.queue)
	l.queue[0] = r
	return waits, victim
}

// compatible says that the lock can be had now by one more.
func compatible(l *lock, want mode) bool {
	return l.mode == none || l.mode == shared && want == shared
}

// alone says that one party shares the lock.
func alone(l *lock) bool { return len(l.holders) == 1 }

// waitRule says whether a request may wait.
type waitRule func(l *lock, r *request, want mode) bool

// alwaysWaits is the rule where a timeout ends deadlocks.
func alwaysWaits(*lock, *request, mode) bool { return true }

// mayWait is the rule of wait-die: a transaction that waits is older than those for which it waits, so they cannot wait for each other.
// No request waits ahead of an upgrade.
func mayWait(l *lock, r *request, want mode) bool {
	for _, h := range l.holders {
		if h != r.party && !r.party.older(h) {
			return false
		}
	}
	if l.holds(r.party) {
		return true
	}
	for _, q := range l.queue {
		if (want == exclusive || q.want == exclusive) && !r.party.older(q.party) {
			return false
		}
	}
	return true
}

// admit makes a party a holder.
func (l *lock) admit(p *party, m mode) {
	l.mode = m
	l.holders = append(l.holders, p)
	p.held = append(p.held, l)
}

// release takes the lock away from a party.
func (l *lock) release(p *party) {
	for i, h := range l.holders {
		if h == p {
			l.holders = append(l.holders[:i], l.holders[i+1:]...)
			break
		}
	}
	if len(l.holders) == 0 {
		l.mode = none
	}
}

// remove takes a request out of the queue.
func (l *lock) remove(r *request) {
	r.at = nil
	for i, q := range l.queue {
		if q == r {
			copy(l.queue[i:], l.queue[i+1:])
			l.queue[len(l.queue)-1] = nil
			l.queue = l.queue[:len(l.queue)-1]
			return
		}
	}
}

// grant gives the lock to those at the front of the queue that can have it now, and puts them on the list.
func (l *lock) grant(to *list) {
	for len(l.queue) > 0 {
		r := l.queue[0]
		switch {
		case r.upgrades && alone(l):
			l.mode = exclusive
		case !r.upgrades && compatible(l, r.want):
			l.admit(r.party, r.want)
		default:
			return
		}
		l.remove(r)
		to.add(r)
	}
}

// dissolve sends all waiting requests away to look again: the row does not hold their record any more.
func (l *lock) dissolve(to *list) {
	for len(l.queue) > 0 {
		r := l.queue[0]
		l.remove(r)
		to.add(r)
	}
}

// word is what the word of the lock shows of it.
func (l *lock) word() uint64 {
	switch l.mode {
	case exclusive:
		return l.holders[0].owner.LockWord()
	case shared:
		return uint64(len(l.holders)) * oneSharer
	}
	return 0
}

// list is requests that go on, in order.
type list struct{ first, last *request }

func (x *list) add(r *request) {
	r.next = nil
	if x.last == nil {
		x.first = r
	} else {
		x.last.next = r
	}
	x.last = r
}

func (x *list) pop() *request {
	r := x.first
	if r != nil {
		if x.first = r.next; x.first == nil {
			x.last = nil
		}
		r.next = nil
	}
	return r
}
