package dst

import (
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/timestamp"
)

// Forms of DST: the sound one, and two as the thesis prints them, which the checkers tell from it.
const (
	formKnob          = "ts.variant"
	Sound             = "sound"
	AsPublishedWait   = "as-published-wait"   // line 1 of Figure 5-9 as printed: a snapshot waits only where r.ts <= TS
	AsPublishedCommit = "as-published-commit" // line 2 of Figure 5-7's COMMIT as printed: it stores TS, whatever is there
)

// hybridTraits: snapshots raise tuple timestamps, and wait for writers that may be in front of them. A bed of a test may have no values.
func hybridTraits(v knob.Values) timestamp.Traits {
	return timestamp.Traits{
		Claims: true, Waits: true, Clocks: true, Words: 1,
		WaitsByTuple: v[formKnob] == AsPublishedWait, SetsTupleBack: v[formKnob] == AsPublishedCommit,
	}
}

func formRow(load testbed.LoadOf) knob.Row {
	return knob.Row{Knob: knob.Knob{Name: formKnob, Kind: knob.Choice, Default: Sound, Choices: []string{Sound, AsPublishedWait, AsPublishedCommit}, Label: "Form of DST", Section: "5.2.2", Group: knob.Timestamps,
		Doc: "sound, or as the thesis prints it, which the checker catches. as-published-wait, Figure 5-9, line 1: no wait for a lock if the read timestamp was larger already. as-published-commit, Figure 5-7, COMMIT, line 2: stores a smaller one over a reader's."},
		Inactive: func(v knob.Values) string {
			if scheme := v.Text(timestamp.Knob); scheme != name {
				return "it is a form of DST, and ts.scheme is " + scheme
			}
			return timestamp.NoSnapshots(load(v))
		}}
}

// formElsewhere refuses a printed form of another scheme. Without versions there is nothing to refuse.
func formElsewhere(v knob.Values) error {
	if form := v.Text(formKnob); form != Sound && timestamp.Versioned(v) {
		return knob.Invalid(formKnob, form, "set "+formKnob+"="+Sound+", or "+timestamp.Knob+"="+name, "it is a form of DST, and "+timestamp.Knob+" is %s", v.Text(timestamp.Knob))
	}
	return nil
}
