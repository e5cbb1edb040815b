package kv

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// modelEntry and modelCache say in a few lines what Cache does: sets of four, sorted by hash value, and a hand that
// starts at the newcomer.
type modelEntry struct {
	key  uint64
	hash uint64
	ref  Ref
	used bool
}

type modelCache struct {
	x    *Cache
	t    *Table
	sets map[uint64][]modelEntry
}

func (m *modelCache) find(key uint64) (set uint64, i int, hash uint64) {
	hash = m.x.entryOf(m.t, key).hash
	set = m.x.slotOf(hash)
	return set, slices.IndexFunc(m.sets[set], func(e modelEntry) bool { return e.key == key }), hash
}

func (m *modelCache) get(key uint64) (Ref, bool) {
	set, i, _ := m.find(key)
	if i < 0 {
		return 0, false
	}
	m.sets[set][i].used = true
	return m.sets[set][i].ref, true
}

func (m *modelCache) put(key uint64, r Ref) {
	set, i, hash := m.find(key)
	old := m.sets[set]
	if i >= 0 && old[i].ref == r {
		return
	}
	used := false
	if i >= 0 {
		// A record that moved away from its first place, or back, becomes a new entry.
		if _, j, initial := m.t.shardOf(key); initial && (r == homeRef(j) || old[i].ref == homeRef(j)) {
			old = slices.Delete(old, i, i+1)
		} else {
			old[i].ref = r
			return
		}
	}
	if len(old) == setEntries {
		old = m.evict(old, hash)
	}
	old = append(old, modelEntry{key, hash, r, used})
	slices.SortFunc(old, func(a, b modelEntry) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(m.tag(a), m.tag(b)))
	})
	m.sets[set] = old
}

func (m *modelCache) evict(set []modelEntry, hash uint64) []modelEntry {
	hand := 0
	for hand < len(set) && set[hand].hash < hash {
		hand++
	}
	for i := range 2 * len(set) {
		at := (hand + i) % len(set)
		if !set[at].used {
			return slices.Delete(set, at, at+1)
		}
		set[at].used = false
	}
	panic("no victim after two rounds")
}

func (m *modelCache) forget(key uint64) {
	if set, i, _ := m.find(key); i >= 0 {
		m.sets[set] = slices.Delete(m.sets[set], i, i+1)
	}
}

// tag orders entries of the same hash value.
func (m *modelCache) tag(e modelEntry) uint64 {
	if _, j, initial := m.t.shardOf(e.key); initial && e.ref == homeRef(j) {
		return 0
	}
	return m.x.tagged(m.t, e.key)
}

func (m *modelCache) entries() (n uint64) {
	for _, s := range m.sets {
		n += uint64(len(s))
	}
	return n
}

func TestCacheAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.Uint64Range(1, 300).Draw(t, "keys")
		tb := geometry(t, packed, keys, 2, 2, false)
		bytes := uint64(lineBytes * rapid.IntRange(1, 40).Draw(t, "sets"))
		x, err := NewCache(nil, 0, numbered(t, []*Table{tb}), bytes, 1)
		if err != nil {
			t.Fatal(err)
		}
		m := &modelCache{x, tb, map[uint64][]modelEntry{}}
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			key := rapid.Uint64Range(0, keys+keys/4).Draw(t, "key") // some were not there from the start
			e := x.entryOf(tb, key)
			switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
			case op < 4:
				loc, ok := x.get(tb, key, e)
				if r, want := m.get(key); ok != want || loc.Ref != r {
					t.Fatalf("get %d: %v %v, model %v %v", key, loc.Ref, ok, r, want)
				}
			case op < 9:
				_, j, _ := tb.shardOf(key)
				r := homeRef(j)
				if op == 8 { // moved
					r = NewRef(uint32(j), 1)
				}
				x.put(tb, key, r, e)
				m.put(key, r)
			default:
				x.forget(tb, key, e)
				m.forget(key)
			}
			if x.stats.Entries != m.entries() {
				t.Fatalf("%d entries, model has %d", x.stats.Entries, m.entries())
			}
		}
		for key := range keys + keys/4 + 1 {
			loc, ok := x.get(tb, key, x.entryOf(tb, key))
			if r, want := m.get(key); ok != want || loc.Ref != r {
				t.Fatalf("at the end, key %d: %v %v, model %v %v", key, loc.Ref, ok, r, want)
			}
		}
	})
}

