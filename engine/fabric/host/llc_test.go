package host

import (
	"slices"
	"testing"
	"unsafe"

	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// A set is one line of the host's memory.
func TestSetSize(t *testing.T) {
	if n := unsafe.Sizeof(llcSet{}); n != 64 {
		t.Errorf("a set has %d bytes, want 64", n)
	}
}

// The tag array against plain sets: hits are exact, a line that was used since
// the last sweep is never the victim, DMA writes stay in their ways.
func TestLLC(t *testing.T) {
	const ways, ddio, sets = 20, 2, 24
	c := newLLC(make([]llcSet, sets), ways, ddio)
	r := sim.New(sim.Options{}).Stream("llc", 0)
	held := make([]map[space.Addr]bool, sets)
	for i := range held {
		held[i] = map[space.Addr]bool{}
	}
	index := func(s *llcSet) int {
		for i := range c.sets {
			if &c.sets[i] == s {
				return i
			}
		}
		return -1
	}
	byTag := make([]map[uint16]space.Addr, sets)
	for i := range byTag {
		byTag[i] = map[uint16]space.Addr{}
	}
	hits := 0
	for range 200000 {
		line := r.Uint64n(1000) * (1 + r.Uint64n(3))
		s, tag := c.locate(line)
		i := index(s)
		if other, ok := byTag[i][tag]; ok && other != line {
			t.Fatalf("lines %d and %d share set and tag", line, other)
		}
		byTag[i][tag] = line
		way := c.find(s, tag)
		if (way >= 0) != held[i][line] {
			t.Fatalf("line %d: way %d, held %v", line, way, held[i][line])
		}
		if way >= 0 {
			hits++
			s.ref |= 1 << way
			continue
		}
		allowed := c.all
		if r.Intn(4) == 0 {
			allowed = c.ddio
		}
		before := *s
		w, _ := c.insert(s, tag, allowed)
		if 1<<w&allowed == 0 {
			t.Fatalf("way %d is not among %b", w, allowed)
		}
		if before.ref&(1<<w) != 0 && before.ref&allowed != allowed {
			t.Fatal("a line in use was replaced while others were not in use")
		}
		if old := uint16(before.tags[w>>2] >> (uint(w&3) << 4)); old != 0 {
			delete(held[i], byTag[i][old])
		}
		held[i][line] = true
		if len(held[i]) > ways {
			t.Fatalf("a set holds %d lines", len(held[i]))
		}
	}
	if hits < 10000 {
		t.Errorf("%d hits tell little", hits)
	}
}

// Lines of one range spread over all sets, and so do equal offsets of 2 MB
// pages.
func TestLLCSpreads(t *testing.T) {
	c := newLLC(make([]llcSet, 24576), 20, 2)
	used := map[*llcSet]int{}
	for l := range space.Addr(24576) {
		s, _ := c.locate(1<<20 + l)
		used[s]++
	}
	if len(used) < 22000 {
		t.Errorf("consecutive lines use %d of 24576 sets", len(used))
	}
	clear(used)
	for p := range space.Addr(1000) {
		s, _ := c.locate(p << (space.HugeShift - space.LineShift))
		used[s]++
	}
	if len(used) < 900 {
		t.Errorf("equal offsets of 1000 pages use %d sets", len(used))
	}
}

// A line that was dropped leaves its place to the next one, before any other has to leave.
func TestDroppedLinesArePlacesFirst(t *testing.T) {
	c := newLLC(make([]llcSet, 1), 20, 2)
	s := &c.sets[0]
	for tag := range uint16(20) {
		c.insert(s, tag+1, c.all)
	}
	s.ref = 0 // nothing was used recently: without the hole the first way would be taken
	s.drop(7)
	way, _ := c.insert(s, 100, c.all)
	if way != 7 {
		t.Errorf("the line goes to way %d, way 7 is empty", way)
	}
	for tag := range uint16(20) {
		if tag != 7 && c.find(s, tag+1) < 0 {
			t.Errorf("line %d had to leave", tag+1)
		}
	}
	if way, _ := c.insert(s, 101, c.all); way != 0 {
		t.Errorf("then a line goes to way %d, want 0", way)
	}
}

// A TLB has as many entries as it should, four to eight in a set, each set by LRU.
func TestTLBIsLRU(t *testing.T) {
	r := sim.New(sim.Options{}).Stream("tlb", 0)
	for _, entries := range []int{1, 2, 4, 5, 7, 8, 30, 153, 1000, 1536, 2048} {
		c := NewTLB(entries)
		sets, total := map[*uint32][]uint32{}, 0
		for page := range uint32(4096) {
			if s := c.set(page + 1); sets[&s[0]] == nil {
				sets[&s[0]] = make([]uint32, 0, len(s))
				total += len(s)
				if want := min(entries, 4); len(s) < want || len(s) > 8 {
					t.Errorf("%d entries: a set of %d", entries, len(s))
				}
			}
		}
		if total != entries {
			t.Errorf("%d entries: the sets have %d", entries, total)
		}
		for range 20 * entries {
			page := uint32(r.Uint64n(uint64(2*entries))) + 1
			at := &c.set(page)[0]
			list := sets[at]
			i := slices.Index(list, page)
			if hit := c.Touch(space.Addr(page-1) << space.HugeShift); hit != (i >= 0) {
				t.Fatalf("%d entries: page %d: hit %v, its set %v", entries, page, hit, list)
			}
			if i >= 0 {
				list = slices.Delete(list, i, i+1)
			}
			sets[at] = slices.Insert(list[:min(len(list), cap(list)-1)], 0, page)
		}
	}
}

// The second-level TLB of the thesis's machines has 256 sets of six ways.
func TestBroadwellsTLB(t *testing.T) {
	c := NewTLB(1536)
	for page := range uint32(256) {
		if n := len(c.set(page + 1)); n != 6 {
			t.Errorf("page %d: a set of %d", page, n)
		}
	}
	const first = 511                 // entries are numbered from 1
	for p := range space.Addr(1536) { // 3 GB that follow each other all fit
		c.Touch((first + p) << space.HugeShift)
	}
	for p := range space.Addr(1536) {
		if !c.Touch((first + p) << space.HugeShift) {
			t.Fatalf("page %d of 1536 was displaced", p)
		}
	}
}
