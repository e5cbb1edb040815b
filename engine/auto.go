package engine

import (
	"fmt"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/metrics"
	"drtmx/engine/result"
	"drtmx/engine/sim"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// Phases that are auto follow the rule of the protocol. It is applied when knobs change, with what the
// spec tells. What only a running system knows is looked at once after each change, at the end of a window of
// virtual time, so that a replay decides the same at the same time: of the second whole one, for in the first
// there are transactions from before. Once only, because what a decision does to the load would undo it, and
// because whatever else changes the load is a knob.

const (
	// overload is how busy a server's CPUs are when they have nothing left to give. Assumed: the thesis
	// says "overloaded" (section 4.3.1).
	overload = 0.9
	// leastLocks give a share within 3 %, two standard deviations.
	leastLocks = 1_000
)

// auto is what the rule knows from the run.
type auto struct {
	since sim.Time  // the last change took effect
	base  txn.Locks // by then

	judged     bool // since then; overloaded is valid
	overloaded bool
	counted    bool // since then
	measured   bool // ever; localPercent is valid
	local      int
	added      bool // user transactions were added; lock locality must be measured

	pending bool     // a change of its own drains
	changed sim.Time // the last of them took effect

	changes []result.AutoChange
}

// seen is what the run has told of its load.
func (s *System) seen(v experiment.Knobs) txn.Seen {
	return txn.Seen{Overloaded: s.auto.judged && s.auto.overloaded, Counted: s.auto.measured && s.countsLocks(v), LocalLocks: s.auto.local}
}

// txnConfig is what knobs and run say to transactions.
func (s *System) txnConfig(v experiment.Knobs) txn.Config { return experiment.TxnConfig(v, s.seen(v)) }

// countsLocks says that only the run can tell whose records are locked.
func (s *System) countsLocks(v experiment.Knobs) bool {
	return s.auto.added || experiment.Workloads.Load(v).LocalLocks == nil
}

// unlook makes the rule look again: the load changes.
func (s *System) unlook() { s.auto.judged, s.auto.counted = false, false }

// inEffect is called when a change has taken effect.
func (s *System) inEffect() {
	s.auto.since = s.sim.Now()
	if s.auto.pending {
		s.auto.pending, s.auto.changed = false, s.auto.since
	}
	if s.load.db != nil {
		s.auto.base = s.load.db.Locks()
	}
}

// reconsider is called at the end of a window.
func (s *System) reconsider() error {
	a, db := &s.auto, s.load.db
	if db == nil || s.state != StateRunning || a.judged && a.counted {
		return nil
	}
	if rec := s.windows.Latest(); !a.judged && 2*rec.T0-rec.T1 >= a.since {
		a.judged, a.overloaded = true, s.overloaded(&rec.Limit)
	}
	n := db.Locks()
	if all := n.All - a.base.All; !a.counted && all >= leastLocks {
		a.counted, a.measured, a.local = true, true, int(100*(n.Local-a.base.Local)/all)
	}
	now := s.txnConfig(s.active)
	if !s.noteAuto(db.Config(), now) {
		return nil
	}
	if db.NeedsDrain(now) {
		a.pending = true
		s.beginBarrier()
		return nil
	}
	a.changed = s.sim.Now()
	return db.SetConfig(now)
}

// changedSince says that a primitive changed by itself since then: what was before belongs to the warm-up, and
// so does the drain.
func (a *auto) changedSince(then sim.Time) bool { return a.pending || a.changed > then }

// unsteady tells of the last change: of the phase that the others follow.
func (a *auto) unsteady() string {
	i := len(a.changes) - 1
	for i > 0 && a.changes[i-1].VirtualNS == a.changes[i].VirtualNS {
		i--
	}
	x := &a.changes[i]
	return fmt.Sprintf("phase.%s became %s by itself at %g ms, which is not warmed up for; set it, or let warmup_ns be longer", x.Phase, x.To, float64(x.VirtualNS)/1e6)
}

// overloaded says that a server's CPUs limit the cluster.
func (s *System) overloaded(b *result.Bottleneck) bool {
	_, servers := testbed.Machines(s.active)
	return b.Resource == metrics.CPU && b.Node < servers && b.Utilization >= overload
}

// noteAuto lists the phases whose primitives differ.
func (s *System) noteAuto(was, now txn.Config) (changed bool) {
	k := experiment.Protocols.Of(s.active)
	before := k.Choices(was)
	for i, c := range k.Choices(now) {
		from := before[i].Primitive
		if from == c.Primitive {
			continue
		}
		changed = true
		if len(s.auto.changes) < maxChanges {
			s.auto.changes = append(s.auto.changes, result.AutoChange{VirtualNS: s.NowNS(), Phase: c.Phase, From: from, To: c.Primitive, Because: c.Because})
		}
	}
	return changed
}

// AutoChanges lists the primitives that changed by themselves, oldest first: the first thousand.
func (s *System) AutoChanges() []result.AutoChange { return slices.Clone(s.auto.changes) }
