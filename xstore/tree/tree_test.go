package tree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/store"

	"pgregory.net/rapid"
)

// Before anything is touched the tree has its initial keys, and looking makes nothing.
func TestInitialTree(t *testing.T) {
	for _, o := range []Options{
		{ValueBytes: 8},
		{ValueBytes: 64, Fill: 16},
		{ValueBytes: 200, Slots: 5, Fanout: 4, Epoch: 3},
		{ValueBytes: 90, Heap: 1 << 16, Size: func(key uint64) int { return 8 + int(key%83) }},
	} {
		for _, n := range []uint64{0, 1, 7, 8, 9, 1000} {
			b := newBed(t, 1, 2, 1)
			o.Keys, o.Value = steps{n, 10}, firstValue
			tr := b.tree(o)
			tr.Audit(func(text string) { t.Errorf("audit: %s", text) })
			i := uint64(0)
			tr.Each(func(key uint64, value []byte) bool {
				i++
				if change, ok := changeOf(key, value); key != 10*i || !ok || change != 0 {
					t.Errorf("pair %d has key %d and value %x", i, key, value)
				}
				return true
			})
			if i != n {
				t.Errorf("%d keys, there are %d", i, n)
			}
			if a := tr.LeafAddr(0); b.cl.Mem(0).Materialized(a) {
				t.Error("looking at the tree has made its leaves")
			}
			b.do(func(c *r2.Co) {
				value := make([]byte, o.ValueBytes)
				for key := uint64(5); key <= 10*n+10; key += 5 {
					m, found := tr.Get(c, key, value)
					if want := key%10 == 0 && key <= 10*n; found != want {
						t.Errorf("key %d found: %v", key, found)
					} else if found {
						if _, ok := changeOf(key, value[:m]); !ok {
							t.Errorf("key %d has value %x", key, value[:m])
						}
					}
				}
			})
			b.audit(tr)
			b.close()
		}
	}
}

// model is a sorted map.
type model map[uint64]uint64 // key: change

func (m model) from(key uint64, n int) []uint64 {
	var keys []uint64
	for k := range m {
		if k >= key {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys[:min(n, len(keys))]
}

// Operations of one coroutine agree with a map, whatever the geometry.
func TestAgainstMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := Options{
			Slots:      rapid.IntRange(2, 20).Draw(rt, "slots"),
			Fanout:     rapid.IntRange(4, 9).Draw(rt, "fanout"),
			ValueBytes: rapid.SampledFrom([]int{8, 13, 56, 64, 150}).Draw(rt, "value"),
			Keys:       steps{rapid.Uint64Range(0, 80).Draw(rt, "keys"), 4},
			Spare:      4000, Value: firstValue,
		}
		if rapid.Bool().Draw(rt, "heap") {
			o.Heap = 1 << 20
		}
		b := newBed(t, 1, 2, 1)
		defer b.close()
		tr := b.tree(o)
		m := model{}
		for i := range o.Keys.Len() {
			m[o.Keys.Key(i)] = 0
		}
		ops := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) [3]uint64 {
			return [3]uint64{rapid.Uint64Range(0, 11).Draw(rt, "op"), rapid.Uint64Range(0, 400).Draw(rt, "key"), rapid.Uint64Range(8, uint64(o.ValueBytes)).Draw(rt, "size")}
		}), 1, 400).Draw(rt, "ops")
		b.do(func(c *r2.Co) {
			for i, op := range ops {
				against(rt, c, tr, m, op[0], op[1], int(op[2]), uint64(i+1))
			}
		})
		tr.Audit(func(text string) { rt.Errorf("audit: %s", text) })
		var keys []uint64
		tr.Each(func(key uint64, value []byte) bool {
			keys = append(keys, key)
			if change, ok := changeOf(key, value); !ok || change != m[key] {
				rt.Errorf("key %d has value %x", key, value)
			}
			return true
		})
		if want := m.from(0, len(m)); !slices.Equal(keys, want) {
			rt.Errorf("keys %v, want %v", keys, want)
		}
	})
}

