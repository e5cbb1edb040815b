package engine

import (
	"fmt"
	"math"

	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric"
	"drtmx/engine/knob"
	"drtmx/engine/result"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// Set changes knobs at the current virtual time: all of them or none. A preset resets the knobs that
// it governs, a group knob its members, and single knobs of the same call win over both. A change of
// the primitive of locks waits for a drain barrier: until no transaction is in flight the old
// values stay in effect, together with everything else that is changed meanwhile. Crashes and restarts
// do not wait. A barrier that takes longer than drain_ns is given up: the system has failed, and its error
// says what was under way.
func (s *System) Set(k experiment.Knobs, by string) (result.Change, error) {
	a, err := s.Accept(k)
	if err != nil {
		return result.Change{}, err
	}
	return s.Apply(a, by)
}

// Accepted is a change that Accept found good, for the Apply of the same system.
type Accepted struct {
	Set     experiment.Knobs // the change, as the registry writes it
	values  experiment.Knobs // what it leads to
	version int              // of the knobs that it changes
	ns      int64
}

// Accept checks a change. What it returns is good until the system goes on or changes.
func (s *System) Accept(k experiment.Knobs) (Accepted, error) {
	s.refit()
	if s.state == StateFailed || s.state == StateDrained {
		return Accepted{}, &experiment.SpecError{Rule: "the system is " + s.state, Next: "reset it", Reset: true}
	}
	set, v, err := s.check(k)
	return Accepted{Set: set, values: v, version: s.version, ns: s.NowNS()}, err
}

// Apply is Set of a change that was accepted, and does not check it again.
func (s *System) Apply(a Accepted, by string) (result.Change, error) {
	if a.version != s.version || a.ns != s.NowNS() {
		return result.Change{}, &experiment.SpecError{Rule: "the system has gone on since it accepted the change", Next: "ask for it again"}
	}
	o := experiment.NodeFaultsOf(a.Set)
	if same(a.values, s.values) && o.None() {
		return result.Change{Version: s.version, VirtualNS: s.NowNS(), Pending: s.state == StateDraining, By: clipBy(by), Set: a.Set}, nil
	}
	s.version++
	s.values = a.values
	if code.Of(s.values) != s.code {
		s.code = code.Build()
	}
	s.unlook()
	if err := s.applyNodeFaults(o); err != nil {
		return result.Change{}, s.fail(err)
	}
	switch {
	case s.state == StateDraining:
	case s.movesLocks(s.values):
		s.beginBarrier()
	default:
		if err := s.enact(); err != nil {
			return result.Change{}, s.fail(err)
		}
	}
	c := result.Change{Version: s.version, VirtualNS: s.NowNS(), Pending: s.state == StateDraining, By: clipBy(by), Set: a.Set}
	if len(s.changes) == maxChanges {
		s.changes = append(s.changes[:0], s.changes[1:]...)
	}
	s.changes = append(s.changes, c)
	return c, nil
}

// movesLocks says that with v locks are taken by another primitive than now. What the rule of auto phases would
// say of the knobs in effect is not who does: it may know more by now than when they took effect.
func (s *System) movesLocks(v experiment.Knobs) bool {
	return s.load.db != nil && s.load.db.NeedsDrain(s.txnConfig(v))
}

// check parses a change and returns it with the values that it leads to.
func (s *System) check(k experiment.Knobs) (set, v experiment.Knobs, err error) {
	if set, err = experiment.ParseKnobs(k); err != nil {
		return nil, nil, err
	}
	for _, name := range experiment.SortedNames(set) {
		if experiment.IsHardware(name) {
			if err := testbed.HasNumber(s.values, name); err != nil {
				return nil, nil, err
			}
		}
		if e := knob.Find(name); !e.Live && set[name] != s.values.Value(name) {
			return nil, nil, &experiment.SpecError{Field: name, Value: knob.Clip(set[name]), Rule: "cannot change while the system runs", Next: "reset the system with this setting", Reset: true}
		}
	}
	v = s.values.Clone()
	v.Apply(set)
	if err := s.plan(set, v); err != nil {
		return nil, nil, err
	}
	if err := experiment.Validate(v); err != nil {
		return nil, nil, err
	}
	if err := s.needsReset(v); err != nil {
		return nil, nil, err
	}
	if room := s.room; testbed.Coroutines(v) > room {
		return nil, nil, &experiment.SpecError{Field: "coroutines", Value: fmt.Sprint(v["coroutines"]), Rule: fmt.Sprintf("this system has room for %d per thread", room), Next: "reset the system with this setting", Reset: true}
	}
	return set, v, nil
}

// needsReset says which value the protocol cannot take in while the system runs. One that does not say takes in all.
func (s *System) needsReset(v experiment.Knobs) error {
	if s.load.db == nil {
		return nil
	}
	p, ok := s.load.db.Protocol().(txn.Resetting)
	if !ok {
		return nil
	}
	name, why := p.NeedsReset(s.txnConfig(v))
	if why == "" {
		return nil
	}
	return &experiment.SpecError{Field: name, Value: knob.Clip(v[name]), Rule: why, Next: "reset the system with this setting", Reset: true}
}

func same(a, b experiment.Knobs) bool {
	for _, e := range knob.Rows() {
		if a[e.Name] != b[e.Name] {
			return false
		}
	}
	return true
}

func clipBy(by string) string {
	if len(by) > maxBy {
		return by[:maxBy]
	}
	return by
}

// enact puts the accepted values into effect.
func (s *System) enact() error {
	s.active = s.values
	s.cl.SetCoroutines(testbed.Coroutines(s.active))
	s.fab.SetDDIO(s.active.Bool("ddio"))
	s.fab.SetLoss(lossPPM(s.active))
	slowNICs(s.fab, s.active)
	if err := s.load.set(s.active); err != nil {
		return err
	}
	s.rec.Weaken(experiment.ClaimsOf(s.active))
	s.inEffect()
	return nil
}

// beginBarrier holds new transactions back until none is in flight; then what is accepted takes effect.
func (s *System) beginBarrier() {
	s.state = StateDraining
	s.barrierFrom, s.barrierBudget = s.sim.Now(), s.drainBudget()
	s.cl.ShutGate()
	s.sim.At(s.sim.Now()+barrierPoll, s.kDrain, 0)
}

// barrier is called by the clock while the system drains for a change.
func (s *System) barrier() {
	if s.state != StateDraining {
		return
	}
	if !s.load.drained() {
		if s.end == nil && s.sim.Now()-s.barrierFrom >= s.barrierBudget { // the last drain has a budget of its own
			s.sim.Fail(fmt.Errorf("the drain for a change was given up %s; %s, or reset the system", s.unfinished(s.barrierBudget), raiseBudget))
			return
		}
		s.sim.At(s.sim.Now()+barrierPoll, s.kDrain, 0)
		return
	}
	if err := s.enact(); err != nil {
		s.sim.Fail(err)
		return
	}
	s.state = StateRunning
	if s.end == nil { // else the last drain has begun meanwhile
		s.cl.OpenGate()
	}
}

// slowNICs puts fault.nic_slowdown into effect.
func slowNICs(f *fabric.Fabric, v experiment.Knobs) {
	percent := int(math.Round((v.Float("fault.nic_slowdown") - 1) * 100))
	for m := range f.Machines() {
		for _, n := range f.Machine(m).NICs {
			n.SetSlowdown(0)
			if m == v.Int("fault.nic_slowdown_node") {
				n.SetSlowdown(percent)
			}
		}
	}
}

// plan checks what a change does to machines and says in v what the knobs read
// then: fault.crash the machine that crashed last of those that are down.
func (s *System) plan(set, v experiment.Knobs) error {
	o := experiment.NodeFaultsOf(set)
	all, _ := testbed.Machines(v)
	if n := o.Restart; n != experiment.NoMachine {
		if err := experiment.ValidMachine("fault.restart", n, all); err != nil {
			return err
		}
		if s.cl.Starting(n) {
			return knob.Invalid("fault.restart", n, "let virtual time pass", "machine %d starts already", n)
		}
		if s.cl.Up(n) {
			return knob.Invalid("fault.restart", n, fmt.Sprintf("set fault.crash=%d first", n), "machine %d is not down", n)
		}
	}
	if n := o.Crash; n != experiment.NoMachine {
		if err := experiment.ValidMachine("fault.crash", n, all); err != nil {
			return err
		}
		if s.cl.Starting(n) {
			return knob.Invalid("fault.crash", n, "let virtual time pass", "machine %d starts and is not up yet", n)
		}
		if !s.cl.Up(n) {
			return knob.Invalid("fault.crash", n, fmt.Sprintf("set fault.restart=%d", n), "machine %d is down already", n)
		}
	} else if _, asked := set["fault.crash"]; asked && len(o.After(s.down)) > 0 {
		n := experiment.LastDown(o.After(s.down))
		return knob.Invalid("fault.crash", experiment.NoMachine, fmt.Sprintf("set fault.restart=%d", n), "machine %d is down and does not come back by itself", n)
	}
	v["fault.crash"], v["fault.restart"] = experiment.LastDown(o.After(s.down)), experiment.NoMachine
	return nil
}

// applyNodeFaults crashes and restarts machines.
func (s *System) applyNodeFaults(o experiment.NodeFaults) error {
	if o.Restart != experiment.NoMachine {
		if _, err := s.cl.Restart(o.Restart); err != nil {
			return err
		}
	}
	if o.Crash != experiment.NoMachine {
		if err := s.cl.Crash(o.Crash); err != nil {
			return err
		}
		s.load.crashed(o.Crash)
	}
	s.down = o.After(s.down)
	return nil
}
