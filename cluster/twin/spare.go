package twin

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Spare hands hidden systems the CPU time that is left over. It works in the
// process alone: a thread of low priority could be starved by other programs while it
// holds a lock of the Go runtime, and the shown systems would wait for it.
//
// Each running system that is shown has a processor of its own, and a hidden one gets
// a slice only if another is idle. A shown system that is late, or runs flat out, could
// still be slowed down (caches, hyperthreads, other programs): then hidden systems run
// in spells and rest in between, and what a shown slice yields in a spell and in a rest
// decides how long the next spell is.
type Spare struct {
	working atomic.Int32 // slices of shown systems that are under way
	virt    atomic.Int64 // virtual time of such slices
	wall    atomic.Int64 // wall time of them, ns
	busyAt  atomic.Int64 // wall clock when a shown system last used all the CPU it got
	ghost   atomic.Int64 // wall clock when a hidden ghost last asked

	mu     sync.Mutex
	hidden int // slices of hidden systems that are under way
	trial  trial
}

const (
	HiddenSlice = 5 * time.Millisecond // a hidden slice is short: a shown one may wait for it
	HiddenWait  = 2 * time.Millisecond // between two tries for a slice
	busyFor     = 300 * time.Millisecond
	ghostFirst  = 10 * time.Millisecond // how long a twin stays behind a ghost that has asked
)

// Busy says that a shown system takes all CPU time that it gets.
func (s *Spare) Busy(now time.Time) { s.busyAt.Store(now.UnixNano()) }

// Shown counts a slice of a shown system of d virtual ns, until end is called.
func (s *Spare) Shown(d int64) (end func()) {
	s.working.Add(1)
	began := time.Now()
	return func() {
		s.working.Add(-1)
		s.virt.Add(d)
		s.wall.Add(int64(time.Since(began)))
	}
}

// Slot gives a hidden system a slice, until done is called, if there is a processor for
// it besides those of the shown systems that run. Without one, done is nil.
func (s *Spare) Slot(now time.Time, processors, shown int, ghost bool) (done func()) {
	if ghost {
		s.ghost.Store(now.UnixNano())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	free := min(max(processors-shown, 1), processors-int(s.working.Load())) - s.hidden
	if !ghost && since(now, &s.ghost) < ghostFirst {
		free--
	}
	if free <= 0 {
		return nil
	}
	if since(now, &s.busyAt) > busyFor {
		s.trial = trial{}
	} else if !s.trial.allow(now, s.virt.Load(), s.wall.Load()) {
		return nil
	}
	s.hidden++
	return func() {
		s.mu.Lock()
		s.hidden--
		s.mu.Unlock()
	}
}

// Wait waits while a shown system takes all CPU time that it gets, so that whatever is done for a hidden one is done on
// spare time too.
func (s *Spare) Wait(ctx context.Context) {
	for ctx.Err() == nil && since(time.Now(), &s.busyAt) < busyFor && s.working.Load() > 0 {
		time.Sleep(HiddenWait)
	}
}

func since(now time.Time, at *atomic.Int64) time.Duration {
	return time.Duration(now.UnixNano() - at.Load())
}

// trial finds out by turns what hidden systems cost the shown ones.
type trial struct {
	spell       bool // hidden systems run
	until       time.Time
	next, rest  time.Duration // how long the next spell and rest are
	virt, wall  int64         // when it began
	undisturbed float64       // virtual ns per ns of a slice in the latest rest
}

const (
	spellLeast = 100 * time.Millisecond
	spellMost  = 4 * time.Second
	restLeast  = 200 * time.Millisecond
	restMost   = 5 * time.Second
	// noticed is the share of its speed that a shown system may lose.
	noticed = 0.05
)

// allow says whether hidden systems run now; virt and wall are those of all slices of
// shown systems so far.
func (t *trial) allow(now time.Time, virt, wall int64) bool {
	if now.Before(t.until) {
		return t.spell
	}
	if t.until.IsZero() { // it begins with a rest, to know what is undisturbed
		t.next, t.rest = spellLeast, restLeast
		t.begin(now, false, virt, wall)
		return false
	}
	speed := float64(virt-t.virt) / float64(max(wall-t.wall, 1))
	if !t.spell {
		t.undisturbed = speed
	} else if speed < (1-noticed)*t.undisturbed {
		t.next, t.rest = max(t.next/2, spellLeast), min(2*t.rest, restMost)
	} else {
		t.next, t.rest = min(2*t.next, spellMost), max(t.rest/2, restLeast)
	}
	t.begin(now, !t.spell, virt, wall)
	return t.spell
}

func (t *trial) begin(now time.Time, spell bool, virt, wall int64) {
	t.spell, t.virt, t.wall = spell, virt, wall
	t.until = now.Add(t.rest)
	if spell {
		t.until = now.Add(t.next)
	}
}
