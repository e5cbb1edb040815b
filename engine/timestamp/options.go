package timestamp

import (
	"cmp"

	"drtmx/engine/knob"
	"drtmx/engine/r2/clocks"
	"drtmx/engine/testbed"
)

// Options are what the knobs say of timestamps.
type Options struct {
	Scheme       string // None: records have no versions, or no scheme that makes new ones
	Variant      string // a printed form that is not sound; "" is Sound
	StalenessNS  int64  // a snapshot is so much older than it could be
	DriftNS      int64  // most between two clocks
	SkewNS       int64  // by which one clock is off beyond that
	SkewMachine  int    // whose
	Freshness    Freshness
	Mixed        bool   // each snapshot draws its freshness
	VersionBytes uint64 // of old versions, per table and server
	GCNS         int64  // between two announcements of what no snapshot needs any more
	Values       knob.Values
	Clocks       *clocks.Clocks // of scripts; nil: those that DriftNS says
}

// Versions says that records have versions.
func (o *Options) Versions() bool { return o.Scheme != "" && o.Scheme != None }

// Forms of DST, of the knob ts.variant.
const (
	Sound             = "sound"
	AsPublishedWait   = "as-published-wait"   // line 1 of Figure 5-9 as printed: a snapshot waits only where r.ts <= TS
	AsPublishedCommit = "as-published-commit" // line 2 of Figure 5-7's COMMIT as printed: it stores TS, whatever is there
)

const (
	defaultVersionBytes = 64 << 20
	defaultGCNS         = 200_000
	defaultDriftNS      = 20_000
	maxStalenessNS      = 1_000_000_000
	maxDriftNS          = 100_000_000
)

// OptionsOf is what resolved values say.
func OptionsOf(v knob.Values) Options {
	if v.Text("ts.scheme") == None {
		return Options{}
	}
	o := Options{
		Scheme: v.Text("ts.scheme"), Variant: v.Text("ts.variant"), StalenessNS: int64(v.Int("ts.staleness_ns")), DriftNS: int64(v.Int("ts.clock_drift_ns")),
		SkewNS: int64(v.Int("fault.clock_skew")), SkewMachine: v.Int("fault.clock_skew_node"),
		VersionBytes: uint64(v.Int("ts.version_bytes")), GCNS: int64(v.Int("ts.gc_ns")), Values: v,
	}
	switch f := v.Text("ts.freshness"); f {
	case mixed:
		o.Mixed = true
	default:
		for i, name := range freshnessNames {
			if f == name {
				o.Freshness = Freshness(i)
			}
		}
	}
	return o
}

const mixed = "mixed"

// AllStrict says that each snapshot has to see all that was committed before it began.
func AllStrict(v knob.Values) bool { return v.Text("ts.freshness") == freshnessNames[Strict] }

