package timestamp

import "testing"

// §5.2: 48 bits of physical time above 16 of a logical clock; the successor of the last logical one
// of a nanosecond is in the next.
func TestStampBits(t *testing.T) {
	s := Hybrid(1<<48-1, 1<<16-1)
	if uint64(s) != 1<<64-1 {
		t.Errorf("largest stamp %#x, want all bits", s)
	}
	if s := Hybrid(7, 1<<16-1).Next(); s.Physical() != 8 || s.Logical() != 0 {
		t.Errorf("after 7 ns and a full logical clock: %d ns, %d", s.Physical(), s.Logical())
	}
	if s := Slotted(3, 9); s.Slot() != 3 || s.Counter() != 9 {
		t.Errorf("slot 3, number 9 reads %d, %d", s.Slot(), s.Counter())
	}
}

func TestVisible(t *testing.T) {
	vector := []uint64{4, 0, 7}
	for _, c := range []struct {
		s    Stamp
		p    []uint64
		want bool
	}{
		{0, nil, true}, {0, vector, true}, {1, nil, false},
		{Hybrid(5, 1), []uint64{uint64(Hybrid(5, 1))}, true}, {Hybrid(5, 2), []uint64{uint64(Hybrid(5, 1))}, false},
		{Slotted(0, 4), vector, true}, {Slotted(0, 5), vector, false}, {Slotted(1, 1), vector, false}, {Slotted(2, 7), vector, true},
		{Slotted(3, 1), vector, false},
	} {
		if got := Visible(c.s, c.p); got != c.want {
			t.Errorf("stamp %#x at %v: visible %v, want %v", c.s, c.p, got, c.want)
		}
	}
}
