package r2

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
)

// buffers is a worker's registered memory under one key: RECV buffers, send
// buffers, and the coroutines' scratch. Its address space is generous; only
// what is touched takes memory.
type buffers struct {
	size   int // of a RECV or send buffer
	stride int // from one to the next: not a multiple of 4 KB, or all would share a few cache sets
	recv   Addr
	send   Addr
	taken  int16 // send buffers ever used
	unused []int16
	first  Addr // scratch
	next   Addr
	end    Addr
	mem    *host.Memory
}

const (
	sendBuffers       = 8192
	sendBuffersScarce = sendBuffers * 3 / 4
	scratchSpace      = 1 << 20 // address space per coroutine
	usualMessage      = 256     // bytes that most messages stay below
	longReplies       = 16      // as many replies beyond MaxMessage it has space for
)

func (b *buffers) init(w *Worker) error {
	c := &w.cl.cfg
	b.mem, b.size, b.stride = w.mc.mem, c.MaxMessage, c.MaxMessage+space.LineBytes
	recv := uint64(w.recvDepth() * b.stride)
	send := uint64(sendBuffers * b.stride)
	scratch := uint64((c.Coroutines + 1) * c.scratchSpace())
	a, err := b.mem.Alloc(host.Alloc{
		Name: fmt.Sprintf("r2.buffers.%d", w.thread), Bytes: recv + send + scratch, Socket: w.home,
	})
	if err != nil {
		return fmt.Errorf("r2: buffers of machine %d thread %d: %w", w.mc.id, w.thread, err)
	}
	err = b.mem.Array(a, b.stride, w.recvDepth(), usualMessage)
	if err == nil {
		err = b.mem.Array(a+recv, b.stride, sendBuffers, usualMessage)
	}
	if err != nil {
		return fmt.Errorf("r2: buffers of machine %d thread %d: %w", w.mc.id, w.thread, err)
	}
	w.lkey = b.mem.Register(a, recv+send+scratch, host.LocalWrite).LKey
	b.recv, b.send = a, a+recv
	b.first, b.end = a+recv+send, a+recv+send+scratch
	b.next = b.first
	return nil
}

// scratchSpace is the address space of a coroutine's scratch, more where replies are long.
func (c *Config) scratchSpace() int { return scratchSpace + longReplies*(c.MaxReply-c.MaxMessage) }

// reset takes everything back.
func (b *buffers) reset() {
	b.unused, b.taken, b.next = b.unused[:0], 0, b.first
}

// take returns a send buffer for n bytes. The one given back last is taken
// first, so that few are hot.
func (b *buffers) take(w *Worker, n int) (slot int16, a Addr, mem []byte) {
	if n > b.size {
		panic(fmt.Sprintf("r2: %d bytes in one send, at most %d", n, b.size))
	}
	if k := len(b.unused); k > 0 {
		slot, b.unused = b.unused[k-1], b.unused[:k-1]
	} else {
		if b.taken == sendBuffers {
			panic(fmt.Sprintf("r2: machine %d thread %d has all %d send buffers in flight", w.mc.id, w.thread, sendBuffers))
		}
		slot = b.taken
		b.taken++
	}
	a = b.send + Addr(int(slot)*b.stride)
	b.mem.Reuse(a)
	return slot, a, b.mem.Bytes(a, n)
}

// stored has what the core wrote into a send buffer in its caches, where the RNIC will
// find it. The core's time is not in this: who copies pays for copying.
func (w *Worker) stored(a Addr, n int, inline bool) {
	if !inline {
		w.HW.Access(w.Number, max(w.Local, w.cl.sim.Now()), a, n, host.Store)
	}
}

// scarce says that most send buffers are in use.
func (b *buffers) scarce() bool { return int(b.taken)-len(b.unused) >= sendBuffersScarce }

func (b *buffers) free(slot int16) { b.unused = append(b.unused, slot) }

// recvBuffer is where a RECV's message goes.
func (b *buffers) recvBuffer(slot int) Addr { return b.recv + Addr(slot*b.stride) }

func (b *buffers) scratch(w *Worker, n int) (Addr, []byte) {
	n = (n + space.LineBytes - 1) &^ (space.LineBytes - 1)
	if b.next+Addr(n) > b.end {
		panic(fmt.Sprintf("r2: machine %d thread %d needs more than %d bytes of scratch per coroutine", w.mc.id, w.thread, w.cl.cfg.scratchSpace()))
	}
	a := b.next
	b.next += Addr(n)
	return a, b.mem.Bytes(a, n)
}
