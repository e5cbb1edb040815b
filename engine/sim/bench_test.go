package sim_test

import (
	"fmt"
	"testing"

	"drtmx/engine/sim"
	"drtmx/engine/sim/peers/tandem"
)

// rdma is the mixture of delays of a verb's hops.
func rdma(r *sim.Rand) sim.Time {
	switch r.Uint64n(4) {
	case 0:
		return 50*sim.Nanosecond + sim.Time(r.Uint64n(100_000))
	case 1:
		return 5*sim.Nanosecond + sim.Time(r.Uint64n(60_000))
	case 2:
		return 600*sim.Nanosecond + sim.Time(r.Uint64n(300_000))
	}
	return sim.Microsecond + sim.Time(r.Uint64n(2_000_000))
}

// BenchmarkEvent is the hold model: n events are pending and each schedules one.
func BenchmarkEvent(b *testing.B) {
	for _, q := range []struct {
		name string
		kind sim.QueueKind
	}{{"wheel", sim.Wheel}, {"heap", sim.Heap}} {
		for _, n := range []int{100, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", q.name, n), func(b *testing.B) {
				s := sim.New(sim.Options{Queue: q.kind})
				r := s.Stream("bench", 0)
				delays := make([]sim.Time, 65536)
				for i := range delays {
					delays[i] = rdma(r)
				}
				var at uint16
				var k sim.Kind
				k = s.Register("event", func(arg uint32) {
					at++
					s.At(s.Now()+delays[at], k, arg)
				})
				for i := range n {
					s.At(delays[i&0xffff], k, uint32(i))
				}
				runEvents(b, s, uint64(2*n), sim.Microsecond)
				b.ReportAllocs()
				b.ResetTimer()
				runEvents(b, s, uint64(b.N), sim.Microsecond)
			})
		}
	}
}

func runEvents(b *testing.B, s *sim.Sim, n uint64, slice sim.Time) {
	for end := s.Events() + n; s.Events() < end; {
		if err := s.Run(s.Now() + slice); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkProcess is one Sleep: an event, a resume and a park.
func BenchmarkProcess(b *testing.B) {
	for _, n := range []int{1, 100, 4608} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := sim.New(sim.Options{})
			defer s.Close()
			for i := range n {
				r := s.Stream("process", uint64(i))
				s.Go("sleeper", func(p *sim.Proc) {
					for {
						p.Sleep(rdma(r))
					}
				}).WakeAt(0)
			}
			runEvents(b, s, uint64(4*n), sim.Microsecond)
			b.ReportAllocs()
			b.ResetTimer()
			runEvents(b, s, uint64(b.N), sim.Microsecond)
		})
	}
}

// BenchmarkResume is the two switches alone.
func BenchmarkResume(b *testing.B) {
	s := sim.New(sim.Options{})
	defer s.Close()
	p := s.Go("p", func(p *sim.Proc) {
		for {
			p.Park()
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		p.Resume()
	}
}

// BenchmarkTandem is the model that peers/run compares with other simulators.
func BenchmarkTandem(b *testing.B) {
	for _, style := range tandem.Styles {
		b.Run(style.Name, func(b *testing.B) {
			m := style.Make(64, 8)
			defer m.Close()
			m.Run(10_000)
			b.ReportAllocs()
			b.ResetTimer()
			if r := m.Run(uint64(b.N)); r.Err != nil {
				b.Fatal(r.Err)
			}
		})
	}
}

func BenchmarkExp(b *testing.B) {
	r := sim.New(sim.Options{}).Stream("bench", 0)
	var sum sim.Time
	for b.Loop() {
		sum += r.Exp(sim.Microsecond)
	}
	if sum == 0 {
		b.Error("no time passed")
	}
}

func BenchmarkFIFO(b *testing.B) {
	var f sim.FIFO
	var now sim.Time
	for b.Loop() {
		now += 10
		f.Serve(now, 9)
	}
}
