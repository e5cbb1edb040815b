package sim

import (
	"slices"
	"testing"
)

// Clocks of machines share one order, and each has its own handlers, processes, count and trace.
func TestMachines(t *testing.T) {
	s := New(Options{Trace: true})
	defer s.Close()
	var order []string
	note := func(name string) Handler { return func(uint32) { order = append(order, name) } }
	a, b := s.Machine(0), s.Machine(1)
	if s.Machine(0) != a || a == b {
		t.Fatal("a machine has one clock, and two machines have two")
	}
	ka, kb, ks := a.Register("a", note("a")), b.Register("b", note("b")), s.Register("s", note("s"))
	a.At(20, ka, 0)
	b.At(10, kb, 0)
	s.At(15, ks, 0)
	b.Go("p", func(p *Proc) {
		p.Sleep(5)
		order = append(order, "p")
	}).WakeAt(12)
	if err := s.Run(30); err != nil {
		t.Fatal(err)
	}
	if got := len(order); got != 4 || order[0] != "b" || order[1] != "s" || order[2] != "p" || order[3] != "a" {
		t.Errorf("ran %v", order)
	}
	if s.Events() != 5 || a.Events() != 1 || b.Events() != 3 {
		t.Errorf("%d events in all, %d and %d of the machines, want 5, 1 and 3", s.Events(), a.Events(), b.Events())
	}
	if a.Now() != 30 || a.TraceHash() == b.TraceHash() || a.TraceHash() == 0 {
		t.Errorf("at %d the traces are %x and %x", a.Now(), a.TraceHash(), b.TraceHash())
	}
}

// The trace of a simulation depends on which machine had which events.
func TestTraceTellsMachines(t *testing.T) {
	hash := func(first, second int) uint64 {
		s := New(Options{Trace: true})
		defer s.Close()
		for _, m := range []int{first, second} {
			c := s.Machine(m)
			c.At(Time(10+m), c.Register("e", func(uint32) {}), 7)
		}
		if err := s.Run(Forever); err != nil {
			t.Fatal(err)
		}
		return s.TraceHash()
	}
	if hash(0, 1) != hash(1, 0) {
		t.Error("the trace depends on which machine registered first")
	}
	other := New(Options{Trace: true})
	defer other.Close()
	c := other.Machine(1)
	k := c.Register("e", func(uint32) {})
	c.At(10, k, 7)
	c.At(11, k, 7)
	if err := other.Run(Forever); err != nil {
		t.Fatal(err)
	}
	if hash(0, 1) == other.TraceHash() {
		t.Error("the trace does not tell which machine had an event")
	}
}

// Of one time the simulation's own events come first, then a machine's own as they were scheduled, then messages by the machine that
// sent them, as they were sent.
func TestOrderOfOneTime(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	var order []uint32
	note := func(arg uint32) { order = append(order, arg) }
	a, b, c := s.Machine(0), s.Machine(1), s.Machine(2)
	ka, ks := a.Register("hears", note), s.Register("all", note)
	c.Post(a, 1000, ka, 6)
	c.Post(a, 1000, ka, 7)
	a.At(1000, ka, 2)
	b.Post(a, 1000, ka, 4)
	s.At(1000, ks, 1)
	b.Post(a, 1000, ka, 5)
	k := a.Register("schedules", func(uint32) { a.At(a.Now(), ka, 3) })
	a.At(1000, k, 0)
	a.Post(a, 900, ka, 0)
	if err := s.Run(Forever); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(order, []uint32{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("the order is %v", order)
	}
}
