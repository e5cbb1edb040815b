package record

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRingsLieSideBySide(t *testing.T) {
	r := Rings{Machines: 3, Threads: 4, Bytes: 8192}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	want := uint64(0)
	for m := range r.Machines {
		for th := range r.Threads {
			if got := r.Offset(m, th); got != want {
				t.Fatalf("ring of machine %d thread %d at %d, want %d", m, th, got, want)
			}
			want += r.Bytes
		}
	}
	if r.Total() != want {
		t.Errorf("total %d, want %d", r.Total(), want)
	}
	for _, bad := range []Rings{{0, 1, 8192}, {1, 0, 8192}, {1, 1, 2048}, {1, 1, 8200}} {
		if bad.Check() == nil {
			t.Errorf("%+v passed", bad)
		}
	}
}

// Entries never overlap with others that are open, never wrap, and room comes back only when all older entries
// are released.
func TestRingAgainstModel(t *testing.T) {
	type entry struct {
		pos      uint64
		from, to uint64 // in the ring
	}
	rapid.Check(t, func(t *rapid.T) {
		rings := Rings{1, 1, MaxEntryBytes * uint64(rapid.IntRange(2, 5).Draw(t, "ring"))}
		r := rings.NewRing()
		var open []entry
		released := map[uint64]bool{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(open) > 0 && rapid.Bool().Draw(t, "release") {
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				pos := open[i].pos
				if got := r.Release(pos); got != !released[pos] {
					t.Fatalf("release of %d: %v, released before: %v", pos, got, released[pos])
				}
				released[pos] = true
				for len(open) > 0 && released[open[0].pos] {
					open = open[1:]
				}
			} else {
				n := rapid.IntRange(1, MaxEntryBytes).Draw(t, "bytes")
				pos, ok := r.Reserve(n)
				if !ok {
					if r.Used()+2*MaxEntryBytes <= rings.Bytes {
						t.Fatalf("full with %d of %d bytes used", r.Used(), rings.Bytes)
					}
					continue
				}
				e := entry{pos, r.Offset(pos), r.Offset(pos) + uint64(n)}
				if e.to > rings.Bytes || e.from%LineBytes != 0 {
					t.Fatalf("entry at %d to %d of a ring of %d bytes", e.from, e.to, rings.Bytes)
				}
				for _, o := range open {
					if e.from < o.to && o.from < e.to {
						t.Fatalf("entry at %d to %d overlaps the open one at %d to %d", e.from, e.to, o.from, o.to)
					}
				}
				open = append(open, e)
			}
			if r.Open() != len(open) {
				t.Fatalf("%d open, want %d", r.Open(), len(open))
			}
		}
		for _, e := range open {
			r.Release(e.pos)
		}
		if r.Open() != 0 || r.Used() != 0 {
			t.Fatalf("after all releases %d open, %d bytes used", r.Open(), r.Used())
		}
	})
}

func TestFullRingKeepsWhatIsThere(t *testing.T) {
	r := Rings{1, 1, 2 * MaxEntryBytes}.NewRing()
	first, _ := r.Reserve(MaxEntryBytes)
	if _, ok := r.Reserve(MaxEntryBytes); !ok {
		t.Fatal("a ring of two entries holds only one")
	}
	if _, ok := r.Reserve(1); ok {
		t.Fatal("a full ring took another entry")
	}
	if !r.Release(first) || r.Release(first) || r.Release(77) {
		t.Fatal("release must work once per entry")
	}
	if pos, ok := r.Reserve(1); !ok || r.Offset(pos) != 0 {
		t.Fatalf("the freed room is not used: %v", ok)
	}
}

func TestRingInUseNeedsNoAllocation(t *testing.T) {
	r := Rings{1, 1, 16 * MaxEntryBytes}.NewRing()
	var open [8]uint64
	step := func() {
		for i := range open {
			open[i], _ = r.Reserve(100 + i)
		}
		for i := range open {
			r.Release(open[(i+3)%len(open)])
		}
	}
	step()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations per round", n)
	}
}
