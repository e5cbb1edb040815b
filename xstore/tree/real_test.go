package tree

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/store"
)

// narrow are keys of which many share a hash: number n has hash n%hashes+1, and is a string of 2 to 41 bytes.
type narrow struct{ n, hashes uint64 }

func (x narrow) hashOf(number uint64) uint64 { return number%x.hashes + 1 }

func (x narrow) real(number uint64) []byte {
	b := make([]byte, number*11%40)
	return binary.BigEndian.AppendUint16(b, uint16(number))
}

func (x narrow) Most() int { return 41 }
func (x narrow) Hash(real []byte) uint64 {
	return x.hashOf(uint64(binary.BigEndian.Uint16(real[len(real)-2:])))
}

func (x narrow) Len() uint64         { return min(x.n, x.hashes) }
func (x narrow) Key(i uint64) uint64 { return i + 1 }
func (x narrow) Rank(key uint64) (uint64, bool) {
	return min(max(key, 1)-1, x.Len()), key > 0 && key <= x.Len()
}

// each is how many numbers have the first hashes, one more than the others.
func (x narrow) each() (most, first uint64) {
	return (x.n + x.hashes - 1) / x.hashes, (x.n-1)%x.hashes + 1
}

func (x narrow) start(i uint64) uint64 {
	most, first := x.each()
	return i*most - (max(i, first) - first)
}
func (x narrow) Records(i uint64) (from, to uint64) { return x.start(i), x.start(i + 1) }

func (x narrow) HashOf(record uint64) (i uint64) {
	for x.start(i+1) <= record {
		i++
	}
	return i
}

func (x narrow) number(record uint64) uint64 {
	i := x.HashOf(record)
	return i + (record-x.start(i))*x.hashes
}

func (x narrow) Real(record uint64, dst []byte) []byte {
	return append(dst, x.real(x.number(record))...)
}
func (x narrow) Value(record uint64, value []byte) { valueOf(x.number(record), 0, value) }

// Operations of one coroutine agree with a map, where few hashes have many keys; so does what a
// recovery makes of it.
func TestRealAgainstMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := narrow{rapid.Uint64Range(1, 60).Draw(rt, "keys"), rapid.Uint64Range(1, 80).Draw(rt, "hashes")}
		o := Options{Slots: rapid.IntRange(2, 16).Draw(rt, "slots"), ValueBytes: rapid.SampledFrom([]int{8, 13, 64, 150}).Draw(rt, "value"), Keys: x, Real: x, Spare: 400, Heap: 1 << 18}
		b := newBed(t, 1, 2, 1)
		defer b.close()
		tr, m := b.tree(o), model{}
		for number := range x.n {
			m[number] = 0
		}
		ops := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) [2]uint64 {
			return [2]uint64{rapid.Uint64Range(0, 9).Draw(rt, "op"), rapid.Uint64Range(0, 120).Draw(rt, "number")}
		}), 1, 300).Draw(rt, "ops")
		b.do(func(c *r2.Co) {
			for i, op := range ops {
				againstReal(rt, c, tr, x, m, op[0], op[1], uint64(i+1))
			}
			sameReals(rt, tr, x, m)
			pairs := pairsOf(x, m, o.ValueBytes)
			if err := tr.Rebuild(c, tr.Epoch()+1, pairs); err != nil {
				rt.Error(err)
			}
		})
		sameReals(rt, tr, x, m)
	})
}

// pairsOf are all pairs as Rebuild takes them.
func pairsOf(x narrow, m model, size int) (pairs []store.Pair) {
	for _, number := range m.from(0, len(m)) {
		value := make([]byte, size)
		valueOf(number, m[number], value)
		pairs = append(pairs, store.Pair{Key: x.hashOf(number), Value: AppendRecord(nil, x.real(number), value)})
	}
	slices.SortStableFunc(pairs, func(a, b store.Pair) int { return int(a.Key) - int(b.Key) })
	return pairs
}

