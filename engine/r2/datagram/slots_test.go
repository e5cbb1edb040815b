package datagram

import "testing"

// A slot that was never written holds no message, a header written last is read again, and sequence numbers tell
// one lap of a ring from the next.
func TestSlots(t *testing.T) {
	var word [HeaderBytes]byte
	if h := ParseLast(word[:]); h.Kind != Ack {
		t.Errorf("an empty slot reads as %+v", h)
	}
	want := Header{Kind: Request, RPC: 7, Size: 100, Seq: 4000, Ack: 3, Lag: 2}
	want.PutLast(word[:])
	if h := ParseLast(word[:]); h != want {
		t.Errorf("%+v was written and %+v read", want, h)
	}
	if 1<<SeqBits < 4*RequestWindow {
		t.Error("laps are not told apart")
	}
	s := Slots{Base: 4096, Stride: SlotBytes(65)}
	if s.Stride != 128 || s.End(0) != 4096+128 || s.End(RequestWindow) != s.End(0) || s.End(RequestWindow-1) != 4096+128*RequestWindow {
		t.Errorf("slots of %d bytes end at %d, %d and %d", s.Stride, s.End(0), s.End(RequestWindow), s.End(RequestWindow-1))
	}
}