// Rows are the knobs of timestamps: those of all schemes, and each one's own.
func Rows(load testbed.LoadOf) []knob.Row {
	names, docs := append([]string{None}, Names()...), "none = records have one version"
	for i := range registered {
		docs += "; " + registered[i].Name + " = " + registered[i].Doc
	}
	which := knob.Row{Knob: knob.Knob{Name: "ts.scheme", Kind: knob.Choice, Default: None, Choices: names, Label: "Timestamps", Section: "5", Group: knob.Timestamps, Live: true,
		Doc: "How versions of records are ordered, so that read-only transactions read a snapshot: " + docs + "."},
		Inactive: func(v knob.Values) string { return load(v).NoTransactions() }}
	list := []knob.Row{which}
	for _, r := range append(common(load), own(load)...) {
		inactive := r.Inactive
		r.Inactive = func(v knob.Values) string {
			if why := load(v).NoTransactions(); why != "" {
				return why
			}
			if v.Text("ts.scheme") == None {
				return "ts.scheme is none"
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

// common are the knobs of all schemes.
func common(load testbed.LoadOf) []knob.Row {
	snapshots := func(v knob.Values) string {
		if l := load(v); !l.ReadOnly {
			return "workload " + l.Name + " has no read-only transactions"
		}
		return ""
	}
	return []knob.Row{
		{Knob: knob.Knob{Name: "ts.staleness_ns", Kind: knob.Duration, Default: 0, Min: 0, Max: maxStalenessNS, Unit: "ns", Label: "Staleness", Section: "5.2.4", Group: knob.Timestamps, Live: true,
			Doc: "A snapshot reads this long before now, where fewer writers are still active."}, Inactive: func(v knob.Values) string { return cmp.Or(snapshots(v), noClocks(v)) }},
		{Knob: knob.Knob{Name: "ts.clock_drift_ns", Kind: knob.Duration, Default: defaultDriftNS, Min: 0, Max: maxDriftNS, Unit: "ns", Label: "Clock drift", Section: "5.2.4", Group: knob.Timestamps, Live: true,
			Doc: "The clocks of any two machines differ by at most this. Assumed: NTP on a LAN keeps tens of microseconds (so the chrony project), PTP below one."}, Inactive: noClocks},
		{Knob: knob.Knob{Name: "ts.freshness", Kind: knob.Choice, Default: freshnessNames[BySession], Choices: append(freshnessNames[:len(freshnessNames):len(freshnessNames)], mixed), Label: "Freshness", Section: "5.2.4", Group: knob.Timestamps, Live: true,
			Doc: "What a snapshot has to see. session: what its client has committed or read before; stale: whatever the staleness allows; strict: all that was committed before it began; mixed: each draws one of them."}, Inactive: snapshots},
		{Knob: knob.Knob{Name: "ts.variant", Kind: knob.Choice, Default: Sound, Choices: []string{Sound, AsPublishedWait, AsPublishedCommit}, Label: "Form of DST", Section: "5.2.2", Group: knob.Timestamps,
			Doc: "sound, or as the thesis prints it, which the checker catches. as-published-wait, Figure 5-9, line 1: no wait for a lock if the read timestamp was larger already. as-published-commit, Figure 5-7, COMMIT, line 2: stores a smaller one over a reader's."},
			Inactive: func(v knob.Values) string {
				if !Named(v.Text("ts.scheme")).Traits(v).Claims {
					return "under ts.scheme=" + v.Text("ts.scheme") + " snapshots raise no read timestamps"
				}
				return snapshots(v)
			}},
		{Knob: knob.Knob{Name: "ts.version_bytes", Kind: knob.Bytes, Default: defaultVersionBytes, Min: 1 << 16, Max: 1 << 34, Unit: "bytes", Label: "Old versions", Section: "5.3.2", Group: knob.Timestamps,
			Doc: "Room of each table on each server for versions that were overwritten. A writer that finds none left aborts."}},
		{Knob: knob.Knob{Name: "ts.gc_ns", Kind: knob.Duration, Default: defaultGCNS, Min: 1_000, Max: maxStalenessNS, Unit: "ns", Label: "Collection of versions", Section: "5.3.2", Group: knob.Timestamps,
			Doc: "How often machines tell servers which versions their snapshots may still need. Assumed."}},
		{Knob: knob.Knob{Name: "fault.clock_skew", Kind: knob.Duration, Default: 0, Min: -maxDriftNS, Max: maxDriftNS, Unit: "ns", Label: "Clock skew", Section: "5.2.4", Group: knob.Faults, Live: true,
			Doc: "One machine's clock is off by this, ahead or (negative) behind, on top of the drift: its synchronisation has failed unnoticed. Snapshots stay serializable; the bound on their staleness holds only for clocks within the drift."}, Inactive: noClocks},
		{Knob: knob.Knob{Name: "fault.clock_skew_node", Kind: knob.Int, Default: 0, Min: 0, Max: testbed.MaxMachines - 1, Label: "Machine with the skewed clock", Section: "5.2.4", Group: knob.Faults, Live: true,
			Doc: "The machine whose clock fault.clock_skew shifts, counted from 0."}, Inactive: noSkew},
	}
}

// noClocks says that timestamps are not from clocks.
func noClocks(v knob.Values) string {
	if k := Named(v.Text("ts.scheme")); k != nil && k.Traits(v).Oracle {
		return "ts.scheme=" + k.Name + " asks an oracle and reads no clock"
	}
	return ""
}

// noSkew says that no clock is off.
func noSkew(v knob.Values) string {
	if v.Int("fault.clock_skew") == 0 {
		return "fault.clock_skew is 0: all clocks are as good as ts.clock_drift_ns says"
	}
	return ""
}

// own are the knobs of the schemes that are registered.
func own(load testbed.LoadOf) (list []knob.Row) {
	for i := range registered {
		k := &registered[i]
		if k.Rows == nil {
			continue
		}
		list = append(list, k.Rows(load)...)
	}
	return list
}