func againstReal(t *rapid.T, c *r2.Co, tr *Tree, x narrow, m model, op, number, change uint64) {
	value, hash, real := make([]byte, tr.o.ValueBytes), x.hashOf(number), x.real(number)
	valueOf(number, change, value)
	_, there := m[number]
	switch {
	case op < 4:
		if inserted, err := tr.InsertReal(c, hash, real, value); err != nil || inserted == there {
			t.Errorf("insert %d: %v, %v", number, inserted, err)
		}
		if !there {
			m[number] = change
		}
	case op < 6:
		if found := tr.DeleteReal(c, hash, real); found != there {
			t.Errorf("delete %d: %v", number, found)
		}
		delete(m, number)
	case op < 8:
		aln, _, _ := tr.FindLeaf(c, hash)
		if found, _, err := tr.UpdateReal(c, []Hint{{aln, uint32(change % 2)}}, hash, real, value); found != there || err != nil {
			t.Errorf("update %d: %v, %v", number, found, err)
		}
		if there {
			m[number] = change
		}
	default:
		got := make([]byte, tr.o.ValueBytes)
		if n, found := tr.GetReal(c, hash, real, got); found != there {
			t.Errorf("get %d: %v", number, found)
		} else if found {
			if ch, ok := changeOf(number, got[:n]); !ok || ch != m[number] {
				t.Errorf("get %d: %x, want change %d", number, got[:n], m[number])
			}
		}
	}
}

func sameReals(t *rapid.T, tr *Tree, x narrow, m model) {
	tr.Audit(func(text string) { t.Errorf("audit: %s", text) })
	got := make([]byte, tr.o.ValueBytes)
	for number := range uint64(121) {
		want, there := m[number]
		n, found := tr.FindReal(x.hashOf(number), x.real(number), got)
		if found != there {
			t.Errorf("key %d found: %v", number, found)
		} else if found {
			if ch, ok := changeOf(number, got[:n]); !ok || ch != want {
				t.Errorf("key %d has %x, want change %d", number, got[:n], want)
			}
		}
	}
}

// reals is a tree of a few hashes that workers of the server change while another machine reads records as clients do: keys
// whose number is a multiple of three are never deleted, and each READ of the records of their hash has to find them.
type reals struct {
	b    *bed
	t    *Tree
	x    narrow
	over bool

	lost, mixed, stale, found, again int
	written                          [120]uint64 // the last change that is complete
	count                            uint64
}

func (x *reals) run() {
	var done, readers []*bool
	for n := range 6 {
		done = append(done, x.b.spawn(0, n%3, func(c *r2.Co) { x.change(c, uint64(n)) }))
	}
	for n := range 12 {
		readers = append(readers, x.b.spawn(1, n%4, func(c *r2.Co) {
			for !x.over {
				x.read(c, c.Rand().Uint64n(uint64(len(x.written))/3)*3)
			}
		}))
	}
	readers = append(readers, x.b.underLock(x.t, &x.over))
	x.b.run(done...)
	x.over = true
	x.b.run(readers...)
}

// change works on the keys whose number modulo the workers is its own.
func (x *reals) change(c *r2.Co, own uint64) {
	for range 600 {
		c.Sleep(sim.Time(c.Rand().Uint64n(3)) * sim.Microsecond)
		number := c.Rand().Uint64n(uint64(len(x.written))/6)*6 + own
		value := make([]byte, x.t.o.ValueBytes)
		x.count++
		change := x.count
		valueOf(number, change, value)
		hash, real := x.x.hashOf(number), x.x.real(number)
		var err error
		switch op := c.Rand().Intn(3); {
		case number%3 == 0:
			if found, _, e := x.t.UpdateReal(c, nil, hash, real, value); !found || e != nil {
				x.lost++
			}
			x.written[number] = change
		case op == 0:
			x.t.DeleteReal(c, hash, real)
		default:
			_, err = x.t.InsertReal(c, hash, real, value)
		}
		if err != nil {
			x.b.Error(err)
		}
	}
}