func TestCacheResize(t *testing.T) {
	const keys = 5000
	tb := geometry(t, packed, keys, 2, 2, false)
	x, err := NewCache(nil, 0, numbered(t, []*Table{tb}), keys*CacheEntryBytes, 1)
	if err != nil {
		t.Fatal(err)
	}
	for key := range uint64(keys) {
		_, j, _ := tb.shardOf(key)
		r := homeRef(j)
		if key%10 == 0 {
			r = NewRef(uint32(j), 3)
		}
		x.put(tb, key, r, x.entryOf(tb, key))
	}
	has := func(key uint64) bool {
		e := x.entryOf(tb, key)
		return e.fixed && getBit(x.bits, present(e.number)) || x.findMoved(tb, key, e) >= 0
	}
	hot := map[uint64]bool{}
	for key := uint64(0); key < keys; key += 25 {
		if has(key) {
			x.get(tb, key, x.entryOf(tb, key))
			hot[key] = true
		}
	}
	for _, share := range []uint64{2, 8, 4, 64, 1} {
		var before [keys]bool
		for key := range uint64(keys) {
			before[key] = has(key)
		}
		if err := x.Resize(keys * CacheEntryBytes / share); err != nil {
			t.Fatal(err)
		}
		n, perSet := uint64(0), map[uint64]int{}
		for key := range uint64(keys) {
			if !has(key) {
				continue
			}
			n++
			perSet[x.slotOf(x.entryOf(tb, key).hash)]++
			if !before[key] {
				t.Fatalf("key %d came with a resize", key)
			}
		}
		for set, k := range perSet {
			if k > setEntries {
				t.Fatalf("set %d has %d entries", set, k)
			}
		}
		if n != x.stats.Entries || n > x.stats.Capacity {
			t.Fatalf("%d entries, said to be %d of %d", n, x.stats.Entries, x.stats.Capacity)
		}
		for key := range hot {
			if share > 1 && share <= 8 && !has(key) {
				t.Errorf("hot key %d lost when the cache shrank to 1/%d", key, share)
			}
		}
	}
	if x.Resize(store.MinCacheBytes-1) == nil {
		t.Error("a budget below one set was accepted")
	}
}

// A warm cache that is large enough has what was drawn, also with a budget of 300 MB, which takes memory for two bits
// per record and no more.
func TestCacheWarm(t *testing.T) {
	tb := geometry(t, packed, 10_000, 2, 2, false)
	x, err := NewCache(nil, 0, numbered(t, []*Table{tb}), 300_000_000, 1)
	if err != nil {
		t.Fatal(err)
	}
	for key := uint64(0); key < 10_000; key += 2 {
		x.Warm(tb, key)
	}
	for key := range uint64(10_000) {
		_, ok := x.get(tb, key, x.entryOf(tb, key))
		if want := key%2 == 0 && tb.Primary(key) != 0; ok != want {
			t.Fatalf("key %d of machine %d: in the cache %v", key, tb.Primary(key), ok)
		}
	}
	if words := len(x.bits); words > 2*10_000/64+2 || x.stats.Capacity != 4*(300_000_000/64) {
		t.Errorf("%d words for 10,000 records, capacity %d", words, x.stats.Capacity)
	}
}

