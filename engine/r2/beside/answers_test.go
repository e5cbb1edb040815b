package beside

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// An answer stays what it was, and where it was, until it is dropped, however many others are kept meanwhile.
func TestAnswers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a := NewAnswers()
		type kept struct {
			at   *Answer
			note uint64
		}
		all := map[uint32]kept{}
		var order []uint32
		for i, keep := range rapid.SliceOfN(rapid.Bool(), 1, 500).Draw(r, "keep or drop") {
			if note := uint64(i); keep || len(order) == 0 {
				n := a.Keep(&Answer{Notes: []uint64{note, ^note}})
				if _, twice := all[n]; twice {
					r.Fatalf("number %d twice", n)
				}
				all[n] = kept{a.Kept().Of(n), note}
				order = append(order, n)
			} else {
				at := rapid.IntRange(0, len(order)-1).Draw(r, "which")
				a.Drop(order[at])
				delete(all, order[at])
				order = slices.Delete(order, at, at+1)
			}
			if a.Len() != len(order) {
				r.Fatalf("%d are kept, want %d", a.Len(), len(order))
			}
		}
		for _, n := range order {
			k := all[n]
			if at := a.Kept().Of(n); at != k.at || !slices.Equal(at.Notes, []uint64{k.note, ^k.note}) {
				r.Fatalf("answer %d is %v, want the note %d", n, at.Notes, k.note)
			}
		}
	})
}

// What is kept again is kept in the memory of one that was dropped.
func TestAnswersAllocateNothing(t *testing.T) {
	a := NewAnswers()
	from := Answer{Notes: []uint64{1, 2, 3}}
	a.Drop(a.Keep(&from))
	if n := testing.AllocsPerRun(10, func() { a.Drop(a.Keep(&from)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
