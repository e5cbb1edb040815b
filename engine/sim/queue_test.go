package sim

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"
)

func TestEventIs16BytesWithoutPointers(t *testing.T) {
	if n := unsafe.Sizeof(event{}); n != 16 {
		t.Errorf("an event is %d bytes", n)
	}
}

func TestSort(t *testing.T) {
	r := New(Options{Seed: 3}).Stream("sort", 0)
	for _, n := range []int{0, 1, 2, 3, insertionMax, insertionMax + 1, 100, 1000} {
		for _, span := range []uint64{1, 5, 1 << 40} {
			q := make([]event, n)
			for i := range q {
				q[i] = event{t: Time(r.Uint64n(span)), arg: uint32(i)} // in the order of scheduling
			}
			want := slices.Clone(q)
			slices.SortFunc(want, func(a, b event) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.arg, b.arg)) })
			if sortEvents(q); !slices.Equal(q, want) {
				t.Errorf("%d events over %d times are not sorted", n, span)
			}
		}
	}
}

// pair runs the same schedule on both queues. Every event is identified by its
// argument, and every event may schedule more.
type pair struct {
	sims [2]*Sim
	ran  [2][]uint32
	kind Kind
	args uint32
}

func newPair(follow func(s *Sim, k Kind, arg uint32)) *pair {
	p := &pair{}
	for i, q := range []QueueKind{Wheel, Heap} {
		s := New(Options{Queue: q, Trace: true})
		p.kind = s.Register("event", func(arg uint32) {
			p.ran[i] = append(p.ran[i], arg)
			follow(s, p.kind, arg)
		})
		p.sims[i] = s
	}
	return p
}

func (p *pair) at(d Time) {
	p.args++
	for _, s := range p.sims {
		s.At(s.Now()+d, p.kind, p.args)
	}
}

func (p *pair) run(until Time) error {
	for _, s := range p.sims {
		if err := s.Run(until); err != nil {
			return err
		}
	}
	a, aOK := p.sims[0].NextAt()
	b, bOK := p.sims[1].NextAt()
	if a != b || aOK != bOK {
		return fmt.Errorf("after %d ps the wheel's next event is %d %v, the heap's %d %v", until, a, aOK, b, bOK)
	}
	if p.sims[0].TraceHash() != p.sims[1].TraceHash() {
		n := 0
		for n < min(len(p.ran[0]), len(p.ran[1])) && p.ran[0][n] == p.ran[1][n] {
			n++
		}
		return fmt.Errorf("after %d ps the queues differ from event %d on", until, n)
	}
	return nil
}

// TestHoldModel keeps n events pending: each event schedules one. Both queues
// must give the same sequence whatever the distribution of the increments.
func TestHoldModel(t *testing.T) {
	increments := map[string]func(r *Rand) Time{
		"exp":  func(r *Rand) Time { return r.Exp(1000 * Nanosecond) },
		"uni":  func(r *Rand) Time { return Time(r.Uint64n(2000 * 1000)) },
		"ties": func(r *Rand) Time { return []Time{0, 10_000, 700_000, 2_000_000}[r.Intn(4)] },
		"zero": func(r *Rand) Time { return Time(r.Uint64n(40)) * 30 },
		"far": func(r *Rand) Time {
			if r.PPM(20_000) {
				return Millisecond + Time(r.Uint64n(3))
			}
			return r.Exp(500 * Nanosecond)
		},
		"edge": func(r *Rand) Time { return buckets<<bucketShift - 2000 + Time(r.Uint64n(4000)) },
	}
	events := 100_000
	if testing.Short() {
		events = 20_000
	}
	for name, draw := range increments {
		for _, n := range []int{1, 10, 1000, 20_000} {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				streams := make(map[*Sim]*Rand)
				left := make(map[*Sim]int)
				p := newPair(func(s *Sim, k Kind, arg uint32) {
					if left[s]--; left[s] >= 0 {
						s.At(s.Now()+draw(streams[s]), k, arg)
					}
				})
				for _, s := range p.sims {
					streams[s] = s.Stream("hold", uint64(n))
					left[s] = events
					for i := range n {
						s.At(draw(streams[s]), p.kind, uint32(i))
					}
				}
				if err := p.run(Forever); err != nil {
					t.Fatal(err)
				}
				if got, want := len(p.ran[0]), events+n; got != want {
					t.Fatalf("%d events ran, want %d", got, want)
				}
			})
		}
	}
}

func TestEqualTimesRunInScheduleOrder(t *testing.T) {
	for _, q := range []QueueKind{Wheel, Heap} {
		s := New(Options{Queue: q})
		var got []uint32
		var k Kind
		k = s.Register("event", func(arg uint32) {
			got = append(got, arg)
			if arg < 10 { // scheduled from within the same instant: behind the others
				s.At(s.Now(), k, arg+1000)
			}
		})
		for i := range uint32(200) {
			s.At(7*Nanosecond, k, i)
		}
		if err := s.Run(Second); err != nil {
			t.Fatal(err)
		}
		if len(got) != 210 || !slices.IsSorted(got) {
			t.Errorf("queue %d: order %v", q, got)
		}
	}
}

