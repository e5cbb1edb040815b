package record

import (
	"strings"
	"testing"
)

func TestPackedAndAlignedStride(t *testing.T) {
	for _, c := range []struct{ value, packed, aligned int }{
		{1, 24, 32}, {8, 24, 32}, {9, 32, 32}, {16, 32, 32}, {17, 40, 64}, {48, 64, 64}, {49, 80, 128}, {655, 672, 704},
	} {
		p, err := Packed(LockSeq, c.value)
		if err != nil || p.Stride != c.packed {
			t.Errorf("Packed(LockSeq, %d): stride %d, %v, want %d", c.value, p.Stride, err, c.packed)
		}
		a, err := Aligned(LockSeq, c.value)
		if err != nil || a.Stride != c.aligned {
			t.Errorf("Aligned(LockSeq, %d): stride %d, %v, want %d", c.value, a.Stride, err, c.aligned)
		}
		for i := range 1000 {
			if a.Bytes() <= LineBytes && !OneLine(uint64(i*a.Stride), a.Bytes()) {
				t.Fatalf("Aligned(LockSeq, %d): row %d straddles a line", c.value, i)
			}
		}
	}
}

// A torn READ is caught by validation if the header is read before any of the value, or with all of it.
func TestHeaderOrRestOfARowIsInOneLine(t *testing.T) {
	for value := 1; value <= 300; value++ {
		l, err := Packed(LockSeq, value)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 64 {
			at := uint64(i * l.Stride)
			if !OneLine(at, LockSeq.Bytes) && !OneLine(at+uint64(LockSeq.Stamp), l.Bytes()-LockSeq.Stamp) {
				t.Fatalf("values of %d bytes: row %d has its sequence in a line with a part of its value", value, i)
			}
		}
	}
}

func TestLayoutNamesTheOffendingSize(t *testing.T) {
	for _, v := range []int{-1, 0, MaxValueBytes + 1} {
		if _, err := Packed(LockSeq, v); err == nil || !strings.Contains(err.Error(), "value bytes") {
			t.Errorf("Packed(LockSeq, %d): error %v", v, err)
		}
	}
	if _, err := Aligned(LockSeq, MaxValueBytes); err != nil {
		t.Errorf("Aligned(LockSeq, %d): %v", MaxValueBytes, err)
	}
}

func TestOneLine(t *testing.T) {
	for _, c := range []struct {
		a    uint64
		n    int
		want bool
	}{{0, 64, true}, {0, 65, false}, {40, 24, true}, {48, 24, false}, {63, 1, true}, {63, 2, false}, {64, 0, true}} {
		if got := OneLine(c.a, c.n); got != c.want {
			t.Errorf("OneLine(%d, %d) = %v", c.a, c.n, got)
		}
	}
}

// A row says that somebody holds it, is in the middle of a rewrite, or that it holds no record.
func TestStatesOfRows(t *testing.T) {
	row := make([]byte, 24)
	free, _ := Freed(InitialSeq)
	SetLock(row, Owner{}.LockWord())
	for _, x := range []struct {
		seq          uint64
		stable, live bool
	}{{InitialSeq, true, true}, {Writing(InitialSeq), false, true}, {free, true, false}} {
		if SetSeq(row, x.seq); Lock(row) != (Owner{}.LockWord()) || Stable(Seq(row)) != x.stable || Live(Seq(row)) != x.live {
			t.Errorf("sequence %x: lock %x, stable %v, live %v", x.seq, Lock(row), Stable(Seq(row)), Live(Seq(row)))
		}
	}
	if len(Value(row)) != 8 {
		t.Errorf("value of %d bytes", len(Value(row)))
	}
}
