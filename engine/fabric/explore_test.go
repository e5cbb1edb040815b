package fabric

import (
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/fabric/exploration"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// arrivals are when READs complete that worker 0 posts to both machines at one time, by request, with some messages delayed.
func arrivals(t *testing.T, list ...exploration.Delay) (at [4]sim.Time, x *exploration.Exploration) {
	x = exploration.New(sim.Microsecond, list)
	b := newBed(t, bedOptions{machines: 3, threads: 1, span: 1 << 20, config: Config{Exploration: x}})
	w := b.workers[0]
	w.done = func(_ *bedWorker, e *CQE) { at[e.ID] = e.At }
	w.cq.Arm(0, b.kWork, 0)
	for id := range uint64(4) {
		m := 1 + int(id%2)
		wr := SendWR{ID: id, Op: Read, Signaled: true, Local: w.scratch + space.Addr(id*64), LKey: w.key, Len: 64, Remote: b.data[m] + space.Addr(id*64), RKey: b.keys[m]}
		if err := w.rc[m].PostSend(b.sim.Now(), []SendWR{wr}); err != nil {
			t.Fatal(err)
		}
	}
	b.run(50 * sim.Microsecond)
	return at, x
}

// A delayed message comes by its units later, those behind it on its queue pair do not overtake it, and others do not wait.
func TestDelayedMessages(t *testing.T) {
	plain, x := arrivals(t)
	if x.Messages() != 8 { // requests 0 to 3, then responses
		t.Fatalf("%d messages of four READs", x.Messages())
	}
	for _, c := range []struct {
		delay exploration.Delay
		later [4]bool
	}{
		{exploration.Delay{Message: 0, Units: 3}, [4]bool{true, false, true, false}},
		{exploration.Delay{Message: 1, Units: 3}, [4]bool{false, false, true, false}}, // contexts are fetched pair by pair: 0, 2, 1, 3
		{exploration.Delay{Message: 2, Units: 3}, [4]bool{false, true, false, true}},
		{exploration.Delay{Message: 4, Units: 3}, [4]bool{true, false, true, false}}, // a response
		{exploration.Delay{Message: 99, Units: 3}, [4]bool{}},
	} {
		at, _ := arrivals(t, c.delay)
		for id := range at {
			d := at[id] - plain[id]
			if c.later[id] != (d > 3*sim.Microsecond/2) || !c.later[id] && d != 0 || d > 3*sim.Microsecond+sim.Microsecond/10 {
				t.Errorf("%v: request %d comes %d ps later", c.delay, id, d)
			}
		}
		if at[0] > at[2] || at[1] > at[3] {
			t.Errorf("%v: requests of one queue pair overtake: %v", c.delay, at)
		}
	}
}

// Two runs have one order if every line saw the same accesses with the same bytes by the same clients in the same order, but
// for reads between two writes, and if the same spans ended before the same ones began.
func TestOrder(t *testing.T) {
	b := newBed(t, bedOptions{machines: 1, threads: 1, span: 1 << 20})
	mem, base := b.f.Machine(0).Mem, b.data[0]
	order := func(script string) uint64 {
		x := exploration.New(1, nil)
		clear(mem.Bytes(base, 4096))
		for _, word := range strings.Fields(script) {
			var who, line uint64
			var value byte
			switch word[0] {
			case 'r':
				fmt.Sscanf(word, "r%d.%d", &line, &who)
			case 'w':
				fmt.Sscanf(word, "w%d.%d.%d", &line, &who, &value)
				mem.Bytes(base+64*line, 1)[0] = value
			default: // span who.from.to
				var from, to sim.Time
				fmt.Sscanf(word, "s%d.%d.%d", &who, &from, &to)
				x.Span(who, from, to)
				continue
			}
			x.Accessed(mem, base+64*line, 8, word[0] == 'w', who)
		}
		return x.Order()
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"r1.1 r1.2", "r1.2 r1.1", true},
		{"w1.1.5 w2.2.6", "w2.2.6 w1.1.5", true}, // other lines
		{"r1.1 w1.2.0", "w1.2.0 r1.1", false},    // even where the bytes stay what they were
		{"w1.1.5 w1.2.6", "w1.2.6 w1.1.5", false},
		{"w1.1.5 r1.1 r1.2 w1.3.7", "w1.1.5 r1.2 r1.1 w1.3.7", true},
		{"w1.1.5 r1.1 w1.3.7 r1.2", "w1.1.5 r1.2 w1.3.7 r1.1", false}, // who read which
		{"w1.1.5 r1.1", "w1.1.6 r1.1", false},
		{"r1.1", "r1.2", false},
		{"r1.1 r1.1", "r1.1", false},
		{"s1.0.5 s2.1.6", "s1.0.9 s2.2.3", true}, // both overlap
		{"s1.0.5 s2.1.6", "s2.1.6 s1.0.5", true},
		{"s1.0.5 s2.1.6", "s1.0.5 s2.6.9", false},
		{"s1.0.5 s2.6.9", "s1.6.9 s2.0.5", false},
		{"s1.0.5 s2.5.9", "s1.0.6 s2.5.9", true}, // at the same time is not before
	} {
		if (order(c.a) == order(c.b)) != c.same {
			t.Errorf("%q and %q: same order is %v, want %v", c.a, c.b, !c.same, c.same)
		}
	}
}