// An event that waited in the far heap was scheduled before one of the same time
// that went straight into its bucket, and must run before it.
func TestFarEventsKeepTheirOrder(t *testing.T) {
	for _, at := range []Time{50 * Microsecond, 50*Microsecond + 1023, Second} {
		for before := Time(0); before < 10*Microsecond; before += 333_333 {
			s := New(Options{})
			var got []uint32
			late := s.Register("late", func(arg uint32) { got = append(got, arg) })
			early := s.Register("early", func(uint32) { s.At(at, late, 2) })
			s.At(at, late, 1)
			s.At(at-before, early, 0)
			if err := s.Run(2 * Second); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, []uint32{1, 2}) {
				t.Fatalf("scheduled %d ps before %d ps: order %v", before, at, got)
			}
		}
	}
}

// A run that stops before a distant event must not have opened its bucket.
func TestInsertBetweenRuns(t *testing.T) {
	for _, far := range []Time{2 * Microsecond, 20 * Microsecond, Second} {
		p := newPair(func(*Sim, Kind, uint32) {})
		p.at(far)
		for i := Time(1); i <= 100; i++ {
			if err := p.run(i * 10 * Nanosecond); err != nil {
				t.Fatal(err)
			}
			p.at(0)
			p.at(5 * Nanosecond)
			p.at(far)
			p.at(200)
			if w := p.sims[0].line.wheel; w.cur > p.sims[0].Now()>>bucketShift {
				t.Fatalf("at %d ps the wheel has opened bucket %d", p.sims[0].Now(), w.cur)
			}
		}
		if err := p.run(3 * Second); err != nil {
			t.Fatal(err)
		}
		if len(p.ran[0]) != 401 {
			t.Fatalf("%d events ran", len(p.ran[0]))
		}
	}
}

func TestRunStopsBeforeUntil(t *testing.T) {
	for _, q := range []QueueKind{Wheel, Heap} {
		s := New(Options{Queue: q})
		n := 0
		k := s.Register("event", func(uint32) { n++ })
		for _, at := range []Time{0, 99, 100, 101} {
			s.At(at, k, 0)
		}
		for _, step := range []struct {
			until Time
			n     int
		}{{0, 0}, {100, 2}, {100, 2}, {101, 3}, {Second, 4}} {
			if err := s.Run(step.until); err != nil || n != step.n || s.Now() != step.until {
				t.Errorf("queue %d, run until %d: %d events at %d ps, error %v; want %d", q, step.until, n, s.Now(), err, step.n)
			}
		}
		s.At(2*Second, k, 0)
		if err := s.Run(Forever); err != nil || s.Now() != 2*Second || s.Events() != 5 {
			t.Errorf("queue %d, run for ever: %d events, now %d ps, error %v", q, s.Events(), s.Now(), err)
		}
		if at, ok := s.NextAt(); ok {
			t.Errorf("queue %d: an event at %d ps is left", q, at)
		}
	}
}

func TestEventsNearTheEndOfTime(t *testing.T) {
	p := newPair(func(*Sim, Kind, uint32) {})
	p.at(math.MaxInt64 - 1)
	p.at(math.MaxInt64 - 1025)
	p.at(1)
	if err := p.run(math.MaxInt64 - 1); err != nil {
		t.Fatal(err)
	}
	if err := p.run(Forever); err != nil {
		t.Fatal(err)
	}
	if want := []uint32{3, 2, 1}; !slices.Equal(p.ran[0], want) {
		t.Errorf("order %v, want %v", p.ran[0], want)
	}
}

// The wheel's memory is that of the events that are pending, not that of the
// largest bucket times the number of buckets.
func TestWheelMemoryIsBounded(t *testing.T) {
	s := New(Options{})
	k := s.Register("event", func(uint32) {})
	for range 3 * buckets {
		for range 100 {
			s.At(s.Now()+1<<bucketShift, k, 0)
		}
		if err := s.Run(s.Now() + 2<<bucketShift); err != nil {
			t.Fatal(err)
		}
	}
	if n, m := len(s.line.wheel.events), cap(s.line.wheel.open); n > 101 || m > 256 {
		t.Errorf("%d places and room for %d open events after bursts of 100", n, m)
	}
}

// FuzzQueues lets both queues follow a random script of insertions and runs.
func FuzzQueues(f *testing.F) {
	f.Add([]byte{0, 1, 0, 5, 0, 9, 1, 3, 0, 0, 1, 200})
	f.Add([]byte{2, 255, 2, 1, 1, 255, 3, 7, 1, 1, 3, 7, 1, 255, 1, 255})
	r := New(Options{Seed: 1}).Stream("script", 0)
	for range 20 {
		b := make([]byte, 0, 800)
		for range 100 {
			b = binary.LittleEndian.AppendUint64(b, r.Uint64())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		p := newPair(func(s *Sim, k Kind, arg uint32) {
			if arg%3 == 0 && arg < 1<<20 {
				s.At(s.Now()+Time(arg%5)*400, k, arg+1<<20)
			}
		})
		for ; len(script) >= 2; script = script[2:] {
			x := Time(script[1])
			switch now := p.sims[0].Now(); script[0] % 6 {
			case 0:
				p.at(x)
			case 1:
				if err := p.run(now + x*Nanosecond/8); err != nil {
					t.Fatal(err)
				}
			case 2:
				p.at(x << bucketShift >> 3)
			case 3:
				p.at((buckets-128+x)<<bucketShift - 1)
			case 4:
				p.at(x * x * Microsecond)
			case 5:
				if err := p.run(now + x*Microsecond); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := p.run(Forever); err != nil {
			t.Fatal(err)
		}
	})
}
