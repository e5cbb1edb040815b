package r2

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/r2/core"
	"drtmx/engine/sim"
)

// The sequential model: whatever cores and RNICs do at the same time, a region that commits has
// loaded what memory had at the instant of its commit, and its stores are all there then. Words are
// the first and the last of some lines, and whoever writes a line writes it whole, so that whoever
// looks at a line finds both equal. Further lines are for RNIC and CPU atomics.

const (
	modelLines   = 6
	modelAtomics = 2
)

// modelRun draws a run and says what is wrong with it, "" if nothing is.
type modelRun struct {
	t         *testing.T
	draw      func(name string, from, to int) int
	blind     func(host.Intruder) bool // the planted bug: conflicts that nobody notices
	b         *bed
	next      uint64 // values are used once
	before    [modelLines + modelAtomics]uint64
	unlocked  bool
	committed []*modelBody // at this instant
	finished  int
	wrong     string
}

// modelBody is what a body has loaded before it stored there, and stored.
type modelBody struct {
	loaded, stored [modelLines + modelAtomics]uint64
	loads, stores  [modelLines + modelAtomics]bool
	locked         bool
}

func (x *modelRun) fail(format string, args ...any) {
	if x.wrong == "" {
		x.wrong = fmt.Sprintf("at %d ns: ", x.b.s.Now()/sim.Nanosecond) + fmt.Sprintf(format, args...)
	}
}

func (x *modelRun) value() uint64 { x.next++; return x.next }

func lineOf(v uint64) []byte {
	b := make([]byte, space.LineBytes)
	binary.LittleEndian.PutUint64(b, v)
	binary.LittleEndian.PutUint64(b[space.LineBytes-8:], v)
	return b
}

// look is the value of a line, whose two words must be equal.
func (x *modelRun) look(who string, line int, b []byte) uint64 {
	first, last := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[space.LineBytes-8:])
	if line < modelLines && first != last {
		x.fail("%s sees line %d begin with %d and end with %d", who, line, first, last)
	}
	return first
}

func (x *modelRun) run() string {
	cores, clients := x.draw("cores", 1, 4), x.draw("clients", 1, 2)
	x.b = newBed(x.t, 3, Config{Threads: 4}, fabric.Config{TornReads: true})
	defer func() { x.b.s.Close(); x.b.f.Close() }()
	for k := range cores {
		if x.blind != nil {
			core.Watch(&x.b.cl.machines[0].workers[k].Core, func(by host.Intruder) bool { return !x.blind(by) })
		}
		x.b.cl.Spawn(0, k, x.core(x.draw("steps of a core", 5, 40), uint64(x.draw("seed", 0, 1<<20))))
	}
	for k := range clients {
		x.b.cl.Spawn(1+k, 0, x.client(x.draw("steps of a client", 5, 60), uint64(x.draw("seed", 0, 1<<20))))
	}
	for x.finished < cores+clients && x.wrong == "" {
		at, ok := x.b.s.NextAt()
		if !ok || at > 50*sim.Millisecond {
			return fmt.Sprintf("%d of %d coroutines finished", x.finished, cores+clients)
		}
		for l := range x.before {
			x.before[l] = x.b.word(0, Addr(l*space.LineBytes))
		}
		x.unlocked = x.b.word(0, lockAt) == 0
		x.committed = x.committed[:0]
		if err := x.b.s.Run(at + 1); err != nil {
			return err.Error()
		}
		for _, o := range x.committed {
			x.check(o)
		}
	}
	return x.wrong
}

// check is after the instant at which a region has committed. Others that commit at the same one
// have nothing to do with its lines.
func (x *modelRun) check(o *modelBody) {
	for l := range o.loads {
		if o.loads[l] && o.loaded[l] != x.before[l] {
			x.fail("a region commits that has loaded %d from line %d, which had %d", o.loaded[l], l, x.before[l])
		}
	}
	if !x.unlocked {
		x.fail("a region commits while the fallback lock is taken")
	}
}

// core is a coroutine that runs regions, and now and then accesses a line without.
func (x *modelRun) core(steps int, seed uint64) func(c *Co) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	return func(c *Co) {
		for range steps {
			line := rnd.IntN(modelLines)
			switch rnd.IntN(10) {
			case 0:
				c.Store(x.b.at(line), lineOf(x.value()))
			case 1:
				x.look("a load", line, append([]byte(nil), c.Load(x.b.at(line), space.LineBytes)...))
			case 2:
				c.LocalCAS(x.b.at(modelLines+rnd.IntN(modelAtomics)), 0, x.value())
			case 3:
				c.Sleep(Time(rnd.IntN(3000)) * sim.Nanosecond)
			default:
				x.region(c, rnd)
			}
		}
		x.finished++
	}
}

