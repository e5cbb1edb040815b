package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/history"
	"drtmx/engine/result"
	"drtmx/engine/sim"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

const (
	// drainFactor: a request that began last may take as long as the longest did, with less beside
	// it. Five times that is beyond doubt.
	drainFactor = 5
	// leastDrain is what an automatic budget is at least. Drains take some 0.1 ms; a cluster in
	// which nothing happens for so long is stuck.
	leastDrain = stallAfter
	// leastSlowDrain is the same where messages are lost and come milliseconds late: of a read of many
	// records one may be lost in every attempt.
	leastSlowDrain = experiment.MaxAutomatic * sim.Nanosecond
	// deadlocks is how many a transaction may wait out, one after the other, where most that meet end in one.
	deadlocks = 1000
)

// Drain stops new requests, waits in virtual time until none is in flight and every log is applied,
// and then checks the history to its end, the replicas and the workload's invariants. The measured
// interval ends where the drain begins, and the system does not run any further. A drain that takes
// longer than drain_ns is given up: Result says what was left, and its checks are incomplete.
func (s *System) Drain() error { return s.DrainWith(context.Background(), nil) }

// DrainWith is Drain that ends with ctx and tells its progress, unless nil. It looks at ctx after every
// microsecond of virtual time and between the checks; a system whose drain was ended so has failed.
func (s *System) DrainWith(ctx context.Context, progress Progress) error {
	s.refit()
	if s.state == StateFailed || s.state == StateDrained {
		return s.err
	}
	e := drainEnd{ctx: ctx, progress: progress}
	return s.guarded(func() error { return s.drain(&e) })
}

func (s *System) drain(e *drainEnd) error {
	c := s.cut()
	s.end = &c
	s.meter.Close()
	s.staleness.Close()
	s.conflicts.Close()
	s.cl.ShutGate()
	if err := s.rest(e); err != nil {
		return err
	}
	report, err := s.judgeAtRest(e)
	if err != nil {
		return err
	}
	if s.contents, err = s.load.contents(e); err != nil {
		return err
	}
	s.final, s.state = report, StateDrained
	return nil
}

// rest lets the cluster come to rest, within the budget.
func (s *System) rest(e *drainEnd) error {
	from, budget, dog := s.sim.Now(), s.drainBudget(), watchdog{}
	s.drained = &result.DrainStat{BudgetNS: budget / sim.Nanosecond}
	for dog.look(s, true); !s.load.drained() || s.state == StateDraining; {
		spent := s.sim.Now() - from
		if err := e.rest(s.load.busy(), spent, budget); err != nil {
			return err
		}
		if spent >= budget {
			s.drained.Left = fmt.Sprintf("the drain was given up %s; %s", s.unfinished(budget), raiseBudget)
			break
		}
		if err := s.sim.Run(s.sim.Now() + min(barrierPoll, budget-spent)); err != nil {
			return err
		}
		s.gather()
		if dog.look(s, false) {
			s.drained.Left = dog.stuck(s, fmt.Sprintf("the drain was given up with %s; ", s.left())).Error()
			break
		}
	}
	s.drained.NS = (s.sim.Now() - from) / sim.Nanosecond
	return nil
}

// judgeAtRest is the final verdict. Of a cluster that did not come to rest only the history is judged:
// its replicas may differ, and its invariants be broken, by what is still under way.
func (s *System) judgeAtRest(e *drainEnd) (*result.Checks, error) {
	if left := s.drained.Left; left != "" {
		report := s.rec.Finish()
		s.load.addChecks(&report)
		incomplete(&report, left)
		return &report, e.check(checks - 1)
	}
	verdicts, err := s.load.finish(e)
	if err != nil {
		return nil, err
	}
	report := s.rec.Finish()
	for _, inv := range append(verdicts, s.lawful()) {
		s.judged(&report, inv)
	}
	if why := s.load.unmeasured(); why != "" && report.Incomplete == "" {
		incomplete(&report, why)
	}
	return &report, nil
}

// incomplete says why not all was judged: what did not fail is undecided.
func incomplete(r *result.Checks, why string) {
	if r.Incomplete = why; !r.Failed() {
		r.OK = history.Undecided
	}
}

