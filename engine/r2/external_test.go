package r2

import (
	"slices"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2/core"
	"drtmx/engine/sim"
)

// A machine hears at once what it says itself, and later what others say; nothing of it is on a link, and a crash does not keep it back.
func TestExternal(t *testing.T) {
	b := newBed(t, 3, Config{Threads: 1}, fabric.Config{})
	type heard struct {
		word uint32
		at   Time
	}
	var all, want []heard
	x := b.cl.External("test.external", func(word uint32) { all = append(all, heard{word, b.s.Now()}) })
	b.cl.Spawn(1, 0, func(c *Co) {
		c.Sleep(sim.Microsecond)
		c.Compute(1000) // its core is ahead of the event
		for i := range 3 {
			if x.Tell(&c.Program, i, uint32(i)); i != 1 {
				want = append(want, heard{uint32(i), c.Now() + core.ExternalDelay})
			}
		}
		if len(all) != 1 || all[0].word != 1 {
			t.Errorf("machine 1 has heard %v of itself", all)
		}
		want = slices.Insert(want, 0, all[0])
	})
	b.run(50 * sim.Microsecond)
	b.crash(2)
	b.run(sim.Millisecond)
	if !slices.Equal(all, want) || b.f.Counts().Doorbells != 0 {
		t.Errorf("heard %v with %d doorbells, want %v", all, b.f.Counts().Doorbells, want)
	}
}
