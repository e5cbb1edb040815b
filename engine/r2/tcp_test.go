package r2

import (
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/sim"
)

func vale(t *testing.T) fabric.Config {
	t.Helper()
	p, err := profile.Load("vale")
	if err != nil {
		t.Fatal(err)
	}
	return fabric.Config{Profile: p}
}

// Over TCP too: also where an impatient sender repeats what TCP will deliver.
func TestRPCExactlyOnceOverTCP(t *testing.T) {
	fc := vale(t)
	exactlyOnce(t, 100*sim.Millisecond, Config{}, fc)
	fc.LossPPM = 50_000
	exactlyOnce(t, 10_000*sim.Millisecond, Config{}, fc)
	exactlyOnce(t, 10_000*sim.Millisecond, Config{ResendAfter: 100 * sim.Microsecond}, fc)
}

// A lone call costs each core one message sent and one received.
func TestKernelIsChargedToTheCores(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 1}, vale(t))
	b.echo(map[uint64]int{})
	b.run(100 * sim.Microsecond)
	before := [2]Time{b.cl.BusyPS(0, 0), b.cl.BusyPS(1, 0)}
	var took Time
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		start := c.Now()
		c.Call(1, 3, make([]byte, 8))
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		took = c.Now() - start
	})
	b.run(1000 * sim.Microsecond)
	tcp := b.f.TCP()
	kernel := tcp.Send(16) + tcp.Receive(16)
	for m := range 2 {
		if busy := b.cl.BusyPS(m, 0) - before[m]; busy < kernel || busy > kernel+3*sim.Microsecond {
			t.Errorf("machine %d was busy for %d ps, %d of it in the kernel", m, busy, kernel)
		}
	}
	if took < 2*kernel {
		t.Errorf("a round trip took %d ps, %d of it in the kernel", took, 2*kernel)
	}
}

// One-sided calls come back with an error that says what to do.
func TestNoOneSidedOverTCP(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 2, Coroutines: 1}, vale(t))
	var got []error
	b.cl.Spawn(0, 1, func(c *Co) {
		for _, post := range []func(){
			func() { c.Read(b.loc(1, 0), 8) },
			func() { c.Write(b.loc(1, 0), make([]byte, 200)) },
			func() { c.CAS(b.loc(1, 0), 0, 1) },
			func() { c.FAA(b.loc(1, 0), 1) },
			func() {
				l := c.ListVia(c.Route(b.loc(1, 0), true))
				l.Write(b.loc(1, 0), []byte{1})
				l.Read(b.loc(1, 0), 8)
				l.Post()
			},
		} {
			c.Phase(all(phaseExecution))
			post()
			got = append(got, c.Wait())
		}
	})
	b.run(sim.Millisecond)
	for i, err := range got {
		if err == nil || !strings.Contains(err.Error(), "vale have no RDMA; use Call") {
			t.Errorf("post %d: %v", i, err)
		}
	}
	if len(got) != 5 || b.word(1, 0) != 0 || b.cl.machines[0].workers[1].buffers.InUse() != 0 {
		t.Errorf("%d of 5 posts came back, the word is %d, buffers are lost", len(got), b.word(1, 0))
	}
	for _, c := range []Config{{Transport: Writes}, {Transport: Hybrid}, {SharedContext: true}} {
		if _, err := New(b.s, b.f, c); err == nil || !strings.Contains(err.Error(), "no RDMA") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
