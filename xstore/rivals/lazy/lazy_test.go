package lazy

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

func number(i uint64, b []byte) {
	for k := range b {
		b[k] = byte(i*31) + byte(k)
	}
	if len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, i)
	}
}

// TestElements: elements of any size are what Make makes of their numbers, in whatever order they are touched, and
// zeros behind them. Those that nobody has looked at are not there.
func TestElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sim.New(sim.Options{Seed: 1})
		defer s.Close()
		f, err := fabric.New(s, fabric.Config{Machines: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cl, err := r2.New(s, f, r2.Config{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		size := rapid.IntRange(1, 1600).Draw(t, "size")
		n := rapid.Uint64Range(0, 50).Draw(t, "n")
		room := n + rapid.Uint64Range(1, 20).Draw(t, "spare")
		a, err := New(cl, 0, Options{Name: "test", Size: size, N: n, Room: room, Make: number})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range rapid.SliceOfN(rapid.Uint64Range(0, room-1), 1, 60).Draw(t, "touched") {
			want := make([]byte, size)
			if i < n {
				number(i, want)
			}
			if got := a.Bytes(i); !bytes.Equal(got, want) {
				t.Fatalf("element %d of %d bytes is %x", i, size, got)
			}
			if !a.Touched(i) || a.Number(a.At(i)) != i {
				t.Fatalf("element %d is not touched, or at another's place", i)
			}
		}
	})
}

func TestUntouched(t *testing.T) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	f, err := fabric.New(s, fabric.Config{Machines: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cl, err := r2.New(s, f, r2.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(cl, 0, Options{Name: "test", Size: 320, N: 1 << 24, Make: number})
	if err != nil {
		t.Fatal(err)
	}
	a.Bytes(1000)
	if a.Touched(990) || a.Touched(1010) || !a.Touched(1000) {
		t.Error("touching an element makes others far away")
	}
}
