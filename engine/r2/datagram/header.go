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

	// RPCs is how many ids of RPCs a header can tell, MaxSize the largest payload. The original's length has a bit more, and its ids
	// one less: 32 are few where a system has tables, an index, a protocol, a log and a scheme of timestamps, each with RPCs of its own.
	RPCs    = 1 << rpcBits
	MaxSize = 1<<sizeBits - 1

	rpcBits, sizeBits, coroutineBits = 6, 17, 7
)

// Header is the first eight bytes of a message.
type Header struct {
	Kind      int    // 2 bits
	RPC       uint8  // 6 bits
	Size      int    // 17 bits: payload
	Coroutine int    // 7 bits
	Seq       uint32 // 12 bits: of the request, also in its reply
	Ack       uint32 // 12 bits: all requests of the other side below it have arrived
	Lag       uint32 // 8 bits: seq minus the oldest request without an answer; in a reply, what the framework says of the answer
}

// Put writes it.
func (h Header) Put(b []byte) {
	wire.Put32(b, uint32(h.Kind)|uint32(h.RPC)<<2|uint32(h.Size)<<(2+rpcBits)|uint32(h.Coroutine&(1<<coroutineBits-1))<<(2+rpcBits+sizeBits))
	wire.Put32(b[4:], h.Seq&seqMask|(h.Ack&seqMask)<<12|h.Lag<<24)
}

// Parse reads it.
func Parse(b []byte) Header {
	x, y := wire.Get32(b), wire.Get32(b[4:])
	return Header{
		Kind: int(x & 3), RPC: uint8(x >> 2 & (RPCs - 1)), Size: int(x >> (2 + rpcBits) & MaxSize), Coroutine: int(x >> (2 + rpcBits + sizeBits)),
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