func against(t *rapid.T, c *r2.Co, tr *Tree, m model, op, key uint64, size int, change uint64) {
	value := make([]byte, tr.o.ValueBytes)
	if tr.heap != nil {
		value = value[:size]
	}
	valueOf(key, change, value)
	_, there := m[key]
	switch {
	case op < 4:
		if inserted, err := tr.Insert(c, key, value); err != nil || inserted == there {
			t.Errorf("insert %d: %v, %v", key, inserted, err)
		}
		if !there {
			m[key] = change
		}
	case op < 6:
		if found := tr.Delete(c, key); found != there {
			t.Errorf("delete %d: %v", key, found)
		}
		delete(m, key)
	case op < 7:
		hint := []Hint{{}, {^uint32(0), 0}}
		aln, _, _ := tr.FindLeaf(c, key)
		hint[0] = Hint{aln, uint32(change % 3)}
		if found, _, err := tr.UpdateAt(c, hint, key, value); found != there || err != nil {
			t.Errorf("update %d: %v, %v", key, found, err)
		}
		if there {
			m[key] = change
		}
	case op < 8:
		got := make([]byte, tr.o.ValueBytes)
		n, found := tr.Get(c, key, got)
		if found != there {
			t.Errorf("get %d: %v", key, found)
		} else if found {
			if ch, ok := changeOf(key, got[:n]); !ok || ch != m[key] {
				t.Errorf("get %d: %x, want change %d", key, got[:n], m[key])
			}
		}
	case op < 9:
		checkScan(t, tr, tr.Scan(c, key, int(change%40), nil), m, m.from(key, int(change%40)))
	case op < 10:
		to := key + change*7%150
		checkScan(t, tr, tr.ScanUp(c, key, to, size, nil), m, m.between(key, to, size, false))
	case op < 11:
		to := key + change*7%150
		checkScan(t, tr, tr.ScanDown(c, key, to, size, nil), m, m.between(key, to, size, true))
	default:
		tr.Shrink(c)
	}
}

// between are the first n keys between two, both included, or the last n, falling.
func (m model) between(from, to uint64, n int, down bool) []uint64 {
	keys := m.from(from, len(m))
	keys = slices.DeleteFunc(keys, func(k uint64) bool { return k > to })
	if down {
		slices.Reverse(keys)
	}
	return keys[:min(n, len(keys))]
}

// checkScan compares a scan with what the map says that it has to find.
func checkScan(t *rapid.T, tr *Tree, reply []byte, m model, keys []uint64) {
	for _, want := range keys {
		if len(reply) == 0 {
			t.Errorf("a scan ends before key %d", want)
			return
		}
		size := tr.o.ValueBytes
		got := binary.LittleEndian.Uint64(reply)
		if reply = reply[8:]; tr.heap != nil {
			size = int(binary.LittleEndian.Uint32(reply))
			reply = reply[4:]
		}
		if change, ok := changeOf(got, reply[:size]); got != want || !ok || change != m[want] {
			t.Errorf("a scan has key %d and %x, want key %d and change %d", got, reply[:size], want, m[want])
		}
		reply = reply[size:]
	}
	if len(reply) > 0 {
		t.Errorf("a scan has %d bytes too many", len(reply))
	}
}

// A position hint saves the walk as long as its incarnation is right.
func TestPositionHint(t *testing.T) {
	b := newBed(t, 1, 2, 1)
	tr := b.tree(Options{Keys: steps{100, 10}, ValueBytes: 8, Spare: 1000})
	leaves, fill, inca := tr.Initial()
	if leaves != 13 || fill != 8 {
		t.Fatalf("%d leaves with %d keys", leaves, fill)
	}
	b.do(func(c *r2.Co) {
		value := make([]byte, 8)
		at := func(key uint64, h ...Hint) (found, hinted bool) {
			found, hinted, err := tr.UpdateAt(c, h, key, value)
			if err != nil {
				t.Error(err)
			}
			return found, hinted
		}
		if found, hinted := at(90, Hint{0, inca}, Hint{1, inca}); !found || !hinted {
			t.Errorf("right hint: found %v, hinted %v", found, hinted)
		}
		if found, hinted := at(90, Hint{1, inca + 1}); !found || hinted {
			t.Errorf("wrong incarnation: found %v, hinted %v", found, hinted)
		}
		if found, hinted := at(90, Hint{0, inca}); !found || hinted {
			t.Errorf("wrong leaf: found %v, hinted %v", found, hinted)
		}
		if found, hinted := at(91, Hint{1, inca}); found || hinted {
			t.Errorf("missing key: found %v, hinted %v", found, hinted)
		}
		for key := uint64(91); key < 100; key++ { // splits leaf 1
			if _, err := tr.Insert(c, key, value); err != nil {
				t.Error(err)
			}
		}
		if found, hinted := at(90, Hint{1, inca}); !found || hinted {
			t.Errorf("hint before a split: found %v, hinted %v", found, hinted)
		}
		if found, hinted := at(90, Hint{1, nextINCA(inca)}); !found || !hinted {
			t.Errorf("hint after the split: found %v, hinted %v", found, hinted)
		}
	})
}

// A tree without room says so, and stays whole.
func TestFull(t *testing.T) {
	for _, heap := range []uint64{0, 2000} {
		b := newBed(t, 1, 2, 1)
		tr := b.tree(Options{Keys: steps{10, 10}, ValueBytes: 64, Slots: 4, Fanout: 4, Spare: 20, Heap: heap, Value: firstValue})
		value, full := make([]byte, 64), 0
		b.do(func(c *r2.Co) {
			for key := uint64(1000); key < 1200; key++ {
				valueOf(key, 1, value)
				ok, err := tr.Insert(c, key, value)
				if err != nil && (ok || !errors.Is(err, ErrFull)) {
					t.Error(ok, err)
				}
				if err != nil {
					full++
				}
			}
		})
		if full < 100 || full > 185 {
			t.Errorf("%d of 200 inserts found no room", full)
		}
		b.audit(tr)
	}
}

