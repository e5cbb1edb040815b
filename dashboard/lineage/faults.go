package lineage

import (
	"fmt"
	"slices"

	"drtmx/engine/experiment"
)

// fault.crash and fault.restart are orders rather than settings: setting an old value again takes nothing back, the
// opposite order does.
const (
	Crash   = "fault.crash"
	Restart = "fault.restart"
)

// NamesMachine is false for the value of a fault that names no machine.
func NamesMachine(v any) bool { return fmt.Sprint(v) != fmt.Sprint(experiment.NoMachine) }

// obeyed is the machines that are down after a change, and puts into the values of a spec, where the change already is, what the
// knobs read then.
func obeyed(down []int, set, values experiment.Knobs) []int {
	parsed := experiment.Knobs{}
	for _, name := range []string{Crash, Restart} {
		if _, ok := set[name]; ok {
			parsed[name] = values[name]
		}
	}
	down = experiment.NodeFaultsOf(parsed).After(down)
	delete(values, Restart)
	delete(values, Crash)
	if len(down) > 0 {
		values[Crash] = experiment.LastDown(down)
	}
	return down
}

// revoke adds to set what brings those that are down back to those that were. One
// change crashes one machine at most, and restarts one.
func revoke(set experiment.Knobs, before, after []int) {
	for _, m := range after {
		if !slices.Contains(before, m) {
			set[Restart] = m
		}
	}
	for _, m := range before {
		if !slices.Contains(after, m) {
			set[Crash] = m
		}
	}
}

// Order says a crash or a restart as people do.
func Order(knob string, v any) string {
	return fmt.Sprintf("machine %s %s", experiment.Format(knob, v), map[string]string{Crash: "crashes", Restart: "restarts"}[knob])
}

// Shown writes a value as a person would; switches are on or off.
func Shown(knob string, v any) string {
	if b, ok := v.(bool); ok {
		return map[bool]string{true: "on", false: "off"}[b]
	}
	if knob == Crash {
		return map[bool]string{true: "none", false: "machine " + experiment.Format(knob, v)}[!NamesMachine(v)]
	}
	return experiment.Format(knob, v)
}
