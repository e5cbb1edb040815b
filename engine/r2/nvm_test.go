package r2

import (
	"bytes"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/sim"
)

// slowDevice takes a line every 100 ns.
type slowDevice struct {
	free   sim.Time
	writes int
}

func (d *slowDevice) Read(now sim.Time, _ uint64) sim.Time { return now + 200*sim.Nanosecond }
func (d *slowDevice) Room(uint64) sim.Time                 { return d.free }
func (d *slowDevice) Write(now sim.Time, _ uint64) sim.Time {
	now = max(now, d.free)
	d.free = now + 100*sim.Nanosecond
	d.writes++
	return now
}

// StoreNT returns when the core's buffers have everything and Fence when memory
// has; a cached store needs Flush before. The core is busy meanwhile.
func TestNonTemporalStoresAndFence(t *testing.T) {
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	d := &slowDevice{}
	f, err := fabric.New(s, fabric.Config{Profile: p, Machines: 2, TornReads: true, NVM: func(m, k int, _ *profile.NodeType) (host.Device, error) {
		if m == 0 && k == 0 {
			return d, nil
		}
		return &slowDevice{}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cl, err := New(s, f, Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, err := cl.Mem(0).Alloc(host.Alloc{Name: "nvm", Bytes: 1 << 20, NVM: true})
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("nontemporal"), 128)[:20*64]
	finished := false
	cl.Spawn(0, 0, func(c *Co) {
		c.Fence() // nothing to wait for
		begin := c.Now()
		c.StoreNT(a, text)
		stored := c.Now()
		if got := stored - begin; got < 7*100*sim.Nanosecond || got > 1000*sim.Nanosecond {
			t.Errorf("20 lines into 12 buffers took %d ps", got)
		}
		if c.Fence(); d.writes != 20 || c.Now()-stored < 11*100*sim.Nanosecond {
			t.Errorf("fence after %d ps with %d lines in memory", c.Now()-stored, d.writes)
		}
		if !bytes.Equal(c.Load(a, len(text)), text) {
			t.Error("other bytes than were stored")
		}
		c.Store(a+4096, text[:128])
		if c.Fence(); d.writes != 20 {
			t.Error("a fence writes cached lines back")
		}
		c.Flush(a+4096, 128)
		if c.Fence(); d.writes != 22 {
			t.Errorf("%d lines in memory after flush and fence", d.writes)
		}
		finished = true
	})
	if err := s.Run(sim.Millisecond); err != nil {
		t.Fatal(err)
	}
	if !finished {
		t.Error("the coroutine did not finish")
	}
	if busy := cl.BusyPS(0, 0); busy < 18*100*sim.Nanosecond {
		t.Errorf("the core was busy for %d ps", busy)
	}
}
