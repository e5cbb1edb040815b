package r2

import (
	"fmt"

	"drtmx/engine/metrics"
	"drtmx/engine/r2/beside"
)

// maxWaiting is how many coroutines of a worker serve requests of HandleWaiting at a time.
const maxWaiting = 4096

// waiting serves requests whose handlers may wait.
type waiting struct {
	queue []*Ticket // no coroutine is at them yet
	idle  []*Co
	made  int
}

// HandleWaiting is Handle of one that may wait: it runs on a coroutine of the worker, and may Call others,
// Wait, Suspend and Sleep. Requests begin in the order in which they arrive and end in any. Of a passive
// request the receipt says that it has arrived, not that it was served.
func (cl *Cluster) HandleWaiting(name string, h Handler) (id uint8) {
	id = cl.HandleDeferring(name, func(c *Co, _ Peer, _, _ []byte) int {
		t := c.keepRequest()
		t.works = true
		c.w.assign(c, t)
		return 0
	})
	cl.rpc(id).Waits = h
	return id
}

// assign has a coroutine serve a request. The handler that calls it ends before that one begins.
func (w *Worker) assign(c *Co, t *Ticket) {
	p := &w.waiting
	p.queue = append(p.queue, t)
	if n := len(p.idle); n > 0 {
		co := p.idle[n-1]
		p.idle = p.idle[:n-1]
		c.Wake(co)
	} else if p.made < maxWaiting {
		w.cl.SpawnBackground(w.mc.id, w.thread, fmt.Sprintf("waiting%d", p.made), w.serveWaiting)
		p.made++
	}
}

// serveWaiting is the program of such a coroutine.
func (w *Worker) serveWaiting(c *Co) {
	for {
		p := &w.waiting
		if len(p.queue) == 0 {
			p.idle = append(p.idle, c)
			c.Suspend()
			continue
		}
		t := p.queue[0]
		n := copy(p.queue, p.queue[1:])
		p.queue[n] = nil
		p.queue = p.queue[:n]
		c.serveTicket(t)
	}
}

// serveTicket serves one request.
func (c *Co) serveTicket(t *Ticket) {
	w := c.w
	c.Reset()
	c.Phase(metrics.PhaseOther, Mode{})
	rep := w.messages.Take(w.cl.MaxReply())
	start, outer := w.Local, beside.Begin(&c.Pad)
	n := w.cl.rpc(t.head.RPC).Waits(c, t.from, t.req, rep)
	if err := c.Wait(); err != nil { // of what it has posted and not waited for
		w.Clock.Fail(fmt.Errorf("r2: handler of %s on machine %d: %w", w.cl.rpc(t.head.RPC).Name, w.mc.id, err))
	}
	t.beside.Notes = append(t.beside.Notes, beside.End(&c.Pad, outer)...)
	t.finish(c, rep[:n], start)
	w.messages.Give(rep)
}
