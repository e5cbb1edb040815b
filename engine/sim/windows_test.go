package sim

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// ring is machines that have events of their own and send each other messages, of which many are at one time. What happens on a machine
// depends on the order of its events.
type ring struct {
	s     *Sim
	state []uint64 // by machine
	kinds []Kind
	least Time
	left  []int
}

func newRing(machines, events int, o Options, least Time) *ring {
	r := &ring{s: New(o), state: make([]uint64, machines), kinds: make([]Kind, machines), left: make([]int, machines), least: least}
	for m := range machines {
		c := r.s.Machine(m)
		r.left[m] = events
		r.kinds[m] = c.Register("hop", func(arg uint32) { r.event(m, arg) })
		for k := range 4 {
			c.At(Time(k*7), r.kinds[m], uint32(k))
		}
		c.Go("sleeper", func(p *Proc) {
			for range events / 4 {
				p.Sleep(Time(1+r.state[m]%5) * r.least / 3)
				r.state[m] = mix(r.state[m] + 99)
			}
		}).WakeAt(3)
	}
	k := r.s.Register("all", func(arg uint32) {
		for m := range machines { // all machines stand still
			r.state[m] = mix(r.state[m] ^ r.state[(m+1)%machines])
		}
	})
	for i := range 5 {
		r.s.At(Time(i*i)*least+1, k, 0)
	}
	return r
}

func (r *ring) event(m int, arg uint32) {
	c := r.s.Machine(m)
	r.state[m] = mix(r.state[m] ^ uint64(arg) ^ uint64(c.Now()))
	if r.left[m]--; r.left[m] < 0 {
		return
	}
	x := r.state[m]
	if to := int(x % uint64(len(r.state))); x%3 != 0 && to != m {
		c.Post(r.s.Machine(to), c.Now()+r.least+Time(x>>8%4)*r.least/2, r.kinds[to], arg+1)
		return
	}
	c.At(c.Now()+Time(x>>16%3)*r.least/4, r.kinds[m], arg+2)
}

func (r *ring) run(t interface{ Fatal(...any) }, slices int) string {
	defer r.s.Close()
	for i := range slices {
		if err := r.s.Run(Time(1+i) * 400 * r.least / Time(slices)); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%d events, trace %x, state %x at %d", r.s.Events(), r.s.TraceHash(), r.state, r.s.Now())
}

// However a simulation is spread over its host, the same happens.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		machines, seed := rapid.IntRange(2, 9).Draw(t, "machines"), rapid.Uint64().Draw(t, "seed")
		least := Time(rapid.SampledFrom([]int{12, 251_700}).Draw(t, "least"))
		system := func(q QueueKind) *ring {
			r := newRing(machines, 120, Options{Seed: seed, Trace: true, Queue: q}, least)
			for m := range r.state {
				r.state[m] = mix(seed + uint64(m))
			}
			return r
		}
		want := system(Wheel).run(t, 1)
		for range 4 {
			r := system(rapid.SampledFrom([]QueueKind{Wheel, Heap}).Draw(t, "queue"))
			o := Spread{Workers: rapid.IntRange(1, 9).Draw(t, "workers"), Lookahead: Time(rapid.Int64Range(1, int64(least)).Draw(t, "lookahead")), Always: rapid.Bool().Draw(t, "always")}
			r.s.Spread(o)
			if got := r.run(t, rapid.IntRange(1, 7).Draw(t, "slices")); got != want {
				t.Fatalf("%+v: %s\nwant %s", o, got, want)
			}
		}
	})
}

// The first failure counts, and of several at one time that of the first machine.
func TestFirstFailure(t *testing.T) {
	for workers := range 4 {
		s := New(Options{})
		defer s.Close()
		for m := range 4 {
			c := s.Machine(m)
			k := c.Register("fails", func(uint32) {
				if m == 1 {
					panic("machine 1")
				}
				c.Fail(errors.New("another"))
			})
			c.At([]Time{40, 30, 30, 35}[m], k, 0)
		}
		s.Spread(Spread{Workers: workers, Lookahead: 50, Always: workers > 0})
		var p *PanicError
		if err := s.Run(100); !errors.As(err, &p) || p.Value != "machine 1" {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// A message that takes less than messages do at least would change what is past.
func TestEarlyMessage(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	a, b := s.Machine(0), s.Machine(1)
	kb := b.Register("hears", func(uint32) {})
	a.At(10, a.Register("says", func(uint32) { a.Post(b, 15, kb, 0) }), 0)
	s.Spread(Spread{Lookahead: 100, Always: true})
	if err := s.Run(1000); err == nil {
		t.Error("no error")
	}
}