// drainBudget is how long the drain may take.
func (s *System) drainBudget() sim.Time {
	if ns := s.values.Int("drain_ns"); ns > 0 {
		return sim.Time(ns) * sim.Nanosecond
	}
	budget := leastDrain
	if !testbed.HasRDMA(s.values) || hampered(s.active) {
		budget = leastSlowDrain
	}
	budget = max(budget, drainFactor*s.meter.Longest())
	for _, o := range s.load.ongoing.All() {
		if o.n > 0 {
			budget = max(budget, drainFactor*(s.sim.Now()-o.begins/sim.Time(o.n)))
		}
	}
	most := experiment.MaxAutomatic * sim.Nanosecond
	if wait := sim.Time(experiment.LongestWait(s.values)) * sim.Nanosecond; wait > 0 {
		budget, most = max(budget, drainFactor*wait), max(most, deadlocks*wait)
	}
	return min(budget, most)
}

// raiseBudget is what to do about a drain that was given up.
const raiseBudget = "raise drain_ns, or let fewer transactions meet"

// unfinished says when a drain was given up, and what was under way.
func (s *System) unfinished(budget sim.Time) string {
	return fmt.Sprintf("after %s ms (drain_ns) with %s", result.Digits(float64(budget)/float64(sim.Millisecond)), s.left())
}

// left names what is under way: requests, and what transactions that have ended left behind.
func (s *System) left() string {
	var parts []string
	n := 0
	for m, o := range s.load.ongoing.All() {
		if n += o.n; o.n > 0 && s.load.db == nil {
			parts = append(parts, fmt.Sprintf("%d of machine %d", o.n, m))
		}
	}
	head := fmt.Sprintf("%d requests under way", n)
	if db := s.load.db; db != nil {
		pending := db.Pending()
		head, parts = fmt.Sprintf("%d transactions under way", len(pending)), s.groups(pending)
		commits, logs := db.Unserved()
		if commits > 0 {
			parts = append(parts, fmt.Sprintf("%d commit or unlock requests not served", commits))
		}
		if logs > 0 {
			parts = append(parts, fmt.Sprintf("%d log entries not reclaimed", logs))
		}
	}
	if verbs := s.fab.InFlight(); verbs > 0 {
		parts = append(parts, fmt.Sprintf("%d verbs on their way", verbs))
	}
	if threads := s.cl.SharedAtWork(); threads > 0 {
		parts = append(parts, fmt.Sprintf("%d threads in the background at work", threads))
	}
	if s.state == StateDraining && s.end != nil {
		parts = append(parts, "a change of knobs that waits for them")
	}
	if len(parts) > 0 {
		head += ": " + strings.Join(parts, ", ")
	}
	return head
}

// groups tells of transactions by type and phase, most first.
func (s *System) groups(list []txn.Pending) []string {
	type kind struct{ typ, phase string }
	type group struct {
		kind
		n, attempts       int
		machines, threads []int
	}
	const few = 6
	var all []*group
	for _, p := range list {
		k := kind{s.typeName(p.Type), p.Phase.String()}
		i := slices.IndexFunc(all, func(g *group) bool { return g.kind == k })
		if i < 0 {
			i, all = len(all), append(all, &group{kind: k})
		}
		g := all[i]
		g.n, g.attempts = g.n+1, max(g.attempts, p.Attempts)
		g.machines, g.threads = append(g.machines, p.Machine), append(g.threads, p.Thread)
	}
	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Compare(b.n, a.n) })
	var out []string
	for i, g := range all {
		if i == few {
			return append(out, "and others")
		}
		out = append(out, fmt.Sprintf("%d %s in %s (%s, %s, at attempt %d)", g.n, g.typ, g.phase, ranges("machine", g.machines), ranges("thread", g.threads), g.attempts))
	}
	return out
}

// ranges writes numbers of one kind as "machine 3" or "machines 0-2, 5".
func ranges(what string, list []int) string {
	list = slices.Clone(list)
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) > 1 {
		what += "s"
	}
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if j == i {
			parts = append(parts, fmt.Sprint(list[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[j]))
		}
		i = j + 1
	}
	return what + " " + strings.Join(parts, ", ")
}
