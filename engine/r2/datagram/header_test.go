package datagram

import "testing"

// Every field comes back at both ends of its range, whatever the others are.
func TestHeader(t *testing.T) {
	most := Header{Kind: Ack, RPC: RPCs - 1, Size: MaxSize, Coroutine: 1<<coroutineBits - 1, Seq: seqMask, Ack: seqMask, Lag: 255}
	fields := []func(h *Header){
		func(h *Header) { h.Kind = 0 }, func(h *Header) { h.RPC = 0 }, func(h *Header) { h.Size = 0 }, func(h *Header) { h.Coroutine = 0 },
		func(h *Header) { h.Seq = 0 }, func(h *Header) { h.Ack = 0 }, func(h *Header) { h.Lag = 0 },
	}
	b := make([]byte, HeaderBytes)
	for set := range 1 << len(fields) {
		h := most
		for i, clear := range fields {
			if set>>i&1 == 0 {
				clear(&h)
			}
		}
		h.Put(b)
		if got := Parse(b); got != h {
			t.Fatalf("%+v came back as %+v", h, got)
		}
		h.PutLast(b)
		if got := ParseLast(b); got != h {
			t.Fatalf("%+v came back as %+v at the end of a slot", h, got)
		}
	}
}
