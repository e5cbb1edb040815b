package dashboard

import (
	"drtmx/engine/experiment"
	"fmt"
	"slices"
)

// fault.crash and fault.restart are orders rather than settings. What they read is
// the machine that crashed last of those that are down, and always -1: setting an
// old value again takes nothing back, the opposite order does.
const (
	crashKnob   = "fault.crash"
	restartKnob = "fault.restart"
	nobody      = -1
)

func isOrder(knob string) bool { return knob == crashKnob || knob == restartKnob }

// orders is false for the value that orders nothing.
func orders(v any) bool { return fmt.Sprint(v) != fmt.Sprint(nobody) }

// obeyed is who is down behind a change, and puts into values, where the change
// already is, what the knobs read then.
func obeyed(down []int, set, values experiment.Knobs) []int {
	ordered := func(knob string) int {
		if _, ok := set[knob]; !ok {
			return nobody
		}
		return values[knob].(int)
	}
	crash, restart := ordered(crashKnob), ordered(restartKnob)
	down = slices.DeleteFunc(slices.Clone(down), func(m int) bool { return m == restart })
	if crash != nobody {
		down = append(down, crash)
	}
	delete(values, restartKnob)
	delete(values, crashKnob)
	if n := len(down); n > 0 {
		values[crashKnob] = down[n-1]
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
