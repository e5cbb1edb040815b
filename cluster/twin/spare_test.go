package twin

import (
	"testing"
	"time"
)

// A hidden system gets a slice only where a processor is idle, and a ghost before a twin.
func TestSpareTime(t *testing.T) {
	now := time.Now()
	var s Spare
	if s.Slot(now, 2, 1, false) == nil {
		t.Error("one of two processors is idle, and no slice was given")
	}
	if s.Slot(now, 2, 1, false) != nil {
		t.Error("the second hidden slice takes the processor of a shown system")
	}
	s = Spare{}
	end := s.Shown(1)
	if s.Slot(now, 1, 1, false) != nil {
		t.Error("a slice beside that of a shown system on one processor")
	}
	end()
	done := s.Slot(now, 1, 1, false)
	if done == nil {
		t.Fatal("no slice while the shown system waits for its time")
	}
	done()
	if done = s.Slot(now, 2, 1, true); done == nil {
		t.Fatal("no slice for the ghost")
	}
	done()
	if s.Slot(now, 2, 1, false) != nil {
		t.Error("the twin goes before the ghost")
	}
	if s.Slot(now.Add(2*ghostFirst), 2, 1, false) == nil {
		t.Error("the twin waits for a ghost that is level")
	}
}

// Where hidden systems slow down a shown one that needs all it can get, they hardly run;
// where they do not, they run most of the time.
func TestTrialFindsWhatHiddenSystemsCost(t *testing.T) {
	for _, x := range []struct{ cost, least, most float64 }{{0, 0.8, 1}, {0.02, 0.8, 1}, {0.3, 0.001, 0.05}} {
		var tr trial
		var virt, wall, ran int64
		const step, steps = 10 * time.Millisecond, 12_000
		now := time.Now()
		for range steps {
			speed := 6.0
			if tr.allow(now, virt, wall) {
				ran++
				speed *= 1 - x.cost
			}
			now = now.Add(step)
			wall += int64(step)
			virt += int64(speed * float64(step))
		}
		if share := float64(ran) / steps; share < x.least || share > x.most {
			t.Errorf("with a cost of %v hidden systems run %.3f of the time", x.cost, share)
		}
	}
}

// Changes within a second are one.
func TestBurstIsOneChange(t *testing.T) {
	var b Burst
	now := time.Now()
	for i, x := range []struct {
		after time.Duration
		want  int
	}{{0, 2}, {900 * time.Millisecond, 2}, {900 * time.Millisecond, 2}, {1100 * time.Millisecond, 5}, {0, 5}} {
		now = now.Add(x.after)
		if got := b.First(2+i, now); got != x.want {
			t.Errorf("version %d belongs to %d, want %d", 2+i, got, x.want)
		}
	}
}
