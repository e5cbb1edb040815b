package tree

import (
	"fmt"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// memory is what clients may remember: of each leaf in each incarnation, the lowest key that was routed to it.
type memory map[Hint]uint64

// look adds the leaves of this moment, and returns how many contradict what is remembered.
func (m memory) look(t *Tree) (wrong int) {
	t.EachLeaf(0, func(l *Leaf) bool {
		h := Hint{l.ALN, l.INCA}
		if low, known := m[h]; known && low != l.Low {
			wrong++
		}
		m[h] = l.Low
		return true
	})
	return wrong
}

// setINCA overwrites the incarnation of a leaf at rest.
func setINCA(c *r2.Co, t *Tree, leaf, inca uint32) {
	w := t.allocWork()
	c.HTM(&t.lock, func(r *r2.Region) {
		version := t.loadKeys(r, leaf, w.keys)
		w.keys.setHeader(inca, w.keys.cnt(), w.keys.nxt())
		t.storeKeys(r, leaf, w.keys, version, w)
	})
	t.freeWork(w)
}

// reuse fills a range of keys and empties it again, several times in different places, with an audit after each step.
func reuse(t *testing.T, restart bool) (wrong int, reused bool) {
	b := newBed(t, 1, 2, 1)
	tr := b.tree(Options{Keys: steps{20, 1000}, ValueBytes: 8, Slots: 4, Fanout: 4, Spare: 300})
	m, value := memory{}, make([]byte, 8)
	for round := range uint64(12) {
		from := 1 + round%5*4000
		b.do(func(c *r2.Co) {
			for key := from; key < from+100; key++ {
				if _, err := tr.Insert(c, key, value); err != nil {
					t.Error(err)
				}
			}
		})
		wrong += m.look(tr)
		b.do(func(c *r2.Co) {
			for key := from; key < from+100; key++ {
				tr.Delete(c, key)
			}
			reused = tr.Shrink(c) > 0 || reused
			if restart {
				for head := uint32(tr.peek64(tr.base+leafSlab) >> 32); head != 0; {
					leaf := head - 1
					setINCA(c, tr, leaf, 0)
					w := tr.allocWork()
					tr.peekKeys(leaf, w)
					head = w.keys.nxt() + 1
					tr.freeWork(w)
				}
			}
		})
		wrong += m.look(tr)
		b.audit(tr)
	}
	if s := tr.Stats(); s.Free == 0 || s.Leaves+s.Free > 120 {
		t.Errorf("%+v", s)
	}
	return wrong, reused
}

// A leaf that is used again goes on with its incarnations: no leaf has another place in the same one.
func TestReuseContinuesIncarnations(t *testing.T) {
	if wrong, reused := reuse(t, false); wrong > 0 || !reused {
		t.Errorf("%d leaves were in two places in one incarnation; reused: %v", wrong, reused)
	}
	if wrong, _ := reuse(t, true); wrong == 0 {
		t.Error("incarnations that begin again are not found")
	}
}

// After a recovery no leaf has the incarnation that a leaf of its number had before.
func TestRecoveryDrawsAnEpoch(t *testing.T) {
	for _, planted := range []bool{false, true} {
		b := newBed(t, 1, 2, 1)
		tr := b.tree(Options{Keys: steps{200, 10}, ValueBytes: 8, Spare: 500, Epoch: 255})
		m := memory{}
		m.look(tr)
		var pairs []store.Pair
		for i := range uint64(300) {
			pairs = append(pairs, store.Pair{Key: 7 * i, Value: make([]byte, 8)})
		}
		b.do(func(c *r2.Co) {
			epoch := tr.Epoch()
			if !planted {
				epoch++
			}
			if err := tr.Rebuild(c, epoch, pairs); err != nil {
				t.Error(err)
			}
		})
		if wrong := m.look(tr); (wrong > 0) != planted {
			t.Errorf("epoch forgotten: %v, %d leaves have incarnations of before", planted, wrong)
		}
	}
}

// Incarnations have 24 bits.
func TestIncarnationWraps(t *testing.T) {
	b := newBed(t, 1, 2, 1)
	tr := b.tree(Options{Keys: steps{8, 100}, ValueBytes: 8, Spare: 100})
	b.do(func(c *r2.Co) {
		setINCA(c, tr, 0, incaMask)
		for key := uint64(1); key < 10; key++ {
			if ok, err := tr.Insert(c, key, make([]byte, 8)); !ok || err != nil {
				t.Error(ok, err)
			}
		}
		var l Leaf
		tr.ReadLeaf(c, 1, &l)
		if got := fmt.Sprintf("%+v", l); got != "{ALN:0 INCA:0 Keys:[1 2 3 4 5 6 7 8 9] Low:0 High:99}" {
			t.Error(got)
		}
		tr.ReadLeaf(c, 800, &l)
		if len(l.Keys) != 8 || l.Low != 100 || l.High != ^uint64(0) || l.ALN != 1 {
			t.Errorf("%+v", l)
		}
	})
	b.audit(tr)
}
