package occ

import (
	"drtmx/dst"
	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// Who locks, claims, reads at a point or installs does more than a verb can where records have versions (§5.3.2): these
// phases are two-sided then.

// handlesVersions says whether a phase is one of them.
func handlesVersions(p metrics.Phase) bool {
	return p == txn.Lock || p == Validation || p == txn.Commit || p == txn.RORead
}

func hasVersions(v knob.Values) bool { return v.Text("ts.scheme") != dst.None }

// followVersions moves the phases that nobody has named, as a preset's, to what records with versions need, and back to the
// preset's when they have none any more.
func followVersions(before, v, set knob.Values) {
	if !hasVersions(v) && !hasVersions(before) {
		return
	}
	preset := presetKnobs(v.Text("preset"))
	for _, p := range Phases {
		name := p.Knob()
		if _, named := set[name]; named || !handlesVersions(p.ID) {
			continue
		}
		switch prim := v.Text(name); {
		case !hasVersions(v):
			v[name] = preset[name]
		case prim != Auto.String():
			v[name] = TwoSided.String()
		}
	}
}

// validVersions refuses verbs where records have versions.
func validVersions(v knob.Values, load *testbed.Load) error {
	if !hasVersions(v) || !load.Transactions {
		return nil
	}
	c := configOf(v, load).Resolved()
	for _, p := range Phases {
		if prim := *p.Field(&c); handlesVersions(p.ID) && prim != TwoSided {
			return knob.Invalid(p.Knob(), v.Text(p.Knob()), "set "+p.Knob()+"=two-sided or auto, or ts.scheme=none",
				"records have versions under ts.scheme=%s, and no verb claims or installs one (5.3.2)", v.Text("ts.scheme"))
		}
	}
	return nil
}
