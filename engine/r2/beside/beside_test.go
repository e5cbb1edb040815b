package beside

import (
	"slices"
	"testing"
)

// Each handler has its own notes, also one that runs within another.
func TestPad(t *testing.T) {
	var p Pad
	run := func(note uint64, within func()) []uint64 {
		outer := Begin(&p)
		p.Annotate(note)
		within()
		p.Annotate(note + 1)
		return slices.Clone(End(&p, outer))
	}
	var inner []uint64
	outer := run(1, func() { inner = run(7, func() {}) })
	if !slices.Equal(inner, []uint64{7, 8}) || !slices.Equal(outer, []uint64{1, 2}) {
		t.Errorf("the inner handler has the notes %d, the outer %d", inner, outer)
	}
	defer func() {
		if recover() == nil {
			t.Error("a note without a handler is nobody's")
		}
	}()
	p.Annotate(9)
}

// What is set is a copy, in memory that is used again.
func TestSet(t *testing.T) {
	from, to := Answer{Notes: []uint64{1, 2}}, Answer{Notes: make([]uint64, 0, 4)}
	if n := testing.AllocsPerRun(10, func() { to.Set(&from) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if from.Notes[0] = 5; !slices.Equal(to.Notes, []uint64{1, 2}) {
		t.Errorf("the notes became %d", to.Notes)
	}
}
