package r2

import (
	"errors"
	"slices"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/sim"
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
