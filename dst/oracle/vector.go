package oracle

import (
	"encoding/binary"
	"fmt"
	"slices"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// vector is the oracle of Figure 5-4: StableVTS and a queue for each slot. Handlers put what is installed on a list of their own
// thread; STABILIZE() goes round the lists, so that only it knows the queues. It publishes the vector under a sequence
// lock, for readers must not see parts of two.
type vector struct {
	cl        *r2.Cluster
	machine   int
	seq       r2.Addr // odd: being published
	stableVTS r2.Addr // the vector
	lists     []list  // by thread
	queues    []queue // by slot
	ready     []int   // slots whose next number may be stable
	moved     []int   // slots to be published
	keeper    keeper
	counts    counts
}

// list is what one thread's handlers were told, and STABILIZE() has not seen yet.
type list struct {
	tail    r2.Addr // how many there were
	space   r2.Addr // reserved: the entries
	entries []entry
	spare   [][]timestamp.Stamp
}

// entry is INSTALL(i:ts, deps).
type entry struct {
	ts   timestamp.Stamp
	deps []timestamp.Stamp
	from int // list whose memory deps is
}

// queue is a slot's: what is installed above its stable number, by number.
type queue struct {
	stable  uint64
	out     uint64 // as published
	by      map[uint64]entry
	blocked []waiter // slots that wait for a number of this one
	isReady bool
	isMoved bool
	space   r2.Addr // reserved
}

type waiter struct {
	slot   int
	number uint64 // of this slot
}

// Limits of what waits at the oracle. A list that is full takes no more, and the client comes again; more in a queue than this means that a
// number of its slot will never be installed.
const (
	listMost   = 1 << 8
	queueMost  = 1 << 16
	queueRing  = 64 // entries of a queue that have memory of their own
	chunk      = 16 // entries between two publications
	entryBytes = 64
)

func newVector(cl *r2.Cluster, machine int, name string, slots int) (*vector, error) {
	mem := cl.Mem(machine)
	threads := cl.Threads(machine)
	base, err := mem.Alloc(host.Alloc{Name: name, Bytes: uint64((1+threads)*lineBytes + 8*slots)})
	if err != nil {
		return nil, err
	}
	x := &vector{cl: cl, machine: machine, seq: base, stableVTS: base + r2.Addr((1+threads)*lineBytes), lists: make([]list, threads), queues: make([]queue, slots)}
	space, err := mem.Reserve(name+".queues", uint64(threads*listMost+slots*queueRing)*entryBytes, 0)
	if err != nil {
		return nil, err
	}
	for t := range x.lists {
		x.lists[t].tail = base + r2.Addr((1+t)*lineBytes)
		x.lists[t].space = space + r2.Addr(t*listMost*entryBytes)
	}
	for i := range x.queues {
		q := &x.queues[i]
		q.by = map[uint64]entry{}
		q.space = space + r2.Addr((threads*listMost+i*queueRing)*entryBytes)
	}
	return x, x.keeper.open(cl, machine, name, x.stabilize)
}

// install is INSTALL(i:ts, deps). False: the list is full.
func (x *vector) install(c *r2.Co, ts timestamp.Stamp, deps []byte) bool {
	l := &x.lists[c.Thread()]
	if len(l.entries) == listMost {
		return false
	}
	e := entry{ts: ts, from: c.Thread()}
	if n := len(l.spare); n > 0 {
		e.deps, l.spare = l.spare[n-1], l.spare[:n-1]
	}
	e.deps = e.deps[:0]
	for ; len(deps) > 0; deps = deps[8:] {
		e.deps = append(e.deps, timestamp.Stamp(binary.LittleEndian.Uint64(deps)))
	}
	c.Touch(l.space+r2.Addr(len(l.entries)*entryBytes), 8+8*len(e.deps))
	l.entries = append(l.entries, e)
	c.LocalFAA(l.tail, 1)
	x.counts.installs++
	x.keeper.call(c)
	return true
}

// stabilize is STABILIZE(). It reports whether it has found anything. What it finds is published every chunk: between two waits for
// its core's time it does not run far ahead of the others.
func (x *vector) stabilize(c *r2.Co) bool {
	found := false
	for t := range x.lists {
		l := &x.lists[t]
		c.Load64(l.tail)
		for n := min(len(l.entries), chunk); n > 0; n = min(len(l.entries), chunk) {
			found = true
			for i := range n {
				c.Touch(l.space+r2.Addr(i*entryBytes), 8+8*len(l.entries[i].deps))
				x.enqueue(c, l.entries[i])
			}
			l.entries = l.entries[:copy(l.entries, l.entries[n:])]
			x.advanceReady(c)
		}
	}
	return found
}

// advanceReady advances the slots whose next number may be stable, and publishes them.
func (x *vector) advanceReady(c *r2.Co) {
	for len(x.ready) > 0 {
		i := x.ready[len(x.ready)-1]
		x.ready = x.ready[:len(x.ready)-1]
		x.queues[i].isReady = false
		x.advance(c, i)
	}
	x.publish(c)
}

// enqueue adds to Queues[i]. What comes next in its slot is looked at in passing.
func (x *vector) enqueue(c *r2.Co, e entry) {
	q := &x.queues[e.ts.Slot()]
	q.by[e.ts.Counter()] = e
	if len(q.by) == queueMost {
		c.Fail(fmt.Errorf("the timestamp oracle: %d commits of slot %d wait for its number %d, which is not installed", queueMost, e.ts.Slot(), q.stable+1))
	}
	next := e.ts.Counter() == q.stable+1
	if !next {
		c.Touch(q.slot(e.ts.Counter()), 8+8*len(e.deps))
	}
	if next {
		x.look(e.ts.Slot())
	}
}

func (q *queue) slot(number uint64) r2.Addr { return q.space + number%queueRing*entryBytes }

// look has a slot's next number looked at.
func (x *vector) look(slot int) {
	if q := &x.queues[slot]; !q.isReady {
		q.isReady = true
		x.ready = append(x.ready, slot)
	}
}

// advance dequeues what is ready: numbers of a slot in their order, each when all that it depends on is stable.
func (x *vector) advance(c *r2.Co, slot int) {
	q := &x.queues[slot]
	for {
		number := q.stable + 1
		e, ok := q.by[number]
		if !ok {
			return
		}
		c.Touch(q.slot(number), 8)
		if x.waits(c, slot, e.deps) {
			return
		}
		delete(q.by, number)
		x.lists[e.from].spare = append(x.lists[e.from].spare, e.deps)
		q.stable = number
		if !q.isMoved {
			q.isMoved = true
			x.moved = append(x.moved, slot)
		}
		x.release(q)
	}
}

// waits says whether any of the dependencies is not stable, and has the slot looked at when that one is.
func (x *vector) waits(c *r2.Co, slot int, deps []timestamp.Stamp) bool {
	for _, d := range deps {
		on := &x.queues[d.Slot()]
		c.Touch(on.space, 8)
		if on.stable < d.Counter() {
			on.blocked = append(on.blocked, waiter{slot, d.Counter()})
			return true
		}
	}
	return false
}

// release has those looked at that have waited for the slot's stable number.
func (x *vector) release(q *queue) {
	q.blocked = slices.DeleteFunc(q.blocked, func(w waiter) bool {
		if w.number > q.stable {
			return false
		}
		x.look(w.slot)
		return true
	})
}

// publish puts i:ts -> StableVTS for all that has moved, at one instant for readers.
func (x *vector) publish(c *r2.Co) {
	if len(x.moved) == 0 {
		return
	}
	c.LocalFAA(x.seq, 1)
	for _, i := range x.moved {
		q := &x.queues[i]
		c.LocalFAA(x.word(i), q.stable-q.out)
		q.out, q.isMoved = q.stable, false
	}
	x.moved = x.moved[:0]
	c.LocalFAA(x.seq, 1)
}

// counterMemory has a line for each of n local counters.
func counterMemory(name string, n int) host.Alloc {
	return host.Alloc{Name: name + ".counters", Bytes: uint64(n * lineBytes)}
}

func (x *vector) word(slot int) r2.Addr { return x.stableVTS + r2.Addr(8*slot) }

// point writes the vector as it is published.
func (x *vector) point(c *r2.Co, to []byte) {
	x.counts.points++
	for {
		before := c.Load64(x.seq)
		copy(to, c.Load(x.stableVTS, len(to)))
		if after := c.Load64(x.seq); before == after && before%2 == 0 {
			return
		}
	}
}

// raise is the installation without a stability protocol (NAM-DB): all numbers of the slot up to this one are installed, and what
// they depend on was known before they were drawn.
func (x *vector) raise(c *r2.Co, ts timestamp.Stamp) {
	x.counts.installs++
	q := &x.queues[ts.Slot()]
	for old := q.out; ts.Counter() > old; {
		found := c.LocalCAS(x.word(ts.Slot()), old, ts.Counter())
		if found == old {
			q.stable, q.out = ts.Counter(), ts.Counter()
			return
		}
		old = found
	}
}

// waiting counts what is installed and not stable.
func (x *vector) waiting() (n int) {
	for i := range x.queues {
		n += len(x.queues[i].by)
	}
	for t := range x.lists {
		n += len(x.lists[t].entries)
	}
	return n
}

// stuck says what StableVTS waits for, "" where it waits for nothing.
func (x *vector) stuck() string {
	for i := range x.queues {
		q := &x.queues[i]
		if len(q.by) == 0 {
			continue
		}
		e, ok := q.by[q.stable+1]
		if !ok {
			return fmt.Sprintf("StableVTS stands still in slot %d at %d: the next number is not installed, and %d behind it are", i, q.stable, len(q.by))
		}
		for _, d := range e.deps {
			if on := &x.queues[d.Slot()]; on.stable < d.Counter() && len(on.by) == 0 {
				return fmt.Sprintf("StableVTS stands still in slot %d at %d: its next number depends on number %d of slot %d, which is not installed", i, q.stable, d.Counter(), d.Slot())
			}
		}
	}
	return ""
}
