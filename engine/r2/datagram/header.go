package datagram

import "drtmx/engine/wire"

// Kinds of messages.
const (
	Request = iota
	Reply
	Passive
	Ack
)

const (
	// HeaderBytes is the size of a header: the original's first word and one for reliability.
	HeaderBytes = 8
	// SeqBits are those of a sequence number on the wire.
	SeqBits = 12
	seqMask = 1<<SeqBits - 1

	// MaxSize is the largest payload that a header can tell.
	MaxSize = 1<<18 - 1
)

// Header is the first eight bytes of a message.
type Header struct {
	Kind      int    // 2 bits
	RPC       uint8  // 5 bits
	Size      int    // 18 bits: payload
	Coroutine int    // 7 bits
	Seq       uint32 // 12 bits: of the request, also in its reply
	Ack       uint32 // 12 bits: all requests of the other side below it have arrived
	Lag       uint32 // 8 bits: seq minus the oldest request without an answer; in a reply, what the framework says of the answer
}

// Put writes it.
func (h Header) Put(b []byte) {
	wire.Put32(b, uint32(h.Kind)|uint32(h.RPC)<<2|uint32(h.Size)<<7|uint32(h.Coroutine&127)<<25)
	wire.Put32(b[4:], h.Seq&seqMask|(h.Ack&seqMask)<<12|h.Lag<<24)
}

// Parse reads it.
func Parse(b []byte) Header {
	x, y := wire.Get32(b), wire.Get32(b[4:])
	return Header{
		Kind: int(x & 3), RPC: uint8(x >> 2 & 31), Size: int(x >> 7 & (1<<18 - 1)), Coroutine: int(x >> 25),
		Seq: y & seqMask, Ack: y >> 12 & seqMask, Lag: y >> 24,
	}
}

// Near is the full sequence number whose low bits are low and which is
// closest to ref.
func Near(ref, low uint32) uint32 {
	d := (low - ref) & seqMask
	if d >= 1<<(SeqBits-1) {
		d -= 1 << SeqBits
	}
	return ref + d
}
