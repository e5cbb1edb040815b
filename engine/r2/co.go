package r2

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"drtmx/engine/metrics"
	"drtmx/engine/r2/core"
)

// Mode says which optimisations of thesis §2.2.3 apply to a post.
type Mode struct {
	Outstanding bool // OR: several requests in flight, waited for together
	Doorbell    bool // DB: one doorbell for the posts of a queue pair
	Passive     bool // PA: completion or receipt is confirmed later, nobody waits
}

// Co is what protocol code runs on: a coroutine of a worker, or a worker's
// handler while it serves a request. What a wait and a post need comes first,
// in few lines of the host's cache.
type Co struct {
	core.Program
	w         *Worker
	step      func() bool // see Steps
	pending   int         // requests it waits for
	waiting   bool
	asleep    bool
	slept     bool // until wakeAt
	gated     bool
	woke      bool // since its last Suspend returned
	suspended bool
	serves    bool // runs a handler, called by itself
	mode      Mode
	phase     metrics.Phase
	touched   uint32 // bit p: spent[p] is not zero
	tripped   uint32 // bit p: tripsIn[p] is not zero
	err       error

	parkedAt  Time
	runFrom   Time
	explained Time // of the wait, by the request that ended it
	trips     int

	scratch Addr
	mem     []byte
	used    int
	nreply  int
	index   int // within the thread; -1: the handler; noIndex: in the background
	slot    int // among all coroutines of the worker but the handler

	tripsIn [metrics.NumPhases]uint16 // waits by phase, see TakeTrips
	spent   ledger
	replies []Reply
	stalled *channel // has no room for another request
	wakeAt  Time     // asleep until then
	body    func(*Co)
}

// Buf is registered scratch memory of a coroutine.
type Buf struct {
	Addr Addr
	B    []byte
}

// Reply is the answer to a Call; B is valid from Wait until Reset.
type Reply struct {
	B []byte
}

// noIndex is the index of coroutines in the background.
const noIndex = math.MaxInt32

func newCo(w *Worker, index int, name string, body func(*Co)) *Co {
	if name == "" {
		name = fmt.Sprintf("m%d.t%d.handler", w.mc.id, w.thread)
	}
	rand := w.cl.sim.Stream("r2.co", uint64(w.id)<<16|uint64(index+1))
	c := &Co{Program: core.Bind(&w.Core, uint32(len(w.cl.cos)), name, rand), w: w, index: index, body: body}
	w.cl.cos = append(w.cl.cos, c)
	w.cl.hints = append(w.cl.hints, hint{co: c})
	return c
}

// begin makes the coroutine's process, which runs its body from the start.
func (c *Co) begin() {
	proc := core.Start(&c.Program, func() { c.body(c) })
	c.w.cl.hints[c.ID()].proc = proc
	if c.index < 0 {
		c.w.serving = proc
	}
}

// Machine is the machine it runs on.
func (c *Co) Machine() int { return c.w.machine }

// Thread is the worker thread it runs on.
func (c *Co) Thread() int { return c.w.thread }

// Index is its number within the thread; -1 for a handler, and none that means anything in the background.
func (c *Co) Index() int { return c.index }

// Home is the socket of its core, and so the RNIC it posts to.
func (c *Co) Home() int { return c.w.home }

// short names the coroutine within its worker, from 1, in 14 bits.
func (c *Co) short() uint16 {
	if c.index < 0 {
		return shortHandler
	}
	return uint16(c.slot + 1)
}

const shortHandler = passive - 1

// tag names the coroutine in its messages, in 7 bits: by its index, and one that has none from the top down.
func (c *Co) tag() int {
	if c.index < 0 || c.index == noIndex {
		return 127 - c.slot&63
	}
	return c.index
}

// Cluster is the cluster it belongs to.
func (c *Co) Cluster() *Cluster { return c.w.cl }

// Phase attributes what follows to p and posts it in mode m.
func (c *Co) Phase(p metrics.Phase, m Mode) {
	c.charged(metrics.Compute)
	c.phase, c.mode = p, m
	if x := c.w.cl.watch; x != nil {
		x.observer.Phase(c.ID(), c.Now(), p)
	}
}

// charged attributes the time since it last ran or was charged.
func (c *Co) charged(m metrics.Milestone) {
	now := c.w.Local
	if now > c.runFrom {
		c.touched |= 1 << c.phase
		c.spent.add(c.phase, m, now-c.runFrom)
		c.runFrom = now
	}
}

