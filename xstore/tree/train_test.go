package tree

import (
	"slices"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// rangeOf is what a trainer took a leaf for.
type rangeOf struct{ low, high uint64 }

// train has a trainer read all leaves again and again while others insert and delete, and returns how many leaves it
// took for different ranges in one incarnation.
func train(t *testing.T, seed uint64, next func(k *Cursor, c *r2.Co, l *Leaf) bool) (wrong, rounds int) {
	b := newBed(t, seed, 2, 3)
	tr := b.tree(Options{Keys: steps{100, 100}, ValueBytes: 8, Slots: 6, Fanout: []int{4, 12}[seed%2], Spare: 5000})
	noted, over := map[Hint]rangeOf{}, false
	var done []*bool
	for n := range uint64(6) {
		done = append(done, b.spawn(0, int(n%2), func(c *r2.Co) {
			for range 400 {
				if key := c.Rand().Uint64n(1600)*6 + n; c.Rand().Uint64n(3) > 0 {
					if _, err := tr.Insert(c, key, make([]byte, 8)); err != nil {
						t.Error(err)
					}
				} else {
					tr.Delete(c, key)
				}
				c.Yield()
			}
		}))
	}
	trainer := b.spawn(0, 2, func(c *r2.Co) {
		for ; !over; rounds++ {
			var l Leaf
			from := uint64(0)
			for k := tr.Cursor(0); next(&k, c, &l); from = l.High + 1 {
				if l.Low != from || !slices.IsSorted(l.Keys) || len(l.Keys) > 0 && (l.Keys[0] < l.Low || l.Keys[len(l.Keys)-1] > l.High) {
					wrong++
				}
				h, x := Hint{l.ALN, l.INCA}, rangeOf{l.Low, l.High}
				if before, known := noted[h]; known && before != x {
					wrong++
				}
				noted[h] = x
				c.Sleep(sim.Time(c.Rand().Uint64n(2000)) * sim.Nanosecond) // the worker on its core has its turn
			}
			if from != 0 {
				wrong++
			}
		}
	})
	b.run(done...)
	over = true
	b.run(trainer)
	tr.EachLeaf(0, func(l *Leaf) bool {
		if x, known := noted[Hint{l.ALN, l.INCA}]; known && x != (rangeOf{l.Low, l.High}) {
			wrong++
		}
		return true
	})
	b.audit(tr)
	return wrong, rounds
}

// A trainer never takes a leaf for more than is routed to it in its incarnation.
func TestCursorAgainstSplits(t *testing.T) {
	for seed := uint64(1); seed <= 8; seed++ {
		if wrong, rounds := train(t, seed, (*Cursor).Next); wrong > 0 || rounds < 2 {
			t.Errorf("seed %d: %d leaves are taken for others, %d rounds", seed, wrong, rounds)
		}
	}
	wrong := 0
	for seed := uint64(1); seed <= 8; seed++ {
		w, _ := train(t, seed, unconfirmed)
		wrong += w
	}
	if wrong == 0 {
		t.Error("a cursor that does not look at the separators again is not found out")
	}
}

// unconfirmed is Cursor.Next with a bug: it trusts the inner node that it read before.
func unconfirmed(k *Cursor, c *r2.Co, l *Leaf) bool {
	if k.ended {
		return false
	}
	for {
		if len(k.above.Children) == 0 || k.from > k.above.High {
			k.seek(c)
		}
		i := k.above.Child(k.from)
		l.ALN = k.above.Children[i]
		l.Low, l.High = k.above.Range(i)
		if k.load(c, l.ALN) {
			break
		}
	}
	l.INCA, l.Keys = k.keys.inca(), nil
	k.from, k.ended = l.High+1, l.High == ^uint64(0)
	return true
}
