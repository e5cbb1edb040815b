package datagram

import (
	"drtmx/engine/fabric/space"
	"drtmx/engine/wire"
)

// Slots are a buffer that one thread of another machine writes its messages into by WRITE: a slot for each request that may be open, by
// sequence number. A message lies at the end of its slot, its header last, so that a look at one word tells whether all of it is
// there: the RNIC writes in ascending order.
type Slots struct {
	Base   space.Addr // 0: there are none
	Stride int        // bytes of a slot
	Beside *Beside
}

// Beside is what travels beside the messages of Slots. Its writer puts it there before it posts the WRITE, and the reader looks once it has
// found the message. A message that is written twice has the same beside it.
type Beside [RequestWindow]uint32

// Put sets what travels beside a message.
func (b *Beside) Put(seq, x uint32) {
	if p := &b[seq%RequestWindow]; *p != x { // else its reader may be looking
		*p = x
	}
}

// Of returns what came beside a message.
func (b *Beside) Of(seq uint32) uint32 { return b[seq%RequestWindow] }

// SlotBytes is the size of a slot for messages of a size.
func SlotBytes(message int) int { return (message + space.LineBytes - 1) &^ (space.LineBytes - 1) }

// Bytes is their size.
func (s Slots) Bytes() uint64 { return uint64(RequestWindow * s.Stride) }

// End is the address behind the slot of a request.
func (s Slots) End(seq uint32) space.Addr {
	return s.Base + space.Addr(int(seq%RequestWindow+1)*s.Stride)
}

// PutLast writes the header of a message in a slot. A slot that was never written has zeros: there they are
// the header of a receipt, which is never written, for receipts travel as datagrams.
func (h Header) PutLast(b []byte) {
	h.Put(b)
	wire.Put32(b, ^wire.Get32(b))
}

// ParseLast reads it.
func ParseLast(b []byte) Header {
	var word [HeaderBytes]byte
	copy(word[:], b)
	wire.Put32(word[:], ^wire.Get32(word[:]))
	return Parse(word[:])
}
