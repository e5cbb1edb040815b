// Package registered is the memory that a worker has registered with its RNIC, under one key: RECV buffers, send buffers, and the scratch
// memory of its coroutines. Its address space is generous; only what is touched takes memory of the host.
package registered

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
)

// Addr is an address in one machine's memory.
type Addr = space.Addr

const (
	// SendBuffers is how many there are, and scarce when they are.
	SendBuffers  = 8192
	scarce       = SendBuffers * 3 / 4
	scratchSpace = 1 << 20 // address space per coroutine
	usualMessage = 256     // bytes that most messages stay below
	longReplies  = 16      // as many replies beyond the largest datagram it has space for
)

// Sizes say what there is.
type Sizes struct {
	Message    int // of a RECV or send buffer
	Recvs      int // RECV buffers
	Coroutines int
	Reply      int // the largest reply
	Scratch    int // bytes that a coroutine's scratch begins with
}

// space is the address space of a coroutine's scratch, more where replies are long.
func (s Sizes) space() int { return scratchSpace + longReplies*(s.Reply-s.Message) }

// Memory holds the registered buffers of one worker: RECV and send buffers, and the scratch of its coroutines.
type Memory struct {
	Size   int // of a RECV or send buffer
	stride int // from one to the next: not a multiple of 4 KB, or all would share a few cache sets
	recv   Addr
	send   Addr
	taken  int16 // send buffers ever used
	unused []int16
	first  Addr // scratch
	next   Addr
	end    Addr
	mem    *host.Memory
	each   int    // address space of a coroutine's scratch
	begins int    // bytes that it begins with
	owner  [2]int // machine and thread
}

// Init allocates and registers a thread's memory.
func (b *Memory) Init(mem *host.Memory, machine, thread, socket int, s Sizes) (lkey uint32, err error) {
	b.mem, b.Size, b.stride, b.each, b.begins, b.owner = mem, s.Message, s.Message+space.LineBytes, s.space(), s.Scratch, [2]int{machine, thread}
	recv := uint64(s.Recvs * b.stride)
	send := uint64(SendBuffers * b.stride)
	scratch := uint64((s.Coroutines + 1) * b.each)
	a, err := b.mem.Alloc(host.Alloc{
		Name: fmt.Sprintf("r2.buffers.%d", thread), Bytes: recv + send + scratch, Socket: socket,
	})
	if err == nil {
		err = b.mem.Array(a, b.stride, s.Recvs, usualMessage)
	}
	if err == nil {
		err = b.mem.Array(a+recv, b.stride, SendBuffers, usualMessage)
	}
	if err != nil {
		return 0, fmt.Errorf("r2: buffers of machine %d thread %d: %w", machine, thread, err)
	}
	b.recv, b.send = a, a+recv
	b.first, b.end = a+recv+send, a+recv+send+scratch
	b.next = b.first
	return b.mem.Register(a, recv+send+scratch, host.LocalWrite).LKey, nil
}

// InitScratch allocates the scratch of one coroutine and nothing else: that of a thread without queue pairs.
func (b *Memory) InitScratch(mem *host.Memory, machine, thread, socket int, name string, s Sizes) error {
	a, err := mem.Alloc(host.Alloc{Name: "r2.shared." + name, Bytes: scratchSpace, Socket: socket})
	if err != nil {
		return fmt.Errorf("r2: scratch of thread %s on machine %d: %w", name, machine, err)
	}
	b.mem, b.first, b.next, b.end = mem, a, a, a+scratchSpace
	b.each, b.begins, b.owner = s.space(), s.Scratch, [2]int{machine, thread}
	return nil
}

// Reset takes everything back.
func (b *Memory) Reset() {
	b.unused, b.taken, b.next = b.unused[:0], 0, b.first
}

// Take returns a send buffer for n bytes. The one given back last is taken
// first, so that few are hot.
func (b *Memory) Take(n int) (slot int16, a Addr, mem []byte) {
	if n > b.Size {
		panic(fmt.Sprintf("r2: %d bytes in one send, at most %d", n, b.Size))
	}
	if k := len(b.unused); k > 0 {
		slot, b.unused = b.unused[k-1], b.unused[:k-1]
	} else {
		if b.taken == SendBuffers {
			panic(fmt.Sprintf("r2: machine %d thread %d has all %d send buffers in flight", b.owner[0], b.owner[1], SendBuffers))
		}
		slot = b.taken
		b.taken++
	}
	a = b.send + Addr(int(slot)*b.stride)
	b.mem.Reuse(a)
	return slot, a, b.mem.Bytes(a, n)
}

// Free gives a send buffer back.
func (b *Memory) Free(slot int16) { b.unused = append(b.unused, slot) }

// InUse counts the send buffers that are not given back.
func (b *Memory) InUse() int { return int(b.taken) - len(b.unused) }

// Scarce says that most send buffers are in use.
func (b *Memory) Scarce() bool { return b.InUse() >= scarce }

// RecvBuffer is where a RECV's message goes.
func (b *Memory) RecvBuffer(slot int) Addr { return b.recv + Addr(slot*b.stride) }

// block takes n bytes of scratch, whole lines.
func (b *Memory) block(n int) (Addr, []byte) {
	n = (n + space.LineBytes - 1) &^ (space.LineBytes - 1)
	if b.next+Addr(n) > b.end {
		panic(fmt.Sprintf("r2: machine %d thread %d needs more than %d bytes of scratch per coroutine", b.owner[0], b.owner[1], b.each))
	}
	a := b.next
	b.next += Addr(n)
	return a, b.mem.Bytes(a, n)
}
