package tree

import (
	"encoding/binary"
	"slices"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/sim"
)

// stable keys are there from the start, and stay.
func stable(key uint64) bool { return key%3 == 0 }

// drained are the keys in slots 7 to 10 of a leaf that is full at the start, the others are stable.
var drained = []uint64{24, 27, 30, 33}

func stableIfDrained(key uint64) bool { return !slices.Contains(drained, key%48) }

// changes is how many a coroutine makes.
const changes = 500

// faults are planted bugs.
type faults struct {
	blind      bool // readers do not look at versions
	drain      bool // none: deletes only
	oldVersion bool // DELETE leaves the versions of header and keys as they are
	oldINCA    bool // a split leaves the incarnation as it is
}

// remote is a tree that several workers of the server change while another machine reads leaves and values as clients do: of
// each leaf they remember the incarnation, as a translation table does. Stable keys are never deleted.
type remote struct {
	b *bed
	t *Tree
	faults

	stable  func(key uint64) bool
	changed map[uint64][2]uint64 // by key: changes that are complete, and those that have begun
	made    uint64               // changes
	over    bool
	missed  int // stable keys that a leaf of the incarnation remembered does not have
	twice   int // keys that a leaf has twice
	mixed   int // values that are a mixture
	old     int // values older than the last change before the lookup, or of the future
	torn    int // READs that the versions told from whole ones
	stale   int // and the incarnations
	good    int
}

func newRemote(t *testing.T, seed uint64, valueBytes int, f faults) *remote {
	x := &remote{b: newBed(t, seed, 3, 4), faults: f, stable: stable, changed: map[uint64][2]uint64{}}
	o := Options{Keys: steps{(changes/20 + 1) * 16, 3}, ValueBytes: valueBytes, Slots: 16, Spare: 3000, Value: firstValue}
	if f.oldINCA {
		o.OnSplit = func(c *r2.Co, left, _ uint32, _ uint64) {
			b := x.b.cl.Mem(0).Bytes(x.t.LeafAddr(left), 10) // the header is behind the version
			word := binary.LittleEndian.Uint64(b[2:]) &^ incaMask
			binary.LittleEndian.PutUint32(b[2:], uint32(word))
		}
	}
	if f.oldVersion || f.drain {
		o.Fill, x.stable = 16, stableIfDrained
	}
	x.t = x.b.tree(o)
	return x
}

// hot is where all work, above this key: it moves on as leaves fill.
func (x *remote) hot() uint64 { return x.made / (20 * 8) * 48 }

func (x *remote) run() {
	change := x.change
	if x.drain || x.oldVersion {
		change = x.drainLeaves
	}
	var done, readers []*bool
	for n := range 8 {
		done = append(done, x.b.spawn(0, n%3, func(c *r2.Co) { change(c, uint64(n)) }))
	}
	for n := range 24 {
		readers = append(readers, x.b.spawn(1+n%2, n%4, func(c *r2.Co) {
			for !x.over {
				x.read(c)
			}
		}))
	}
	readers = append(readers, x.b.underLock(x.t, &x.over))
	x.b.run(done...)
	x.over = true
	x.b.run(readers...)
}

// change is what a coroutine of the server does; it alone uses its keys.
func (x *remote) change(c *r2.Co, own uint64) {
	value := make([]byte, x.t.o.ValueBytes)
	for range changes {
		c.Yield()
		x.made++
		key := x.hot() + c.Rand().Uint64n(6)*8 + own + 1
		before := x.changed[key]
		switch op := c.Rand().Uint64n(5); {
		case stable(key):
			before[1]++
			x.changed[key] = before
			valueOf(key, before[1], value)
			if found, err := x.t.Update(c, key, value); !found || err != nil {
				x.missed++
			}
			x.changed[key] = [2]uint64{before[1], before[1]}
		case op < 3:
			valueOf(key, 1<<20, value)
			if _, err := x.t.Insert(c, key, value); err != nil {
				x.b.Error(err)
			}
		default:
			x.t.Delete(c, key)
		}
	}
}

// drainLeaves deletes keys of leaves that are full, so that each DELETE moves the last pair, which is of a stable key.
func (x *remote) drainLeaves(c *r2.Co, own uint64) {
	if own > 0 {
		return
	}
	for x.made < changes*8 {
		c.Sleep(sim.Time(c.Rand().Uint64n(2000)) * sim.Nanosecond)
		key := x.hot() + drained[x.made/40%4]
		if x.made += 40; x.oldVersion {
			deleteWithoutVersion(c, x.t, key)
		} else if !x.t.Delete(c, key) {
			x.b.Errorf("key %d is not there", key)
		}
	}
}

// deleteWithoutVersion is Tree.Delete with a bug.
func deleteWithoutVersion(c *r2.Co, t *Tree, key uint64) {
	w := t.allocWork()
	c.HTM(&t.lock, func(r *r2.Region) {
		leaf, slot, found := t.lookup(r, key, w)
		if !found {
			return
		}
		last := w.keys.cnt() - 1
		t.loadSlot(r, leaf, last, w.val)
		t.storeSlot(r, leaf, slot, w.val, w)
		w.keys.setKey(slot, w.keys.key(last))
		w.keys.setHeader(w.keys.inca(), last, w.keys.nxt())
		t.storeKeys(r, leaf, w.keys, w.version-1, w)
	})
	t.freeWork(w)
}

