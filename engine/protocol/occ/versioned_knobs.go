package occ

import (
	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/testbed"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
)

// Who locks, claims, reads at a point or installs does more than a verb can where records have versions (§5.3.2): these
// phases are two-sided then. Hybrid reads of snapshots are ours, and no preset's default: a READ does where the claim would change nothing.

// handlesVersions says whether a phase is one of them.
func handlesVersions(p metrics.Phase) bool {
	return p == txn.Lock || p == Validation || p == txn.Commit || p == txn.RORead
}

// withVersions says whether a phase can be done so where records have versions.
func withVersions(p metrics.Phase, prim Prim) bool {
	return !handlesVersions(p) || prim == TwoSided || prim == Hybrid && p == txn.RORead
}

// followVersions moves the phases that were not set, as a preset's, to what records with versions need, and back to the
// preset's when they have none any more.
func followVersions(before, v, set knob.Values) {
	if !timestamp.Versioned(v) && !timestamp.Versioned(before) {
		return
	}
	preset := presetKnobs(v.Text("preset"))
	_, presetSet := set["preset"]
	chosen := timestamp.Versioned(before) && !presetSet // what is there was named when records had versions
	for _, p := range Phases {
		name := p.Knob()
		if _, named := set[name]; named || !handlesVersions(p.ID) {
			continue
		}
		switch prim := v.Text(name); {
		case !timestamp.Versioned(v):
			v[name] = preset[name]
		case chosen && p.ID == txn.RORead && prim == Hybrid.String():
		case prim != Auto.String():
			v[name] = TwoSided.String()
		}
	}
}

// validVersions refuses verbs where records have versions.
func validVersions(v knob.Values, load *testbed.Load) error {
	if !timestamp.Versioned(v) || !load.Transactions {
		return nil
	}
	c := configOf(v, load).Resolved()
	for _, p := range Phases {
		if !withVersions(p.ID, *p.Field(&c.Primitives)) {
			next := "two-sided or auto"
			if p.ID == txn.RORead {
				next = "two-sided, hybrid or auto"
			}
			return knob.Invalid(p.Knob(), v.Text(p.Knob()), "set "+p.Knob()+"="+next+", or "+timestamp.Without,
				"records have versions under "+timestamp.Knob+"=%s, and no verb claims or installs one (section 5.3.2)", v.Text(timestamp.Knob))
		}
	}
	return nil
}

// maxInline bounds the old versions of a row: each is READ with it, needed or not.
const (
	inlineKnob = "ts.inline"
	maxInline  = 3
)

// inlineRow is the knob of the old versions that a row has beside it.
func inlineRow(load testbed.LoadOf) knob.Row {
	return knob.Row{Knob: knob.Knob{Name: inlineKnob, Kind: knob.Int, Default: 0, Min: 0, Max: maxInline, Label: "Old versions in the row", Section: "5.3.2", Group: knob.Timestamps,
		Doc: "How many old versions are stored behind the current one in its row, for snapshots that READ it (phase.ro_read=hybrid). With at least one, a single READ suffices: the row's tail shows whether it was torn. With none, a second READ validates a row of several lines."},
		Inactive: func(v knob.Values) string {
			switch l := load(v); {
			case !timestamp.Versioned(v):
				return timestamp.Knob + " is none"
			default:
				return timestamp.NoSnapshots(l)
			}
		}}
}