// Fill brings everything when there is room, keeps what was there, and takes no sides when there is none.
func TestCacheFill(t *testing.T) {
	const keys = 20_000
	tb := geometry(t, packed, keys, 4, 2, false)
	for _, budget := range []uint64{300_000_000, keys / 4 * CacheEntryBytes} {
		x, err := NewCache(nil, 1, numbered(t, []*Table{tb}), budget, 1)
		if err != nil {
			t.Fatal(err)
		}
		for key := uint64(0); key < keys; key += 50 {
			x.Warm(tb, key)
			x.Warm(tb, key)
		}
		x.Fill(nil)
		x.openAll()
		var of [4]int
		n := uint64(0)
		for key := range uint64(keys) {
			_, ok := x.get(tb, key, x.entryOf(tb, key))
			if ok {
				of[tb.Primary(key)]++
				n++
			} else if key%50 == 0 && tb.Primary(key) != 1 {
				t.Errorf("budget %d: key %d, which was there, was lost", budget, key)
			}
		}
		t.Logf("budget %d: entries by server %v", budget, of)
		if n != x.stats.Entries || of[1] != 0 {
			t.Errorf("budget %d: %d entries, said to be %d, %d of its own", budget, n, x.stats.Entries, of[1])
		}
		if budget > keys*CacheEntryBytes && n != keys*3/4 || n > x.stats.Capacity {
			t.Errorf("budget %d: %d entries of %d", budget, n, x.stats.Capacity)
		}
		for _, m := range []int{0, 2} {
			if d := of[m] - of[3]; d*d > of[3]*of[3]/50 {
				t.Errorf("budget %d: entries by server %v", budget, of)
			}
		}
	}
}

// Popular records come first where a set is too small for all.
func TestCacheFillPrefersPopularRecords(t *testing.T) {
	const keys = 20_000
	tb := geometry(t, packed, keys, 4, 2, false)
	x, err := NewCache(nil, 1, numbered(t, []*Table{tb}), keys/4*CacheEntryBytes, 1)
	if err != nil {
		t.Fatal(err)
	}
	popular := func(_ uint8, key uint64) bool { return key%25 == 0 }
	x.Fill(popular)
	x.openAll()
	has, all, others := 0, 0, 0
	for key := range uint64(keys) {
		if tb.Primary(key) == 1 {
			continue
		}
		_, ok := x.get(tb, key, x.entryOf(tb, key))
		switch {
		case !popular(0, key):
			if ok {
				others++
			}
		default:
			all++
			if ok {
				has++
			}
		}
	}
	if has < all*95/100 || others == 0 {
		t.Errorf("%d of %d popular records, %d others", has, all, others)
	}
}

// With nine in ten draws from 4 % of the keys, a cache of a tenth of the keys keeps most of the hot ones.
func TestCacheKeepsHotKeys(t *testing.T) {
	const keys, hot = 50_000, 2000
	tb := geometry(t, packed, keys, 1, 2, false)
	x, err := NewCache(nil, 1, numbered(t, []*Table{tb}), keys/10*CacheEntryBytes, 1)
	if err != nil {
		t.Fatal(err)
	}
	rng, hits := uint64(1), 0
	const draws = 200_000
	for i := range draws {
		rng = mix(rng)
		key := rng >> 8 % hot
		if rng%10 == 0 {
			key = rng >> 8 % keys
		}
		e := x.entryOf(tb, key)
		if _, ok := x.get(tb, key, e); ok {
			if i >= draws/2 {
				hits++
			}
		} else {
			_, j, _ := tb.shardOf(key)
			x.put(tb, key, homeRef(j), e)
		}
	}
	rate := float64(hits) / (draws / 2)
	t.Logf("hit rate %.3f", rate)
	if rate < 0.85 {
		t.Errorf("hit rate %.3f, 0.9 of the draws are hot", rate)
	}
}

