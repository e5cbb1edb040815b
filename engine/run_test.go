package engine

import (
	"context"
	"testing"

	"drtmx/engine/experiment"
)

// impatient is a context that ends after it was looked at some times.
type impatient struct {
	context.Context
	looks int
}

func (c *impatient) Err() error {
	if c.looks == 0 {
		return context.Canceled
	}
	c.looks--
	return nil
}

// An interrupt is heard inside a window.
func TestInterruptDoesNotWaitForAWindow(t *testing.T) {
	for _, k := range []experiment.Knobs{
		{"window_ns": "2ms", "warmup_ns": "2ms"},
		{"window_ns": "2ms", "warmup_ns": 0},
	} {
		s := open(t, small(k))
		r := runner{s: s, ctx: &impatient{context.Background(), 3}}
		if err := r.warmup(); err != context.Canceled || s.NowNS() != 3*interruptNS {
			t.Errorf("%v: warm-up: %v at %d ns", k, err, s.NowNS())
		}
		r.ctx = &impatient{context.Background(), 2}
		if err := r.measure(true); err != context.Canceled || s.NowNS() != 5*interruptNS {
			t.Errorf("%v: measured interval: %v at %d ns", k, err, s.NowNS())
		}
	}
}

// What is measured ends with a window or where it was asked to, whatever the slices.
func TestStepsEndWithTheWindow(t *testing.T) {
	s := open(t, small(experiment.Knobs{"window_ns": "50us"}))
	r := runner{s: s, ctx: context.Background()}
	for _, c := range []struct{ until, want int64 }{{1_000_000, 50_000}, {1_000_000, 100_000}, {130_000, 130_000}, {1_000_000, 150_000}} {
		if err := r.step(c.until, func() {}); err != nil || s.NowNS() != c.want {
			t.Fatalf("a step until %d: %v at %d ns, want %d", c.until, err, s.NowNS(), c.want)
		}
	}
}

// A window longer than anybody asked for sets neither how long an automatic warm-up or measured
// interval is, nor when progress is reported.
func TestLongWindowDoesNotSetTheRun(t *testing.T) {
	for _, duration := range []string{"100us", "0"} {
		s := open(t, small(experiment.Knobs{"window_ns": "1s", "warmup_ns": 0, "duration_ns": duration, "check": "off"}))
		reports := 0
		r := runner{s: s, ctx: &impatient{context.Background(), 10_000}, progress: func(string, int, int) { reports++ }}
		if err := r.warmup(); err != nil || s.NowNS() != autoWarmupNS {
			t.Fatalf("warm-up: %v at %d ns", err, s.NowNS())
		}
		if want := warmupShare - openShare + 1; reports != want {
			t.Errorf("%d reports of a warm-up, want each of its %d shares", reports, want)
		}
		s.Mark()
		if err := r.measure(true); err != nil {
			t.Fatalf("measured interval of %s: %v at %d ns", duration, err, s.NowNS())
		}
		if reports < warmupShare-openShare+1+3 {
			t.Errorf("%d reports in all", reports)
		}
	}
}