// Phases are those in which it spent time since the last TakeBreakdown.
func (c *Co) Phases() metrics.PhaseSet {
	c.charged(metrics.Compute)
	return metrics.PhaseSet(c.touched)
}

// TakeBreakdown adds the time spent since the last call to b, by phase and
// milestone, and returns the round trips waited for.
func (c *Co) TakeBreakdown(b *metrics.Breakdown) (trips int) {
	c.charged(metrics.Compute)
	for t := c.touched; t != 0; t &= t - 1 {
		p := bits.TrailingZeros32(t)
		spent, sum := &c.spent.rows[p], &b[p]
		for m := range sum {
			sum[m] += Time(spent[m])
		}
		*spent = row{}
	}
	c.touched = 0
	if c.spent.excess != nil {
		b.Add(c.spent.excess)
		c.spent.excess = nil
	}
	trips, c.trips = c.trips, 0
	return trips
}

// TakeTrips adds the waits since the last call to n, by the phase that they began in, at most 65,535 of one.
func (c *Co) TakeTrips(n *[metrics.NumPhases]uint32) {
	for t := c.tripped; t != 0; t &= t - 1 {
		p := bits.TrailingZeros32(t)
		n[p] += uint32(c.tripsIn[p])
		c.tripsIn[p] = 0
	}
	c.tripped = 0
}

// RoundTrips counts the waits since the last TakeBreakdown.
func (c *Co) RoundTrips() int { return c.trips }

// park gives the core away until something makes the coroutine ready.
func (c *Co) park() {
	c.leave()
	core.Park(&c.Program)
}

// woken is called when the loop resumes it after park. What the request that
// ended the wait does not account for is the way from its completion to the
// core.
func (c *Co) woken() {
	c.runFrom = c.w.Local
	c.touched |= 1 << c.phase
	wait := c.w.Local - c.parkedAt - c.explained
	if c.slept {
		slept := min(wait, c.wakeAt-c.parkedAt)
		c.spent.add(c.phase, metrics.Asleep, slept)
		c.slept, wait = false, wait-slept
	}
	c.spent.add(c.phase, metrics.Poll, wait)
	c.explained = 0
}

// attribute spreads a wait over the milestones of the request that ended it.
// The request may have been posted before the wait began: then its first
// milestones are shortened.
func (c *Co) attribute(stamp *metrics.Stamp, wait Time) {
	sum := stamp.Total()
	before := max(sum-wait, 0)
	c.explained = sum - before
	if before == 0 && c.spent.addStamp(c.phase, stamp) {
		return
	}
	for m, d := range stamp {
		if d == 0 {
			continue
		}
		cut := min(Time(d), before)
		before -= cut
		c.spent.add(c.phase, metrics.Milestone(m), Time(d)-cut)
	}
}

// row is what a coroutine spent in a phase, by milestone: one line of the
// host's memory.
type row [16]uint32

// ledger is a metrics.Breakdown in little memory, for thousands of coroutines
// keep one each.
type ledger struct {
	excess *metrics.Breakdown // what is too large for a row; nil: nothing
	rows   [metrics.NumPhases]row
}

// addStamp adds all of a stamp, or nothing: false says that a sum is too large.
func (l *ledger) addStamp(p metrics.Phase, s *metrics.Stamp) bool {
	to := &l.rows[p]
	sum, high := *to, uint64(0)
	for m, d := range s {
		x := uint64(sum[m]) + uint64(d)
		sum[m] = uint32(x)
		high |= x >> 32
	}
	if high != 0 {
		return false
	}
	*to = sum
	return true
}

func (l *ledger) add(p metrics.Phase, m metrics.Milestone, d Time) {
	cell := &l.rows[p][m]
	if sum := Time(*cell) + d; 0 <= sum && sum <= math.MaxUint32 {
		*cell = uint32(sum)
		return
	}
	if l.excess == nil {
		l.excess = new(metrics.Breakdown)
	}
	l.excess[p][m] += d
}

// Wait parks the coroutine until every request it posted, passive ones
// excepted, is complete. It returns the first error among them.
func (c *Co) Wait() error {
	if c.pending > 0 {
		c.wait()
		c.park()
	}
	err := c.err
	c.err = nil
	return err
}