func TestCacheIsCharged(t *testing.T) {
	b := newBed(t, 2, 1, 1)
	tb := b.table(1000, 8, 0, 1)
	x, err := NewCache(b.cl, 0, numbered(t, []*Table{tb}), 1<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	b.do(0, func(c *r2.Co) {
		before := c.Now()
		x.Get(c, tb, 999)
		cold := c.Now() - before
		before = c.Now()
		x.Get(c, tb, 999)
		hot := c.Now() - before
		if hot <= 0 || cold <= hot {
			t.Errorf("a lookup costs %d ps from memory and %d ps from the caches", cold, hot)
		}
		if err := x.Resize(1 << 22); err != nil {
			t.Error(err)
		}
		x.Put(c, tb, 999, NewRef(1, 0))
		if s := x.Stats(); s.Misses != 2 || s.Entries != 1 || s.Capacity != 1<<18 || x.Bytes() != 1<<22 {
			t.Errorf("%+v", s)
		}
	})
}

func TestCacheRefusesTwoTablesOfOneID(t *testing.T) {
	tb := geometry(t, packed, 10, 1, 1, false)
	if _, err := NumberRecords([]*Table{tb, tb}); err == nil {
		t.Error("accepted")
	}
}

func BenchmarkCacheHit(b *testing.B) {
	tb := geometry(b, packed, 1_600_000, 4, 2, false)
	x, err := NewCache(nil, 0, numbered(b, []*Table{tb}), 300_000_000, 1)
	if err != nil {
		b.Fatal(err)
	}
	for key := range uint64(1_600_000) {
		x.Warm(tb, key)
	}
	i := uint64(0)
	for b.Loop() {
		i = mix(i)
		key := i % 1_600_000
		e := x.entryOf(tb, key)
		x.get(tb, key, e)
	}
}

// All sets of a cache of the default cluster, which a run looks at one by one.
func BenchmarkCacheFill(b *testing.B) {
	tb := geometry(b, packed, 3_200_000, 4, 2, false)
	for b.Loop() {
		x, err := NewCache(nil, 0, numbered(b, []*Table{tb}), 300_000_000, 1)
		if err != nil {
			b.Fatal(err)
		}
		x.Fill(nil)
		x.openAll()
	}
}

// The cache is full: every put gives up an entry.
func BenchmarkCacheEvict(b *testing.B) {
	const keys = 1 << 20
	tb := geometry(b, packed, keys, 1, 2, false)
	x, err := NewCache(nil, 1, numbered(b, []*Table{tb}), keys/4*CacheEntryBytes, 1)
	if err != nil {
		b.Fatal(err)
	}
	i := uint64(0)
	for b.Loop() {
		i = mix(i)
		key := i % keys
		_, j, _ := tb.shardOf(key)
		x.put(tb, key, homeRef(j), x.entryOf(tb, key))
	}
}

// Where sets have many hash values each their entries are listed, and the lists say what the bits say,
// also when the cache has grown and shrunk.
func TestRoster(t *testing.T) {
	const keys = 20_000
	tb := geometry(t, packed, keys, 2, 2, false)
	x, err := NewCache(nil, 0, numbered(t, []*Table{tb}), 16*lineBytes, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	x.Fill(nil)
	for _, sets := range []uint64{16, 1, 2000, 30} {
		if err := x.Resize(sets * lineBytes); err != nil {
			t.Fatal(err)
		}
		if long := x.sets <= 30; long != (x.roster != nil) {
			t.Fatalf("%d sets: listed: %v", sets, !long)
		}
		for range 2000 {
			key := r.Uint64N(keys)
			switch e := x.entryOf(tb, key); r.IntN(4) {
			case 0:
				x.forget(tb, key, e)
			case 1:
				x.put(tb, key, NewRef(uint32(key), 1), e)
			default:
				x.put(tb, key, e.home, e)
			}
		}
		if x.roster == nil {
			continue
		}
		listed := uint64(0)
		for set := range x.sets {
			for _, n := range x.roster.of(set) {
				if listed++; x.slotOf(x.hash(n)) != set || !getBit(x.bits, present(n)) {
					t.Fatalf("%d sets: record %d is listed in set %d", sets, n, set)
				}
			}
		}
		if want := x.stats.Entries - uint64(x.moved.used); listed != want {
			t.Errorf("%d sets: %d entries are listed, there are %d", sets, listed, want)
		}
	}
}

// numbered numbers the records of tables.
func numbered(t interface{ Fatal(...any) }, tables []*Table) *Numbers {
	n, err := NumberRecords(tables)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A number is found in its part also where parts are of very different sizes.
func TestPartOfNumber(t *testing.T) {
	x := &Numbers{}
	for i, n := range []uint64{3, 1, 5000, 2, 70_000, 1, 1} {
		x.parts = append(x.parts, part{from: x.total, shard: &shard{scatter: scatter{n: n}, machine: i}})
		x.total += n
	}
	x.index()
	for i, p := range x.parts {
		for n := p.from; n < p.from+p.shard.n; n++ {
			if got := x.partOf(n).shard.machine; got != i {
				t.Fatalf("number %d is in part %d, not %d", n, got, i)
			}
		}
	}
}
