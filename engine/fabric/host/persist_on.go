//go:build invariants

package host

import (
	"fmt"

	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// check holds that every open line is counted, and that no write is accepted
// before one that its line was given earlier: what is persistent would go back.
func (d *durability) check() {
	landings := map[space.Addr]int{}
	last := map[space.Addr]int64{}
	for i := d.head; i < len(d.ring); i++ {
		w := &d.ring[i]
		landings[w.line]++
		if w.at < last[w.line] {
			panic(fmt.Sprintf("fabric: at %d ps machine %d: line %#x is accepted at %d ps behind a write of %d ps",
				d.m.clock.Now(), d.m.ID, w.line, w.at, last[w.line]))
		}
		last[w.line] = w.at
	}
	if len(d.index)+len(d.free) != len(d.list) {
		panic(fmt.Sprintf("fabric: machine %d has %d open lines and %d free places of %d", d.m.ID, len(d.index), len(d.free), len(d.list)))
	}
	for l, k := range d.index { // order-free: all are checked alike
		if o := &d.list[k]; o.line != l || o.landing != landings[l] {
			panic(fmt.Sprintf("fabric: machine %d: line %#x has %d writes on their way, it says %d for line %#x", d.m.ID, l, landings[l], o.landing, o.line))
		}
	}
}

// checkPlaces holds that bytes which are not persistent are somewhere: on their
// way to the memory controller, or dirty in the LLC.
func (d *durability) checkPlaces(now sim.Time) {
	under := map[space.Addr]bool{}
	for _, p := range d.inFlight(now) {
		under[p.line] = true
	}
	for l, k := range d.index { // order-free: all are checked alike
		if under[l] || d.dirty(l) || d.list[k].durable == d.bytes(l) {
			continue
		}
		panic(fmt.Sprintf("fabric: at %d ps machine %d: line %#x is not persistent, and neither dirty in the cache nor in flight", now, d.m.ID, l))
	}
}

func (d *durability) dirty(l space.Addr) bool {
	s := d.m.Processors[d.m.Mem.Home(l<<space.LineShift)]
	set, tag := s.llc.locate(l)
	way := s.llc.find(set, tag)
	return way >= 0 && set.dirty>>way&1 != 0
}
