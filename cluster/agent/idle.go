package agent

import (
	"fmt"
	"maps"
	"slices"

	"drtmx/engine"
	"drtmx/engine/experiment"
)

// idle is the knobs of an accepted change that do nothing: each gets another value, has no effect before the change nor after it, and
// is not set back to a value that it had in this session. So a change that would look like a finding is refused, and undo, which sets
// back, never is.
func (m *member) idle(a engine.Accepted) []experiment.IdleKnob {
	before := m.Sys.Spec()
	was := m.Sys.Values()
	var turned []string
	for name := range a.Set {
		if !experiment.IsOrder(name) && fmt.Sprint(was.Value(name)) != fmt.Sprint(a.Set[name]) {
			turned = append(turned, name)
		}
	}
	out := experiment.Idle(before, turned)
	if len(out) == 0 {
		return nil
	}
	after, err := before.With(a.Set)
	if err != nil {
		return nil // what the system accepts resolves
	}
	still := experiment.Idle(after, turned)
	out = slices.DeleteFunc(out, func(k experiment.IdleKnob) bool {
		return !slices.ContainsFunc(still, func(o experiment.IdleKnob) bool { return o.Name == k.Name }) || m.had(k.Name, a.Set[k.Name])
	})
	return out
}

// refuseIdle is an error if a knob of an accepted change does nothing in the system.
func (m *member) refuseIdle(a engine.Accepted) error {
	return refuseIdle(map[string]*member{m.id: m}, map[string]engine.Accepted{m.id: a})
}

// had says that a knob had a value at some time of the session.
func (m *member) had(name string, value any) bool {
	g := m.rec.SoFar()
	spec := g.Header.Spec
	has := func() bool {
		v, err := experiment.Resolve(spec)
		return err == nil && fmt.Sprint(v.Value(name)) == fmt.Sprint(value)
	}
	if has() {
		return true
	}
	for _, step := range g.Steps {
		if step.Change == nil {
			continue
		}
		next, err := spec.With(step.Change.Set)
		if err != nil {
			return false
		}
		if spec = next; has() {
			return true
		}
	}
	return false
}

// refuseIdle is an error if a knob of a change does nothing in any of the systems that it is for.
func refuseIdle(systems map[string]*member, accepted map[string]engine.Accepted) error {
	var idle []experiment.IdleKnob
	for i, sys := range slices.Sorted(maps.Keys(systems)) {
		also := systems[sys].idle(accepted[sys])
		if i == 0 {
			idle = also
			continue
		}
		idle = slices.DeleteFunc(idle, func(k experiment.IdleKnob) bool {
			return !slices.ContainsFunc(also, func(o experiment.IdleKnob) bool { return o.Name == k.Name })
		})
	}
	if len(idle) == 0 {
		return nil
	}
	for _, a := range accepted { // order-free: the change is the same
		return idle[0].Error(experiment.Format(idle[0].Name, a.Set[idle[0].Name]))
	}
	return nil
}

// refuseIdleReset is an error if a knob that a reset turns does nothing in the system that begins. One that is set back to what it is
// by itself passes, as what undoes an earlier reset does.
func refuseIdleReset(before, after experiment.Spec, set experiment.Knobs) error {
	idle := experiment.Idle(after, experiment.SortedNames(set))
	if len(idle) == 0 {
		return nil
	}
	was, err := experiment.Resolve(before)
	if err != nil {
		return nil // what runs resolves
	}
	v, err := experiment.Resolve(after)
	if err != nil {
		return nil // a better message follows
	}
	for _, k := range idle {
		without := after
		without.Set = maps.Clone(after.Set)
		delete(without.Set, k.Name)
		value := fmt.Sprint(v.Value(k.Name))
		if value == fmt.Sprint(was.Value(k.Name)) {
			continue
		}
		if d, err := experiment.Resolve(without); err == nil && fmt.Sprint(d.Value(k.Name)) == value {
			continue
		}
		return k.Error(experiment.Format(k.Name, v.Value(k.Name)))
	}
	return nil
}
