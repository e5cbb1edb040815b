package r2

import (
	"unsafe"

	"drtmx/engine/fabric/space"
	"drtmx/engine/r2/account"
	"drtmx/engine/r2/ahead"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/r2/sendq"
	"drtmx/engine/sim"
)

// Thousands of coroutines and hundreds of workers take turns, so what a turn
// touches is rarely in the host's cache. The queue knows whose turn comes next:
// its memory is asked for in time. Nothing here has an effect on results.
func (cl *Cluster) lookAhead(mc *machine) {
	mc.clock.Ahead(mc.kWork, cl.aheadWorker, cl.aheadCompletions, cl.aheadCoroutines, cl.aheadUse)
}

// Ahead names what the coroutine will touch when it goes on: n bytes at use are
// asked for when its turn comes near, and then more is called to ask, by
// Prefetch, for what they lead to.
func (c *Co) Ahead(use unsafe.Pointer, n uintptr, more func()) {
	c.w.cl.hints[c.ID()].Use(use, n, more)
}

// AheadWith names a value that is asked for together with what Ahead names.
func AheadWith[T any](c *Co, x *T) {
	c.w.cl.hints[c.ID()].Also(unsafe.Pointer(x), unsafe.Sizeof(*x))
}

// PrefetchAll is Prefetch of a list's values.
func PrefetchAll[T any](list []T) { ahead.All(list) }

// AheadBytes asks the host for what a core's access to n bytes of its machine's memory
// will need.
func (cl *Cluster) AheadBytes(machine int, a Addr, n int) {
	cl.fab.Machine(machine).AheadBytes(a, n)
}

// AheadPost asks for the queue pair that leads to a machine.
func (c *Co) AheadPost(m int) { c.w.pairs.AheadPost(m) }

const (
	workerLines = 8 // of Worker: what every turn needs
	coLines     = 4 // of Co: what waits need

	// comingMax is how many completions of a turn are looked at.
	comingMax = 16

	channelLines = int((unsafe.Sizeof(channel{}) + space.LineBytes - 1) / space.LineBytes)
)

var _ [coLines*space.LineBytes - unsafe.Offsetof(Co{}.Account) - account.HotBytes]struct{} // or they need more lines

// aheadWorker asks for the worker and its completion queue.
func (cl *Cluster) aheadWorker(a uint32) {
	sim.PrefetchLines(unsafe.Pointer(cl.workers[a&0xffff]), workerLines)
	cl.queues[a&0xffff].Ahead()
}

// aheadCompletions asks for what the worker's completions are about, and for the
// lists that the worker fills.
func (cl *Cluster) aheadCompletions(a uint32) {
	w := cl.workers[a&0xffff]
	if w.Void(a >> 16) {
		return
	}
	if c := w.Current; c != nil {
		sim.Prefetch(unsafe.Pointer(&cl.hints[c.ID()]))
		return
	}
	waiters := false
	for k := range comingMax {
		id, ok := w.pairs.CQ.Coming(k)
		if !ok {
			break
		}
		w.pairs.CQ.AheadPoll(k)
		if id&sendq.RecvFlag != 0 {
			w.mc.mem.Ahead(w.buffers.RecvBuffer(int(id&^sendq.RecvFlag)), 2)
			w.serving.Ahead()
			continue
		}
		sim.Prefetch(unsafe.Pointer(w.pairs.All().Of(id)))
		if n, ok := sendq.Waiter(id); ok {
			sim.Prefetch(unsafe.Pointer(&cl.hints[n]))
			waiters = true
		}
	}
	if waiters {
		w.ready.Ahead()
		w.pairs.AheadTurn()
	}
}

// aheadCoroutines asks for the coroutines that will go on, and for the channels of
// messages.
func (cl *Cluster) aheadCoroutines(a uint32) {
	w := cl.workers[a&0xffff]
	if w.Void(a >> 16) {
		return
	}
	if c := w.Current; c != nil {
		cl.hints[c.ID()].Proc.Ahead()
		return
	}
	for k := range comingMax {
		id, ok := w.pairs.CQ.Coming(k)
		if !ok {
			return
		}
		if id&sendq.RecvFlag != 0 {
			from := int(w.pairs.CQ.Sender(k))
			sim.PrefetchLines(unsafe.Pointer(w.out[from]), channelLines)
			w.aheadMessage(int(id&^sendq.RecvFlag), from)
			continue
		}
		w.pairs.CQ.AheadRelease(k)
		if n, ok := sendq.Waiter(id); ok {
			cl.hints[n].Ask(coLines)
		}
	}
}

// aheadMessage asks for what the handler of a message needs.
func (w *Worker) aheadMessage(slot, from int) {
	a := w.buffers.RecvBuffer(slot)
	h := datagram.Parse(w.mc.mem.Bytes(a, datagram.HeaderBytes))
	ask := w.cl.rpc(h.RPC).Ask
	if ask != nil && (h.Kind == datagram.Request || h.Kind == datagram.Passive) && datagram.HeaderBytes+h.Size <= w.buffers.Size {
		ask(w.machine, Peer{from, w.thread, h.Coroutine}, w.mc.mem.Bytes(a+datagram.HeaderBytes, h.Size)[w.cl.front:])
	}
}

// aheadUse asks for what the coroutines lead to.
func (cl *Cluster) aheadUse(a uint32) {
	w := cl.workers[a&0xffff]
	if w.Void(a >> 16) {
		return
	}
	if c := w.Current; c != nil {
		cl.hints[c.ID()].Proc.AheadResume()
		return
	}
	messages := false
	for k := range comingMax {
		id, ok := w.pairs.CQ.Coming(k)
		if !ok {
			break
		}
		if id&sendq.RecvFlag != 0 {
			messages = true
			continue
		}
		if n, ok := sendq.Waiter(id); ok {
			h := &cl.hints[n]
			if h.Proc != nil {
				h.Proc.AheadResume()
			}
			sim.PrefetchLines(unsafe.Pointer(account.Row(&h.Co.Account)), 2)
			h.AskMore()
		}
	}
	if messages {
		w.serving.AheadResume()
	}
}