func (x *reals) read(c *r2.Co, number uint64) {
	hash, real, l := x.x.hashOf(number), x.x.real(number), x.t.Layout()
	after := x.written[number]
	buf := c.Read(r2.Loc{RKey: x.t.RKey(), Addr: x.t.LeafAddr(0)}, l.Span(l.Slots))
	if err := c.Wait(); err != nil {
		x.b.Error(err)
	}
	var v View
	if !l.DecodeKeys(buf.B, &v) {
		x.again++
		return
	}
	slot, ok := v.Find(hash)
	if !ok {
		x.lost++
		return
	}
	of, p := l.Pointer(buf.B, slot)
	if of != hash {
		x.again++
		return
	}
	for p != 0 {
		c.Sleep(sim.Time(c.Rand().Uint64n(8)) * sim.Microsecond) // a record that it knows of may have become another one
		a, n := x.t.EntryAddr(p)
		buf := c.Read(r2.Loc{RKey: x.t.RKey(), Addr: a}, n)
		if err := c.Wait(); err != nil {
			x.b.Error(err)
		}
		of, rec, whole := DecodeRecord(p, buf.B)
		if !whole || of != hash {
			x.again++
			return
		}
		if p = rec.Next; string(rec.Real) != string(real) {
			continue
		}
		x.found++
		if ch, ok := changeOf(number, rec.Value); !ok {
			x.mixed++
		} else if ch < after {
			x.stale++
		}
		return
	}
	x.lost++
}

// Readers find every key that is there all the time, whole and not outdated, while records of its hash come and go.
func TestRealKeysRemote(t *testing.T) {
	for seed := uint64(1); seed <= 6; seed++ {
		x := &reals{b: newBed(t, seed, 2, 4), x: narrow{120, 1 + seed%3*3}}
		x.t = x.b.tree(Options{Keys: x.x, Real: x.x, ValueBytes: 40, Heap: 1 << 18, Slots: 16})
		x.run()
		if x.lost+x.mixed+x.stale > 0 || x.found < 200 || x.again == 0 {
			t.Errorf("seed %d: %d lost, %d mixed, %d stale; %d found, %d to be looked up again", seed, x.lost, x.mixed, x.stale, x.found, x.again)
		}
		x.b.audit(x.t)
		x.b.close()
	}
}

// The memory of records that are deleted is used again.
func TestRealKeysMemory(t *testing.T) {
	b, x := newBed(t, 1, 2, 1), narrow{20, 5}
	tr := b.tree(Options{Keys: x, Real: x, ValueBytes: 100, Heap: HeapBytes(4, x.Most(), 100), Spare: 4})
	b.do(func(c *r2.Co) {
		for i := range uint64(400) {
			number := 20 + i%3
			hash, real, value := x.hashOf(number), x.real(number), make([]byte, 100)
			if ok, err := tr.InsertReal(c, hash, real, value); !ok || err != nil {
				t.Fatalf("insert %d: %v, %v", i, ok, err)
			}
			if ok, _, err := tr.UpdateReal(c, nil, hash, real, value); !ok || err != nil {
				t.Fatalf("update %d: %v, %v", i, ok, err)
			}
			if !tr.DeleteReal(c, hash, real) {
				t.Fatalf("delete %d", i)
			}
		}
	})
	b.audit(tr)
}

// Where the bytes of keys are not compared, another key's value is found, changed and deleted.
func TestPlantedAnyReal(t *testing.T) {
	b, x := newBed(t, 1, 2, 1), narrow{20, 5}
	tr := b.tree(Options{Keys: x, Real: x, ValueBytes: 8, Heap: 1 << 16})
	tr.anyReal = true
	wrong := 0
	b.do(func(c *r2.Co) {
		value := make([]byte, 8)
		for number := range x.n {
			tr.GetReal(c, x.hashOf(number), x.real(number), value)
			if _, ok := changeOf(number, value); !ok {
				wrong++
			}
		}
	})
	if wrong != 15 {
		t.Errorf("%d of 20 keys have another one's value, 4 keys share a hash", wrong)
	}
}
