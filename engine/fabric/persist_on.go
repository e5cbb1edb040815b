//go:build invariants

package fabric

import "fmt"

// check holds that every open line is counted, and that no write is accepted
// before one that its line was given earlier: what is persistent would go back.
func (d *durability) check() {
	landings := map[Addr]int{}
	last := map[Addr]int64{}
	for i := d.head; i < len(d.ring); i++ {
		w := &d.ring[i]
		landings[w.line]++
		if w.at < last[w.line] {
			panic(fmt.Sprintf("fabric: at %d ps machine %d: line %#x is accepted at %d ps behind a write of %d ps",
				d.m.fab.sim.Now(), d.m.ID, w.line, w.at, last[w.line]))
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
