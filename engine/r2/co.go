package r2

import (
	"fmt"
	"math"
	"slices"

	"drtmx/engine/metrics"
	"drtmx/engine/r2/account"
	"drtmx/engine/r2/ahead"
	"drtmx/engine/r2/beside"
	"drtmx/engine/r2/core"
	"drtmx/engine/r2/registered"
)

// Mode says which optimisations of thesis §2.2.3 apply to a post.
type Mode struct {
	Outstanding bool // OR: several requests in flight, waited for together
	Doorbell    bool // DB: one doorbell for the posts of a queue pair
	Passive     bool // PA: completion or receipt is confirmed later, it is not waited for
}

// Co is what protocol code runs on: a coroutine of a worker, or a worker's
// handler while it serves a request. What a wait and a post need comes first,
// in few lines of the host's cache.
type Co struct {
	core.Program
	w         *Worker
	step      func() bool // see Steps
	zero                  // its group 0
	asleep    bool
	slept     bool // until wakeAt
	gated     bool
	woke      bool // since its last Suspend returned
	suspended bool
	serves    bool // runs a handler, called by itself
	mode      Mode
	slot      uint16 // among all coroutines of the worker but the handler
	ngroup    int32  // groups that are handed out

	registered.Scratch
	index int // within the thread; -1: the handler; noIndex: in the background

	account.Account
	beside.Pad

	replies registered.Replies
	groups  []*Group // handed out are the first ngroup
	stalled *channel // has no room for another request
	wakeAt  Time     // asleep until then
	body    func(*Co)
}

// What a coroutine is handed until Reset: registered scratch memory, and answers to calls.
type (
	Buf   = registered.Buf
	Reply = registered.Reply
)

// noIndex is the index of coroutines in the background.
const noIndex = math.MaxInt32

func newCo(w *Worker, index int, name string, body func(*Co)) *Co {
	if name == "" {
		name = fmt.Sprintf("m%d.t%d.handler", w.mc.id, w.thread)
	}
	rand := w.Clock.Stream("r2.co", uint64(w.id)<<16|uint64(index+1))
	c := &Co{Program: core.Bind(&w.Core, uint32(len(w.cl.cos)), name, rand), Account: account.Of(&w.Core), Scratch: registered.Of(&w.buffers), w: w, index: index, body: body}
	c.co = c
	w.cl.cos = append(w.cl.cos, c)
	w.cl.hints = append(w.cl.hints, ahead.Hint[Co]{Co: c})
	return c
}

// begin makes the coroutine's process, which runs its body from the start.
func (c *Co) begin() {
	proc := core.Start(&c.Program, func() { c.body(c) })
	c.w.cl.hints[c.ID()].Proc = proc
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

// tag names the coroutine in its messages, in 7 bits: by its index, and one that has none from the top down.
func (c *Co) tag() int {
	if c.index < 0 || c.index == noIndex {
		return 127 - int(c.slot&63)
	}
	return c.index
}

// Fail stops the run with an error: something happened on a machine that the protocol has no answer to.
func (cl *Cluster) Fail(m int, err error) { cl.machines[m].clock.Fail(err) }

// Fail is Cluster.Fail of its machine.
func (c *Co) Fail(err error) { c.w.Clock.Fail(err) }

// Cluster is the cluster it belongs to.
func (c *Co) Cluster() *Cluster { return c.w.cl }

// Phase attributes what follows to p and posts it in mode m.
func (c *Co) Phase(p metrics.Phase, m Mode) {
	account.Begin(&c.Account, p)
	c.mode = m
	if x := c.w.cl.watch; x != nil {
		x.observer.Phase(c.ID(), c.Now(), p)
	}
}

// park gives the core away until something makes the coroutine ready.
func (c *Co) park() {
	c.leave()
	core.Park(&c.Program)
}

// woken is called when the loop resumes it after park.
func (c *Co) woken() {
	if c.slept {
		c.slept = false
		account.Slept(&c.Account, c.wakeAt)
	}
	account.Woken(&c.Account)
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
	c.asleep, c.wakeAt = true, max(c.w.Local, c.w.Clock.Now())+d
	c.w.Clock.At(c.wakeAt, c.w.mc.cores.Timer, c.ID())
	c.park()
}

// Yield lets the other ready coroutines of the thread run and the completion
// queue be polled.
func (c *Co) Yield() {
	if c.sharedThread() != nil { // the scheduler decides
		core.Sync(&c.Program)
		return
	}
	c.w.ready.Push(c)
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
	if c.asleep && c.wakeAt == c.w.Clock.Now() {
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
	case c.blocked() != nil:
		return fmt.Sprintf("waits for %d requests in phase %s", c.blocked().pending, c.InPhase())
	}
	return ""
}

// Reset takes back the scratch buffers, replies and groups handed out so far: the
// begin of a new transaction.
func (c *Co) Reset() {
	registered.Empty(&c.Scratch)
	c.replies.Empty()
	c.takeGroups()
}