// posted ends a post: without outstanding requests each waits for itself.
func (c *Co) posted() {
	if c.mode.Outstanding || c.mode.Passive || c.pending == 0 || c.step != nil {
		return
	}
	if err := c.Wait(); err != nil {
		c.err = err
	}
}

// Sleep gives the core away for d. Other coroutines run meanwhile.
func (c *Co) Sleep(d Time) {
	if d <= 0 {
		return
	}
	if t := c.sharedThread(); t != nil {
		t.Sleep(d)
		return
	}
	c.asleep, c.wakeAt = true, max(c.w.Local, c.w.cl.sim.Now())+d
	c.w.cl.sim.At(c.wakeAt, c.w.cl.kTimer, c.ID())
	c.park()
}

// Yield lets the other ready coroutines of the thread run and the completion
// queue be polled.
func (c *Co) Yield() {
	if c.sharedThread() != nil { // the scheduler decides
		core.Sync(&c.Program)
		return
	}
	c.w.ready.push(c)
	c.park()
}

// Room lets the others run and returns once the RNIC has taken all that the
// thread has posted, few of its passive requests have no receipt and most of its
// buffers are not in use. Nothing else holds back a coroutine that posts passively.
func (c *Co) Room() {
	c.alone("Room")
	c.Yield()
	for w := c.w; w.crowded(); {
		w.held = append(w.held, c)
		c.park()
	}
}

// expire ends a sleep; a timer of before a crash finds another one, or none.
func (c *Co) expire() {
	if t := c.sharedThread(); t != nil {
		t.Expire()
		return
	}
	if c.asleep && c.wakeAt == c.w.cl.sim.Now() {
		c.asleep, c.slept = false, true
		c.w.makeReady(c)
	}
}

// Gate is where a coroutine may be held between two transactions: while the
// cluster drains, or when fewer coroutines per thread are wanted.
func (c *Co) Gate() {
	c.alone("Gate")
	if c.Passes() {
		return
	}
	c.gated = true
	c.park()
}

// Gated reports whether it is held at Gate.
func (c *Co) Gated() bool { return c.gated }

func (c *Co) state() string {
	switch {
	case c.gated:
		return "held at the gate"
	case c.asleep:
		return "asleep"
	case c.suspended && slices.Contains(c.w.waiting.idle, c): // it waits for nothing
	case c.suspended:
		return "suspended"
	case c.stalled != nil:
		return fmt.Sprintf("waits for room in the request window to machine %d", c.stalled.peer.mc.id)
	case slices.Contains(c.w.held, c):
		return "waits for room in the send queues"
	case c.waiting:
		return fmt.Sprintf("waits for %d requests in phase %s", c.pending, c.phase)
	}
	return ""
}

// Reset takes back the scratch buffers and replies handed out so far: the
// begin of a new transaction.
func (c *Co) Reset() {
	c.used, c.nreply = 0, 0
}

// Mark is a state of a coroutine's scratch.
type Mark struct {
	block Addr
	used  int
}

// Mark is what Release goes back to.
func (c *Co) Mark() Mark { return Mark{c.scratch, c.used} }

// Release takes back the scratch buffers handed out since a Mark: for whoever tries something many times within one
// transaction.
func (c *Co) Release(m Mark) {
	if c.scratch == m.block {
		c.used = m.used
	} else { // it has grown since: all of the new block is younger
		c.used = 0
	}
}

// Buf returns n bytes of registered scratch, 8-byte aligned, not cleared.
func (c *Co) Buf(n int) Buf {
	if c.used+n > len(c.mem) {
		// The old block stays valid for what was handed out of it.
		c.grow(max(2*len(c.mem), n, c.w.cl.cfg.Scratch))
	}
	b := Buf{c.scratch + Addr(c.used), c.mem[c.used : c.used+n : c.used+n]}
	c.used += (n + 7) &^ 7
	return b
}

func (c *Co) grow(n int) {
	c.scratch, c.mem = c.w.buffers.scratch(c.w, n)
	c.used = 0
}

func (c *Co) reply() *Reply {
	if c.nreply == len(c.replies) {
		// Replies handed out keep their place until Reset.
		c.replies = append(make([]Reply, 0, 2*len(c.replies)+8), c.replies...)
		c.replies = c.replies[:cap(c.replies)]
	}
	r := &c.replies[c.nreply]
	c.nreply++
	r.B = nil
	return r
}