func (x *modelRun) region(c *Co, rnd *rand.Rand) {
	var o *modelBody
	n, seed := rnd.IntN(6)+1, rnd.Uint64()
	c.HTM(x.b.lock(), func(r *Region) {
		o = &modelBody{locked: binary.LittleEndian.Uint64(x.b.cl.Mem(0).Bytes(x.b.lock().Addr, 8)) != 0}
		again := rand.New(rand.NewPCG(seed, 2))
		for range n {
			l := again.IntN(len(o.loads))
			if again.IntN(2) == 0 || o.locked && l >= modelLines {
				b := r.Load(x.b.at(l), space.LineBytes)
				v := x.look("a region", l, b)
				switch {
				case o.stores[l] && v != o.stored[l] && !o.locked:
					x.fail("a region sees %d in line %d, where it has stored %d", v, l, o.stored[l])
				case !o.stores[l] && !o.loads[l]:
					o.loads[l], o.loaded[l] = true, v
				case !o.stores[l] && o.loaded[l] != v && !o.locked:
					x.fail("a region sees line %d change from %d to %d", l, o.loaded[l], v)
				}
			} else {
				o.stores[l], o.stored[l] = true, x.value()
				r.Store(x.b.at(l), lineOf(o.stored[l]))
			}
			r.Compute(again.IntN(1500))
		}
	})
	if o.locked {
		return
	}
	for l := range o.stores {
		if o.stores[l] && x.b.word(0, Addr(l*space.LineBytes)) != o.stored[l] {
			x.fail("a region has committed and line %d is not what it stored", l)
		}
	}
	x.committed = append(x.committed, o)
}

// client is a coroutine of another machine.
func (x *modelRun) client(steps int, seed uint64) func(c *Co) {
	rnd := rand.New(rand.NewPCG(seed, 3))
	return func(c *Co) {
		c.Phase(all(phaseExecution))
		for range steps {
			n := rnd.IntN(modelLines) + 1
			from := rnd.IntN(modelLines - n + 1)
			at := x.b.loc(0, Addr(from*space.LineBytes))
			switch rnd.IntN(5) {
			case 0, 1:
				buf := c.Read(at, n*space.LineBytes)
				c.Wait()
				for i := range n {
					x.look("a READ", from+i, buf.B[i*space.LineBytes:])
				}
			case 2, 3:
				var b []byte
				for range n {
					b = append(b, lineOf(x.value())...)
				}
				c.Write(at, b)
			case 4:
				c.FAA(x.b.loc(0, Addr((modelLines+rnd.IntN(modelAtomics))*space.LineBytes)), 1<<40)
			}
			if c.Wait() != nil {
				x.fail("a request failed")
			}
			c.Sleep(Time(rnd.IntN(2000)) * sim.Nanosecond)
		}
		x.finished++
	}
}

func TestRegionsAgainstASequentialModel(t *testing.T) {
	var all HTMCounts
	rapid.Check(t, func(r *rapid.T) {
		x := &modelRun{t: t, draw: func(name string, from, to int) int { return rapid.IntRange(from, to).Draw(r, name) }}
		if wrong := x.run(); wrong != "" {
			r.Fatal(wrong)
		}
		n := x.b.cl.HTMCounts()
		all.Commits, all.DMA, all.Core, all.Fallbacks = all.Commits+n.Commits, all.DMA+n.DMA, all.Core+n.Core, all.Fallbacks+n.Fallbacks
	})
	if all.Commits == 0 || all.DMA == 0 || all.Core == 0 || all.Fallbacks == 0 {
		t.Errorf("the runs have not been everywhere: %+v", all)
	}
	t.Logf("%+v", all)
}

// The model notices regions that miss what RNICs do, or what other cores do.
func TestModelNoticesMissedConflicts(t *testing.T) {
	for name, blind := range map[string]func(host.Intruder) bool{ // order-free: each is looked for alone
		"DMA":   func(by host.Intruder) bool { return by == host.ByDevice },
		"cores": func(by host.Intruder) bool { return by == host.ByCore },
	} {
		found := ""
		for seed := uint64(0); seed < 40 && found == ""; seed++ {
			rnd := rand.New(rand.NewPCG(seed, 4))
			x := &modelRun{t: t, blind: blind, draw: func(_ string, from, to int) int { return from + rnd.IntN(to-from+1) }}
			found = x.run()
		}
		if found == "" {
			t.Errorf("nobody notices that regions do not see conflicts with %s", name)
		}
		t.Logf("%s: %s", name, found)
	}
}
