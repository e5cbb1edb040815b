package r2

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

type listener struct {
	phases   []metrics.Phase
	verbs    []VerbEvent
	services []ServiceEvent
}

func (l *listener) Phase(_ uint32, _ Time, p metrics.Phase) { l.phases = append(l.phases, p) }

func (l *listener) Verb(v *VerbEvent) { l.verbs = append(l.verbs, *v) }

func (l *listener) Served(s *ServiceEvent) { l.services = append(l.services, *s) }

// An observer sees every request once, with the time that its coroutine saw, and changes nothing.
func TestObserver(t *testing.T) {
	run := func(o Observer) (hash uint64) {
		b := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
		b.echo(map[uint64]int{})
		b.cl.Observe(o)
		b.cl.Spawn(0, 0, func(c *Co) {
			c.Phase(all(phaseLock))
			l := c.List(b.loc(1, 64), true)
			l.CAS(b.loc(1, 64), 0, 9)
			l.Read(b.loc(1, 64), 16)
			l.Post()
			c.Wait()
			c.Phase(all(phaseLogging))
			c.Call(1, 3, make([]byte, 24))
			c.Wait()
			c.Phase(phaseCommit, Mode{Outstanding: true, Passive: true})
			c.Call(1, 3, make([]byte, 8))
			c.Write(b.loc(1, 0), make([]byte, 40))
			c.Phase(all(phaseExecution))
			c.Read(b.loc(1, 0), 8)
			c.Wait()
		})
		b.run(100 * sim.Microsecond)
		return b.s.TraceHash()
	}
	var l listener
	if run(&l) != run(nil) {
		t.Error("the run differs when it is observed")
	}
	want := []VerbEvent{
		{Phase: phaseLock, Op: fabric.CompareSwap, Bytes: 8},
		{Phase: phaseLock, Op: fabric.Read, Bytes: 16},
		{Phase: phaseLogging, Op: fabric.Send, RPC: 3, Bytes: 24},
		{Phase: phaseCommit, Op: fabric.Send, RPC: 3, Bytes: 8, Passive: true},
		{Phase: phaseCommit, Op: fabric.Write, Bytes: 40, Passive: true},
		{Phase: phaseExecution, Op: fabric.Read, Bytes: 8},
	}
	if len(l.verbs) != len(want) || len(l.phases) != 4 {
		t.Fatalf("saw %d verbs %+v, %d phases", len(l.verbs), l.verbs, len(l.phases))
	}
	for i, w := range want {
		v := l.verbs[i]
		if v.Phase != w.Phase || v.Op != w.Op || v.RPC != w.RPC || v.Bytes != w.Bytes || v.Passive != w.Passive || v.From != 0 || v.To != 1 {
			t.Errorf("verb %d is %+v, want %+v", i, v, w)
		}
		if v.Done < v.Post || !v.Passive && v.Done-v.Post < sim.Microsecond {
			t.Errorf("verb %d took from %d to %d", i, v.Post, v.Done)
		}
		if sum := v.Stamp.Total(); sum != v.Done-v.Post && (sum != 0 || !v.Passive && v.Op != fabric.CompareSwap) {
			t.Errorf("verb %d took %d ps, its milestones %d", i, v.Done-v.Post, sum)
		}
	}
	// A handler's time lies within that of its call, whoever waits for it.
	if len(l.services) != 2 {
		t.Fatalf("saw handlers %+v", l.services)
	}
	for i, k := range []int{2, 3} {
		s, v := l.services[i], l.verbs[k]
		if s.Call != v.Call || s.Co != v.Co || s.Machine != 1 || s.RPC != 3 || s.Begin <= v.Post || s.End < s.Begin || !v.Passive && s.End >= v.Done {
			t.Errorf("call %+v was served as %+v", v, s)
		}
	}
}
