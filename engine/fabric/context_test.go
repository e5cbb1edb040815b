package fabric

import (
	"testing"

	"drtmx/engine/sim"
)

// lockBed is a machine whose cores come to a context.
func lockBed(t *testing.T) (*Machine, *sim.Sim) {
	s := sim.New(sim.Options{Seed: 1})
	f, err := New(s, Config{Machines: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f.Machine(0), s
}

// Seven queue pairs have a buffer of their own, all others one together
// (thesis §2.2.2).
func TestBuffers(t *testing.T) {
	m, _ := lockBed(t)
	x := m.NICs[0].OpenContext()
	own, shared := 0, map[MMIOBuffer]int{}
	for range 24 {
		if b := x.AllocBuffer(); b == ownBuffer {
			own++
		} else {
			shared[b]++
		}
	}
	if own != 7 || len(shared) != 1 || shared[ownBuffer+1] != 17 {
		t.Errorf("%d queue pairs have a buffer of their own, the others share %v", own, shared)
	}
}

// What a doorbell costs: nothing more through a buffer of one's own, the lock
// through a shared one, and the way of its line from core to core.
func TestSharedBuffer(t *testing.T) {
	m, _ := lockBed(t)
	x := m.NICs[0].OpenContext()
	var b MMIOBuffer
	for b <= ownBuffer {
		if b = x.AllocBuffer(); b == ownBuffer && x.Ring(b, 1, 100, 70) != 170 {
			t.Error("a buffer of one's own costs more than the MMIO")
		}
	}
	atomic, near, far := m.CPU.Atomic, m.CPU.LineTransfer, m.CPU.LineTransfer+m.fab.cost.Cross
	const mmio = 70 * sim.Nanosecond
	us := sim.Microsecond
	steps := []struct {
		what     string
		core     int
		at, done sim.Time
	}{
		{"the first", 0, 1 * us, 1*us + atomic + mmio},
		{"the same core again", 0, 2 * us, 2*us + atomic + mmio},
		{"another of the socket", 1, 3 * us, 3*us + near + mmio},
		{"one of the other socket", 12, 4 * us, 4*us + far + mmio},
		{"while that holds it", 13, 4 * us, 4*us + far + 2*mmio + 2*near},
		{"earlier, as its core's time is behind", 2, 2*us + 500_000, 2*us + 500_000 + near + mmio},
		{"at a turn, behind it", 3, 2*us + 500_000, 2*us + 500_000 + near + 2*mmio + 2*near},
	}
	for _, s := range steps {
		if got := x.Ring(b, s.core, s.at, mmio); got != s.done {
			t.Errorf("%s: done at %d, want %d", s.what, got, s.done)
		}
	}
}

// Turns never overlap, whatever the order in which cores come, and past ones
// are forgotten.
func TestTurnsAreApart(t *testing.T) {
	m, s := lockBed(t)
	r := s.Stream("lock", 0)
	var l spinLock
	for now := sim.Time(0); now < 100*sim.Microsecond; now += sim.Time(r.Uint64n(200_000)) {
		l.forget(now)
		at := now + sim.Time(r.Uint64n(2_000_000))
		done := l.hold(m, int(r.Uint64n(24)), at, 70_000)
		if done < at+70_000 {
			t.Fatalf("done at %d, came at %d", done, at)
		}
		for i := 1; i < len(l.booked); i++ {
			if a, b := l.booked[i-1], l.booked[i]; a.to > b.from || a.from > a.to {
				t.Fatalf("turns %v and %v", a, b)
			}
		}
	}
	l.forget(1 << 60)
	if len(l.booked) != 0 {
		t.Errorf("%d turns are kept", len(l.booked))
	}
}