// Splits are told once, in the order in which they happen, with what the tree says.
func TestOnSplit(t *testing.T) {
	b := newBed(t, 1, 2, 1)
	var tr *Tree
	n := 0
	o := Options{Keys: steps{100, 100}, ValueBytes: 8, Slots: 4, Fanout: 4, Spare: 1000}
	o.OnSplit = func(c *r2.Co, left, right uint32, separator uint64) {
		n++
		if aln, low, _ := tr.FindLeaf(c, separator); aln != right || low != separator {
			t.Errorf("split %d of leaf %d: %d is routed to leaf %d with keys from %d on, want %d", n, left, separator, aln, low, right)
		}
		if aln, _, high := tr.FindLeaf(c, separator-1); aln != left || high != separator-1 {
			t.Errorf("split %d of leaf %d: its keys end at %d, want %d", n, left, high, separator-1)
		}
	}
	tr = b.tree(o)
	b.do(func(c *r2.Co) {
		for i := range uint64(400) {
			if ok, err := tr.Insert(c, i*7919%10_000*2+1, make([]byte, 8)); !ok || err != nil {
				t.Error(ok, err)
			}
		}
	})
	if s := tr.Stats(); s.Splits != uint64(n) || n == 0 || s.Leaves != 50+uint32(n) {
		t.Errorf("%d splits were told of, %+v", n, s)
	}
	b.audit(tr)
}

// Rebuilding keeps the pairs and changes all incarnations.
func TestRebuild(t *testing.T) {
	for _, heap := range []uint64{0, 1 << 20} {
		b := newBed(t, 1, 2, 1)
		tr := b.tree(Options{Keys: steps{300, 10}, ValueBytes: 70, Heap: heap, Spare: 1000, Value: firstValue})
		var pairs []store.Pair
		for i := range uint64(500) {
			value := make([]byte, 70)
			valueOf(3*i, 7, value)
			pairs = append(pairs, store.Pair{Key: 3 * i, Value: value})
		}
		b.do(func(c *r2.Co) {
			for i := range uint64(200) {
				if _, err := tr.Insert(c, 10*i+5, pairs[0].Value); err != nil {
					t.Error(err)
				}
			}
			if err := tr.Rebuild(c, 1, pairs); err != nil {
				t.Fatal(err)
			}
		})
		b.audit(tr)
		i := 0
		tr.Each(func(key uint64, value []byte) bool {
			if key != pairs[i].Key || !bytes.Equal(value, pairs[i].Value) {
				t.Errorf("pair %d: key %d, value %x", i, key, value)
			}
			i++
			return true
		})
		tr.EachLeaf(0, func(l *Leaf) bool {
			if l.INCA>>epochShift != 1 {
				t.Errorf("leaf %d has incarnation %#x in epoch 1", l.ALN, l.INCA)
			}
			return true
		})
		if i != 500 || tr.Epoch() != 1 {
			t.Errorf("%d pairs, epoch %d", i, tr.Epoch())
		}
		b.do(func(c *r2.Co) {
			if err := tr.Rebuild(c, 2, []store.Pair{pairs[1], pairs[0]}); err == nil {
				t.Error("pairs in no order are taken")
			}
			if err := tr.Rebuild(c, 3, nil); err != nil {
				t.Error(err)
			}
		})
		b.audit(tr)
	}
}

// Scans to the ends of all keys, and between keys that are the wrong way round.
func TestScanEnds(t *testing.T) {
	b := newBed(t, 1, 2, 1)
	tr := b.tree(Options{Keys: steps{300, 1}, ValueBytes: 8, Spare: 100, Fanout: 4})
	last := ^uint64(0)
	b.do(func(c *r2.Co) {
		for _, key := range []uint64{0, last, last - 1} {
			if ok, err := tr.Insert(c, key, make([]byte, 8)); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		for _, x := range []struct {
			down            bool
			from, to, first uint64
			n               int
		}{
			{false, 0, last, 0, 303}, {true, 0, last, last, 303}, {false, last, last, last, 1}, {true, last, last, last, 1},
			{true, 0, 0, 0, 1}, {false, 0, 0, 0, 1}, {true, 20, 10, 0, 0}, {false, 20, 10, 0, 0}, {true, 400, last - 2, 0, 0}, {false, 400, last - 2, 0, 0},
			{true, 100, 163, 163, 64}, {false, 100, 163, 100, 64},
		} {
			scan := tr.ScanUp
			if x.down {
				scan = tr.ScanDown
			}
			got := scan(c, x.from, x.to, 1000, nil)
			if len(got) != 16*x.n || x.n > 0 && binary.LittleEndian.Uint64(got) != x.first {
				t.Errorf("%+v: %d pairs", x, len(got)/16)
			}
		}
	})
}