// read looks a stable key up in the leaf that it is in at this moment, as a client with a fresh translation table does.
func (x *remote) read(c *r2.Co) {
	c.Reset()
	if binary.LittleEndian.Uint64(x.b.cl.Mem(0).Bytes(x.t.lock.Addr, 8)) != 0 {
		c.Sleep(100 * sim.Nanosecond) // what the oracle sees may be half done
		return
	}
	key := x.hot() + (c.Rand().Uint64n(16)+1)*3
	before := x.changed[key][0]
	var leaf Leaf
	x.t.EachLeaf(key, func(l *Leaf) bool {
		leaf = *l
		leaf.Keys = slices.DeleteFunc(slices.Clone(l.Keys), func(k uint64) bool { return !x.stable(k) })
		return false
	})
	loc := r2.Loc{Machine: 0, RKey: x.t.RKey(), Addr: x.t.LeafAddr(leaf.ALN)}
	raw := c.Read(loc, x.t.Layout().LookupBytes())
	if err := c.Wait(); err != nil {
		x.b.Error(err)
	}
	var v View
	switch whole := x.t.Layout().DecodeKeys(x.sight(raw.B, 0), &v); {
	case !whole:
		x.torn++
		return
	case v.INCA != leaf.INCA:
		x.stale++
		return
	}
	x.judge(&leaf, &v)
	if slot, ok := v.Find(key); ok {
		x.value(c, loc, key, slot, before)
	}
}

// sight makes all versions of a block equal, if nobody looks at them.
func (x *remote) sight(raw []byte, at int) []byte {
	if x.blind {
		for i := record.LineBytes - at; i < len(raw); i += record.LineBytes {
			copy(raw[i:i+2], raw[:2])
		}
	}
	return raw
}

func (x *remote) judge(leaf *Leaf, v *View) {
	for _, key := range leaf.Keys {
		if _, ok := v.Find(key); !ok {
			x.missed++
		}
	}
	keys := slices.Clone(v.Keys)
	slices.Sort(keys)
	if len(slices.Compact(keys)) < len(v.Keys) {
		x.twice++
	}
}

func (x *remote) value(c *r2.Co, loc r2.Loc, key uint64, slot int, before uint64) {
	offset, n := x.t.Layout().Value(slot)
	loc.Addr += r2.Addr(offset)
	raw := c.Read(loc, n)
	if err := c.Wait(); err != nil {
		x.b.Error(err)
	}
	got, value, whole := x.t.Layout().DecodeValue(slot, x.sight(raw.B, offset%record.LineBytes))
	switch change, ok := changeOf(key, value); {
	case !whole:
		x.torn++
	case got != key:
		x.stale++
	case !ok:
		x.mixed++
	case change < before || change > x.changed[key][1]:
		x.old++
	default:
		x.good++
	}
}

func (x *remote) wrong() int { return x.missed + x.twice + x.mixed + x.old }

// What the versions and incarnations call good is good, with all that workers do meanwhile.
func TestRemoteReads(t *testing.T) {
	torn, stale, fallbacks := 0, 0, uint64(0)
	for seed := uint64(1); seed <= 6; seed++ {
		for _, bytes := range []int{8, 64, 150} {
			x := newRemote(t, seed, bytes, faults{})
			x.run()
			if x.wrong() > 0 || x.good < 100 {
				t.Errorf("seed %d, values of %d bytes: %d keys missed, %d twice, %d values mixed, %d old; %d good", seed, bytes, x.missed, x.twice, x.mixed, x.old, x.good)
			}
			x.b.audit(x.t)
			torn, stale, fallbacks = torn+x.torn, stale+x.stale, fallbacks+x.b.cl.HTMCounts().Fallbacks
			t.Logf("seed %d, %d bytes: %d good, %d torn, %d stale, %d splits", seed, bytes, x.good, x.torn, x.stale, x.t.Stats().Splits)
			x.b.close()
		}
	}
	if torn == 0 || stale == 0 || fallbacks == 0 {
		t.Errorf("%d READs torn, %d stale, %d regions under the lock", torn, stale, fallbacks)
	}
}

// DELETE moves the last pair without a new incarnation.
func TestRemoteReadsWithDeletes(t *testing.T) {
	torn := 0
	for seed := uint64(1); seed <= 10; seed++ {
		x := newRemote(t, seed, 64, faults{drain: true})
		x.run()
		if x.wrong() > 0 {
			t.Errorf("seed %d: %d keys missed, %d twice, %d values mixed, %d old", seed, x.missed, x.twice, x.mixed, x.old)
		}
		x.b.audit(x.t)
		torn += x.torn
		x.b.close()
	}
	if t.Logf("%d READs torn", torn); torn == 0 {
		t.Error("none was torn")
	}
}

// The test finds what it is there for.
func TestRemoteReadsFindFaults(t *testing.T) {
	for name, f := range map[string]faults{"no versions": {blind: true}, "DELETE keeps the versions": {oldVersion: true}, "split keeps the incarnation": {oldINCA: true}} {
		wrong := 0
		for seed := uint64(1); seed <= 100 && wrong == 0; seed++ {
			x := newRemote(t, seed, 64, f)
			x.run()
			wrong += x.wrong()
			x.b.close()
		}
		t.Logf("%s: %d", name, wrong)
		if wrong == 0 {
			t.Errorf("%s: not found", name)
		}
	}
}
