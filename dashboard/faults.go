package dashboard

import (
	"fmt"
	"slices"

	"drtmx/engine/experiment"
)

// fault.crash and fault.restart are orders rather than settings: setting an old value again takes nothing back, the
// opposite order does.
const (
	crashKnob   = "fault.crash"
	restartKnob = "fault.restart"
)

// orders is false for the value that orders nothing.
func orders(v any) bool { return fmt.Sprint(v) != fmt.Sprint(experiment.Nobody) }

// obeyed is who is down after a change, and puts into the values of a spec, where the change already is, what the
// knobs read then.
func obeyed(down []int, set, values experiment.Knobs) []int {
	parsed := experiment.Knobs{}
	for _, name := range []string{crashKnob, restartKnob} {
		if _, ok := set[name]; ok {
			parsed[name] = values[name]
		}
	}
	down = experiment.NodeFaultsOf(parsed).After(down)
	delete(values, restartKnob)
	delete(values, crashKnob)
	if len(down) > 0 {
		values[crashKnob] = experiment.LastDown(down)
	}
	return down
}

// revoke adds to set what brings those that are down back to those that were. One
// change crashes one machine at most, and restarts one.
func revoke(set experiment.Knobs, before, after []int) {
	for _, m := range after {
		if !slices.Contains(before, m) {
			set[restartKnob] = m
		}
	}
	for _, m := range before {
		if !slices.Contains(after, m) {
			set[crashKnob] = m
		}
	}
}

// order says a crash or a restart as people do.
func order(knob string, v any) string {
	return fmt.Sprintf("machine %s %s", experiment.Format(knob, v), map[string]string{crashKnob: "crashes", restartKnob: "restarts"}[knob])
}

// failures are the requests of a card's time that brought no result: those that
// ended with an error, and passive ones that counted as done and may not have been.
func failures(ms []moment, from, to int64) (failed, lost uint64) {
	for _, m := range ms {
		if m.t1 > from && m.t1 <= to {
			failed, lost = failed+m.failed, lost+m.lost
		}
	}
	return failed, lost
}
