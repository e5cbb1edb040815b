package r2

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// index is a small hash table in the memory of machine 0: of slots with a key and a value, one behind the other. Its code does not
// know whether it runs inside a region.
type index struct {
	base  Addr
	slots uint64
}

func (x index) slot(mem Memory, key uint64) (at Addr, found bool) {
	for i := key * 7; ; i++ {
		at = x.base + Addr(i%x.slots*16)
		mem.Compute(10)
		switch mem.Load64(at) {
		case key:
			return at, true
		case 0:
			return at, false
		}
	}
}

func (x index) find(mem Memory, key uint64) (value uint64, ok bool) {
	at, ok := x.slot(mem, key)
	if ok {
		value = mem.Load64(at + 8)
	}
	return value, ok
}

// add adds to a key's value.
func (x index) add(mem Memory, key, n uint64) {
	for {
		at, found := x.slot(mem, key)
		if found || mem.LocalCAS(at, 0, key) == 0 {
			mem.Store64(at+8, mem.Load64(at+8)+n)
			return
		}
	}
}

// The same code changes an index inside regions, where threads of a machine meet, and searches it there and outside; nothing is lost,
// whatever the cache of the processor.
func TestIndexInsideARegion(t *testing.T) {
	const keys, threads, each = 20, 4, 60
	for _, o := range []HTMOptions{{}, {Retries: 1}, {Lines: 1}, {Lines: 8, Ways: 2}} {
		b := newBed(t, 2, Config{Threads: threads}, fabric.Config{TornReads: true})
		x, l := index{b.base[0], 64}, b.lock()
		for th := range threads {
			b.cl.Spawn(0, th, func(c *Co) {
				for range each {
					key := uint64(1 + c.Rand().Intn(keys))
					if !c.TryHTM(o, l, func(r *Region) { x.add(r, key, 1); x.add(r, keys+1, 1) }) {
						t.Error("a region with a lock is not done")
					}
				}
			})
		}
		b.run(sim.Millisecond)
		sum, outside, total := uint64(0), uint64(0), uint64(0)
		b.cl.Spawn(0, 0, func(c *Co) {
			for key := range uint64(keys) {
				n, _ := x.find(c, key+1)
				outside += n
			}
			c.HTM(l, func(r *Region) {
				sum = 0
				for key := range uint64(keys) {
					n, _ := x.find(r, key+1)
					sum += n
				}
				total, _ = x.find(r, keys+1)
			})
			if _, ok := x.find(c, keys+2); ok {
				t.Error("it finds a key that was never added")
			}
		})
		b.run(sim.Millisecond)
		n := b.cl.HTMCounts()
		if sum != threads*each || outside != sum || total != sum || n.Core == 0 || o.Lines == 1 && n.Fallbacks == 0 {
			t.Errorf("%+v: %d of %d are found inside a region, %d outside, %d in all; %+v", o, sum, threads*each, outside, total, n)
		}
	}
}

// stores runs one region that writes some lines of machine 0 with options, and says what became of it.
func stores(t *testing.T, o HTMOptions, locked bool, lines ...int) (n HTMCounts, done bool, stored int) {
	b := newBed(t, 1, Config{Threads: 1}, fabric.Config{})
	var l *HTMLock
	if locked {
		l = b.lock()
	}
	b.base[0] = space.RoundUp(b.base[0], 1<<15) // the same sets in every run
	b.cl.Spawn(0, 0, func(c *Co) {
		for range 3 { // nothing is left of one in the next
			done = c.TryHTM(o, l, func(r *Region) {
				for _, line := range lines {
					r.Store64(b.at(line), 1)
				}
			})
		}
	})
	b.run(sim.Millisecond)
	for _, line := range lines {
		stored += int(b.word(0, Addr(line*space.LineBytes)))
	}
	return b.cl.HTMCounts(), done, stored
}

// A region writes as many lines as its options say, and of one set as many as it has ways. One that has no room runs under the
// lock, or is not done where there is none.
func TestRoomOfRegions(t *testing.T) {
	upTo := func(n int) (list []int) {
		for i := range n {
			list = append(list, i)
		}
		return list
	}
	for _, x := range []struct {
		name  string
		o     HTMOptions
		lines []int
		fits  bool
	}{
		{"as many as a cache of 32 KB has", HTMOptions{}, upTo(512), true},
		{"one more", HTMOptions{}, upTo(513), false},
		{"four", HTMOptions{Lines: 4}, []int{0, 8, 16, 24}, true},
		{"five of four", HTMOptions{Lines: 4}, []int{0, 8, 16, 24, 25}, false},
		{"all of four sets of two", HTMOptions{Lines: 8, Ways: 2}, upTo(8), true},
		{"three in a set of two", HTMOptions{Lines: 8, Ways: 2}, []int{0, 4, 8}, false},
		{"three in sets of two", HTMOptions{Lines: 8, Ways: 2}, []int{0, 4, 9}, true},
		{"the same line thrice", HTMOptions{Lines: 8, Ways: 2}, []int{0, 4, 0, 4}, true},
	} {
		n, done, _ := stores(t, x.o, true, x.lines...)
		want := HTMCounts{Regions: 3, Commits: 3}
		if !x.fits {
			want = HTMCounts{Regions: 3, Capacity: 3, Fallbacks: 3}
		}
		if !done || n != want {
			t.Errorf("%s: done %v, %+v, want %+v", x.name, done, n, want)
		}
		n, done, stored := stores(t, x.o, false, x.lines...)
		want.Fallbacks = 0
		if done != x.fits || n != want || (stored > 0) != x.fits {
			t.Errorf("%s, without a lock: done %v, %d lines stored, %+v, want %+v", x.name, done, stored, n, want)
		}
	}
}

// A region is tried as often as its options say while others end it, then it falls back, or gives up where there is no lock.
func TestRetriesOfRegions(t *testing.T) {
	for retries, want := range map[int]uint64{0: 10, 10: 10, 3: 3, 1: 1, -1: 1} { // order-free
		for _, locked := range []bool{true, false} {
			b := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
			var l *HTMLock
			if locked {
				l = b.lock()
			}
			b.cl.Spawn(1, 0, func(c *Co) {
				c.Phase(phaseExecution, Mode{})
				for {
					c.Reset()
					c.Write(b.loc(0, 8), make([]byte, 8))
				}
			})
			returned, done := false, false
			b.cl.Spawn(0, 0, func(c *Co) {
				done = c.TryHTM(HTMOptions{Retries: retries}, l, func(r *Region) {
					r.Store64(b.at(0), 1)
					r.Compute(66_000)
				})
				returned = true
			})
			b.run(2 * sim.Millisecond)
			n := b.cl.HTMCounts()
			if !returned || done != locked || n.Regions != want || n.DMA != want || n.Fallbacks > 0 != locked || b.word(0, 0) > 0 != locked {
				t.Errorf("retries %d, lock %v: returned %v, done %v, memory has %d, %+v", retries, locked, returned, done, b.word(0, 0), n)
			}
		}
	}
}
