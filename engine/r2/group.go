package r2

import (
	"fmt"

	"drtmx/engine/metrics"
	"drtmx/engine/r2/account"
	"drtmx/engine/r2/sendq"
)

// Group is a completion group of a coroutine: requests that it waits for together, apart from its others. The coroutine
// itself is group 0. Co.Group gives further ones.
type Group struct {
	co      *Co
	pending int // requests it waits for
	waiting bool
	name    uint16 // in send queues, see short; 0: it is a group 0
	err     error
}

// zero is the name by which a coroutine has its group 0.
type zero = Group

// Group is a completion group of its own: requests posted through it are waited for by its Wait, while others are under way.
// After Wait it may be used again, and Reset takes it back. In all else a request is as any of the coroutine:
// its Mode and Phase apply, and buffers and replies are valid until Reset.
func (c *Co) Group() *Group {
	if int(c.ngroup) == len(c.groups) {
		c.alone("a completion group")
		c.groups = append(c.groups, c.w.newGroup(c))
	}
	g := c.groups[c.ngroup]
	c.ngroup++
	g.err = nil
	return g
}

// takeGroups takes all groups back.
func (c *Co) takeGroups() {
	if c.ngroup == 0 { // most have none, and their list is in other lines of the host's memory
		return
	}
	for _, g := range c.groups[:c.ngroup] {
		if g.pending > 0 {
			panic(fmt.Sprintf("r2: Reset of %s at %d ps while a group has %d requests under way; Wait for it first", c.Name(), c.Now(), g.pending))
		}
	}
	c.ngroup = 0
}

// blocked is the group that the coroutine waits for, nil for none.
func (c *Co) blocked() *Group {
	if c.waiting {
		return &c.zero
	}
	for _, g := range c.groups[:c.ngroup] {
		if g.waiting {
			return g
		}
	}
	return nil
}

// Names in send queues, in 14 bits: group 0 of a coroutine has its slot, from 1; others and the handler's have a bit more.
const (
	grouped      = sendq.Passive >> 1
	shortHandler = sendq.Passive - 1
)

func (w *Worker) newGroup(c *Co) *Group {
	n := len(w.groups)
	if grouped+n == shortHandler {
		panic(fmt.Sprintf("r2: machine %d thread %d has %d groups, which is all that send queues can name", w.mc.id, w.thread, n))
	}
	g := &Group{co: c, name: uint16(grouped + n)}
	w.groups = append(w.groups, g)
	return g
}

// short names the group within its worker.
func (g *Group) short() uint16 {
	switch {
	case g.name != 0:
		return g.name
	case g.co.index < 0:
		return shortHandler
	}
	return g.co.slot + 1
}

// group is the group of a send-queue entry, nil for none.
func (w *Worker) group(short uint16) *Group {
	switch short &^= sendq.Waits | sendq.Passive; {
	case short == 0:
		return nil
	case short&grouped == 0:
		return &w.cos[short-1].zero
	case short == shortHandler:
		return &w.handler.zero
	}
	return w.groups[short-grouped]
}

// waiter is the group that waits for a request, whose own completion has an id. A group 0 is found by that, without further
// lines of the host's memory.
func (w *Worker) waiter(e *sendq.Entry, id uint64, own bool) *Group {
	if n, ok := sendq.Waiter(id); ok && own && e.Co&grouped == 0 {
		return &w.cl.hints[n].Co.zero
	}
	return w.group(e.Co)
}

// Wait parks the coroutine until every request posted through the group, passive ones excepted, is complete. It returns
// the first error among them. Requests of other groups may complete meanwhile, or not.
func (g *Group) Wait() error {
	if g.pending > 0 {
		g.wait()
		g.co.park()
	}
	err := g.err
	g.err = nil
	return err
}

// wait says that the coroutine waits for the group.
func (g *Group) wait() {
	account.Trip(&g.co.Account)
	g.waiting = true
}

// posted ends a post: without outstanding requests each waits for itself.
func (g *Group) posted() {
	if c := g.co; c.mode.Outstanding || c.mode.Passive || g.pending == 0 || c.step != nil {
		return
	}
	if err := g.Wait(); err != nil {
		g.err = err
	}
}

// fail keeps the first error.
func (g *Group) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// done tells a group that one of its requests is complete.
func (w *Worker) done(g *Group, stamp *metrics.Stamp) {
	g.pending--
	if g.pending == 0 && g.waiting {
		g.waiting = false
		account.Attribute(&g.co.Account, stamp)
		w.ready.Push(g.co)
	}
}
