package timestamp

import (
	"cmp"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"
)

const (
	defaultVersionBytes = 64 << 20
	defaultGCNS         = 200_000
	defaultDriftNS      = 20_000
	maxStalenessNS      = 1_000_000_000
	maxDriftNS          = 100_000_000
)

// Rows are the knobs of timestamps: which scheme is in force, those of all schemes, and each one's own.
func (ks Kinds) Rows(load testbed.LoadOf) []knob.Row {
	names, docs := append([]string{None}, ks.Names()...), "none = records have one version"
	for i := range ks {
		docs += "; " + ks[i].Name + " = " + ks[i].Doc
	}
	which := knob.Row{Knob: knob.Knob{Name: Knob, Kind: knob.Choice, Default: None, Choices: names, Label: "Timestamps", Section: "5", Group: knob.Timestamps, Live: true,
		Doc: "How versions of records are ordered, so that read-only transactions read a snapshot: " + docs + "."},
		Inactive: func(v knob.Values) string { return load(v).NoTransactions() },
		Together: func(x any) bool { return x != None }} // where records have one version no scheme comes into force live
	list := []knob.Row{which}
	for _, r := range append(ks.common(load), ks.own(load)...) {
		inactive := r.Inactive
		r.Inactive = func(v knob.Values) string {
			if why := load(v).NoTransactions(); why != "" {
				return why
			}
			if !Versioned(v) {
				return Knob + " is none"
			}
			if inactive != nil {
				return inactive(v)
			}
			return ""
		}
		list = append(list, r)
	}
	return list
}

// Defaults are the values of the schemes' own knobs where nothing sets them.
func (ks Kinds) Defaults() knob.Values {
	v := knob.Values{}
	for _, r := range ks.own(nil) {
		v[r.Name] = r.Default
	}
	return v
}

// own are the knobs that the schemes bring.
func (ks Kinds) own(load testbed.LoadOf) (list []knob.Row) {
	for i := range ks {
		if ks[i].Rows != nil {
			list = append(list, ks[i].Rows(load)...)
		}
	}
	return list
}

// common are the knobs of all schemes.
func (ks Kinds) common(load testbed.LoadOf) []knob.Row {
	snapshots := func(v knob.Values) string { return NoSnapshots(load(v)) }
	return []knob.Row{
		{Knob: knob.Knob{Name: stalenessKnob, Kind: knob.Duration, Default: 0, Min: 0, Max: maxStalenessNS, Unit: "ns", Label: "Staleness", Section: "5.2.4", Group: knob.Timestamps, Live: true,
			Doc: "A snapshot reads this long before now, where fewer writers are still active."}, Inactive: func(v knob.Values) string { return cmp.Or(snapshots(v), ks.noClocks(v)) }, Together: knob.Always},
		{Knob: knob.Knob{Name: driftKnob, Kind: knob.Duration, Default: defaultDriftNS, Min: 0, Max: maxDriftNS, Unit: "ns", Label: "Clock drift", Section: "5.2.4", Group: knob.Timestamps, Live: true,
			Doc: "The clocks of any two machines differ by at most this. Assumed: NTP on a LAN keeps tens of microseconds (so the chrony project), PTP below one."}, Inactive: ks.noClocks, Together: knob.Always},
		{Knob: knob.Knob{Name: FreshnessKnob, Kind: knob.Choice, Default: freshnessNames[BySession], Choices: append(freshnessNames[:len(freshnessNames):len(freshnessNames)], mixed), Label: "Freshness", Section: "5.2.4", Group: knob.Timestamps, Live: true,
			Doc: "What a snapshot has to see. session: what its client has committed or read before; stale: whatever the staleness allows; strict: all that was committed before it began; mixed: each draws one of them."}, Inactive: snapshots, Together: knob.Always},
		{Knob: knob.Knob{Name: roomKnob, Kind: knob.Bytes, Default: defaultVersionBytes, Min: 1 << 16, Max: 1 << 34, Unit: "bytes", Label: "Old versions", Section: "5.3.2", Group: knob.Timestamps,
			Doc: "Room of each table on each server for versions that were overwritten. A writer that finds none left aborts."}},
		{Knob: knob.Knob{Name: collectKnob, Kind: knob.Duration, Default: defaultGCNS, Min: 1_000, Max: maxStalenessNS, Unit: "ns", Label: "Collection of versions", Section: "5.3.2", Group: knob.Timestamps,
			Doc: "How often machines tell servers which versions their snapshots may still need. Assumed."}},
		{Knob: knob.Knob{Name: skewKnob, Kind: knob.Duration, Default: 0, Min: -maxDriftNS, Max: maxDriftNS, Unit: "ns", Label: "Clock skew", Section: "5.2.4", Group: knob.Faults, Live: true,
			Doc: "One machine's clock is off by this, ahead or (negative) behind, on top of the drift: its synchronisation has failed unnoticed. Snapshots stay serializable; the bound on their staleness holds only for clocks within the drift."}, Inactive: ks.noClocks},
		{Knob: knob.Knob{Name: Skewed, Kind: knob.Int, Default: 0, Min: 0, Max: testbed.MaxMachines - 1, Label: "Machine with the skewed clock", Section: "5.2.4", Group: knob.Faults, Live: true,
			Doc: "The machine whose clock fault.clock_skew shifts, counted from 0."}, Inactive: noSkew},
	}
}

// Names of these knobs. Skewed is that of a machine.
const (
	stalenessKnob = "ts.staleness_ns"
	driftKnob     = "ts.clock_drift_ns"
	roomKnob      = "ts.version_bytes"
	collectKnob   = "ts.gc_ns"
	skewKnob      = "fault.clock_skew"
	Skewed        = "fault.clock_skew_node"
)

// MoreRoom and LackLess are what to do where old versions find no room, and where snapshots may lack too much.
const (
	MoreRoom = "raise " + roomKnob
	LackLess = "make " + stalenessKnob + " or " + collectKnob + " smaller"
)

// NoSnapshots says that a workload reads none; "": it does.
func NoSnapshots(l *testbed.Load) string {
	if !l.ReadOnly {
		return "workload " + l.Name + " has no read-only transactions"
	}
	return ""
}

// noClocks says that timestamps are not from clocks.
func (ks Kinds) noClocks(v knob.Values) string {
	k := ks.Of(v)
	switch {
	case k == nil || k.Traits(v).Clocks:
		return ""
	case k.Traits(v).Oracle:
		return Knob + "=" + k.Name + " asks an oracle and reads no clock"
	}
	return Knob + "=" + k.Name + " reads no clock"
}

// noSkew says that no clock is off.
func noSkew(v knob.Values) string {
	if v.Int(skewKnob) == 0 {
		return "fault.clock_skew is 0: all clocks are as good as ts.clock_drift_ns says"
	}
	return ""
}
