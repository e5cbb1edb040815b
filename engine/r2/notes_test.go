package r2

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/sim"
	"drtmx/engine/sim/cputime"
)

// notes are those of a reply.
func notes(r *Reply) (all []uint64) {
	for note, ok := r.Note(); ok; note, ok = r.Note() {
		all = append(all, note)
	}
	return all
}

// checkNotes holds the notes of a reply against what its handlers have written.
func checkNotes(t *testing.T, r *Reply, want ...uint64) {
	t.Helper()
	if got := notes(r); !slices.Equal(got, want) {
		t.Errorf("the notes %x, want %x", got, want)
	}
}

// What has no answer has no notes, and they cost nothing: neither time nor a byte.
func TestNotesComeWithAnswersAlone(t *testing.T) {
	run := func(annotates bool) (hash uint64, ended Time) {
		b := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
		b.cl.handle(3, func(c *Co, _ Peer, req, rep []byte) int {
			if annotates {
				c.Annotate(uint64(req[0]))
			}
			return copy(rep, req)
		})
		b.cl.Spawn(0, 0, func(c *Co) {
			c.Phase(all(phaseExecution))
			r := c.Call(1, 3, []byte{7})
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
			if got := notes(r); annotates != slices.Equal(got, []uint64{7}) {
				t.Errorf("the notes %d", got)
			}
			c.Reset() // the next replies are in this one's memory
			c.Phase(phaseExecution, Mode{Passive: true})
			if r := c.Call(1, 3, []byte{8}); r != nil {
				t.Error("a passive call has a reply")
			}
			c.Phase(all(phaseExecution))
			c.Sleep(20 * sim.Microsecond)
			r = c.Call(1, 3, []byte{9})
			if err := c.Wait(); !errors.Is(err, ErrUnreachable) {
				t.Error(err)
			}
			checkNotes(t, r)
			ended = c.Now()
		})
		b.run(10 * sim.Microsecond)
		b.crash(1)
		b.run(sim.Millisecond)
		return b.s.TraceHash(), ended
	}
	with, at := run(true)
	if without, then := run(false); with != without || at != then || at == 0 {
		t.Errorf("trace %x until %d ps with notes, %x until %d without", with, at, without, then)
	}
}

// annotatedCalls has coroutines call each other's machines, one request at a time. Handlers make so many notes.
func annotatedCalls(t testing.TB, machines, each int) (s *sim.Sim, done *int) {
	s = sim.New(sim.Options{Seed: 1})
	f, err := fabric.New(s, fabric.Config{Machines: machines})
	if err != nil {
		t.Fatal(err)
	}
	cl, err := New(s, f, Config{Threads: 4, Coroutines: 8})
	if err != nil {
		t.Fatal(err)
	}
	cl.handle(3, func(c *Co, _ Peer, req, rep []byte) int {
		for i := range each {
			c.Annotate(uint64(i))
		}
		return copy(rep, req)
	})
	done = new(int)
	for m := range machines {
		for i := range 32 {
			cl.Spawn(m, i%4, func(c *Co) {
				c.Phase(phaseExecution, Mode{Outstanding: true, Doorbell: true})
				for req := make([]byte, 16); ; *done++ {
					c.Reset()
					c.Call((m+1+c.Rand().Intn(machines-1))%machines, 3, req)
					if err := c.Wait(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	return s, done
}

// Replies keep the memory of their notes.
func TestNotesAllocateNothing(t *testing.T) {
	s, done := annotatedCalls(t, 4, 3)
	defer s.Close()
	step := func() {
		if err := s.Run(s.Now() + 50*sim.Microsecond); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		step()
	}
	before := *done
	allocs := testing.AllocsPerRun(20, step)
	if per := allocs * 21 / float64(*done-before); per > 0.001 {
		t.Errorf("%.4f allocations per call", per)
	}
}

// BenchmarkCall reports the CPU time of a call with a small request and reply.
func BenchmarkCall(b *testing.B) {
	for _, each := range []int{0, 1, 10} {
		b.Run(fmt.Sprintf("%d-notes", each), func(b *testing.B) {
			s, done := annotatedCalls(b, 4, each)
			defer s.Close()
			s.Run(sim.Millisecond)
			b.ReportAllocs()
			b.ResetTimer()
			from, start := *done, cputime.Now()
			for b.Loop() {
				if err := s.Run(s.Now() + 100*sim.Microsecond); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cputime.Now()-start)/float64(*done-from), "cpu-ns/call")
		})
	}
}
