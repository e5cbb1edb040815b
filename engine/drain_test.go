package engine

import (
	"context"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/history"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// A drain that does not end is given up when its budget is spent: the numbers stay, the checks are
// incomplete, and one line says what is under way.
func TestDrainIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		spec experiment.Spec
		lock bool
		want []string
	}{
		"set":       {stuck(experiment.Knobs{"drain_ns": "50us"}), true, []string{"given up after 0.05 ms (drain_ns) with 4 transactions under way: ", "rotate in execution (machines 0-1, thread 0, at attempt ", "raise drain_ns"}},
		"automatic": {stuck(nil), true, []string{"given up", "with 4 transactions under way: "}},
		"verbs":     {small(experiment.Knobs{"workload": "micro-read", "drain_ns": "100ns"}), false, []string{"given up after 0.0001 ms (drain_ns) with ", " requests under way: ", " of machine 0"}},
		"barrier":   {stuck(experiment.Knobs{"drain_ns": "50us", "preset": "fasst"}), true, []string{"a change of knobs that waits for them"}},
	} {
		s := open(t, c.spec)
		advance(t, s, 30_000)
		if c.lock {
			stall(t, s)
		}
		advance(t, s, 10_000)
		if name == "barrier" {
			change(t, s, experiment.Knobs{"preset": "drtm+h"})
		}
		before := s.Result()
		if err := s.Drain(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := s.Result()
		if s.State() != StateDrained || r.Commits != before.Commits || r.Commits == 0 || r.VirtualNS != before.VirtualNS || r.Throughput != before.Throughput || r.Digest == "" {
			t.Errorf("%s: %s, %d commits in %d ns, before %d in %d ns", name, s.State(), r.Commits, r.VirtualNS, before.Commits, before.VirtualNS)
		}
		text := r.Undrained()
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %q", name, want, text)
			}
		}
		if r.Checks.OK != history.Undecided || r.Checks.Why() != text || strings.Contains(text, "\n") || !strings.Contains(r.String(), "undecided: "+text) {
			t.Errorf("%s: %+v\n%s", name, r.Checks, r)
		}
		if r.Drain.NS <= 0 || r.Drain.NS > r.Drain.BudgetNS {
			t.Errorf("%s: %+v", name, r.Drain)
		}
	}
}

// The automatic budget follows what requests took, and what those under way have taken.
func TestDrainBudget(t *testing.T) {
	if r := mustRun(t, small(nil)); r.Drain == nil || r.Drain.BudgetNS != leastDrain/sim.Nanosecond || r.Drain.NS <= 0 || r.Drain.NS > 1_000_000 || r.Undrained() != "" {
		t.Errorf("%+v", r.Drain)
	}
	if r := mustRun(t, small(experiment.Knobs{"check": "off"})); r.Drain != nil || r.Undrained() != "" {
		t.Errorf("not drained, and yet %+v", r.Drain)
	}
	s := open(t, crowded(experiment.Knobs{"check": "full", "duration_ns": "5ms"}))
	advance(t, s, 5_000_000)
	if got, least := s.drainBudget(), sim.Time(drainFactor*3*sim.Millisecond); got < least || got > drainFactor*5*sim.Millisecond {
		t.Errorf("a budget of %d ps, where most requests have been under way for 5 ms", got)
	}
	for timeout, want := range map[string]sim.Time{"10ms": 50 * sim.Millisecond, "1ms": leastDrain} { // where attempts wait, several of the longest waits
		if got := open(t, small(experiment.Knobs{"cc": "2pl", "2pl.timeout_ns": timeout})).drainBudget(); got != want {
			t.Errorf("2pl.timeout_ns=%s: a budget of %d ps, want %d", timeout, got, want)
		}
	}
	for k, want := range map[string]sim.Time{"fault.drop": leastSlowDrain, "torn_reads": leastDrain} {
		set := experiment.Knobs{"torn_reads": true}
		if k == "fault.drop" {
			set[k] = 0.01
		}
		if got := open(t, small(set)).drainBudget(); got != want {
			t.Errorf("%v: %d ps", set, got)
		}
	}
}

// A drain waits for threads that share a core with a worker, not for suspended ones, and one that
// is given up tells of them.
func TestDrainWaitsForSharedThreads(t *testing.T) {
	for _, c := range []struct {
		work sim.Time
		want string
	}{{0, ""}, {300 * sim.Microsecond, ""}, {sim.Second, "1 threads in the background at work"}} {
		s := open(t, small(experiment.Knobs{"workload": "micro-read"}))
		trainer := s.cl.SpawnShared(0, 0, "trainer", func(co *r2.Co) {
			for {
				co.Suspend()
				for end := co.BusyPS() + c.work; co.BusyPS() < end; {
					co.Compute(1000)
					co.Yield()
				}
			}
		})
		advance(t, s, 50_000)
		if c.work > 0 {
			s.cl.Wake(trainer)
		}
		if err := s.Drain(); err != nil {
			t.Fatal(err)
		}
		r := s.Result()
		if text := r.Undrained(); c.want == "" && text != "" || !strings.Contains(text, c.want) {
			t.Errorf("%d ps of work: %q", c.work, text)
		}
		if spent := r.Drain.NS * int64(sim.Nanosecond); c.want == "" && (spent < c.work || spent > 2*c.work+100*sim.Microsecond) {
			t.Errorf("%d ps of work: drained in %d", c.work, spent)
		}
	}
}

// What is still under way when a drain is given up does not count as a violation.
func TestGivenUpIsNoViolation(t *testing.T) {
	r, err := Run(context.Background(), small(experiment.Knobs{"drain_ns": "1us", "coroutines": 8}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Undrained() == "" || r.Checks.Failed() || r.Checks.Transactions == 0 || r.Checks.Invariants["replicas.equal"] {
		t.Errorf("%+v, %+v", r.Drain, r.Checks)
	}
}
