package timestamp

import (
	"drtmx/engine/knob"
	"drtmx/engine/r2/clocks"
)

// Options are all that is configured of timestamps and versions: for the scheme, for the store of versions and for the hosts.
type Options struct {
	Scheme      string // None: records have no versions, or no scheme that makes new ones
	StalenessNS int64  // a snapshot is so much older than it could be
	DriftNS     int64  // most between two clocks
	SkewNS      int64  // by which one clock is off beyond that
	SkewMachine int    // whose
	Freshness   Freshness
	Mixed       bool // each snapshot draws its freshness

	VersionBytes uint64 // of old versions, per table and server
	GCNS         int64  // between two announcements of what no snapshot needs any more
	Inline       int    // old versions that a row has room for, of hosts whose snapshots READ rows

	Values knob.Values    // all of the system: those of the scheme's own knobs are among them
	Clocks *clocks.Clocks // of scripts; nil: those that DriftNS says
}

// Versions says that records have versions.
func (o *Options) Versions() bool { return o.Scheme != "" && o.Scheme != None }

// SomeAre says that there may be snapshots of a freshness, AllAre that there are no others.
func (o *Options) SomeAre(f Freshness) bool { return o.Mixed || o.Freshness == f }
func (o *Options) AllAre(f Freshness) bool  { return !o.Mixed && o.Freshness == f }

// OptionsOf is what resolved values say. Inline is the host's to say.
func OptionsOf(v knob.Values) Options {
	if !Versioned(v) {
		return Options{}
	}
	o := Options{
		Scheme: v.Text(Knob), StalenessNS: int64(v.Int(stalenessKnob)), DriftNS: int64(v.Int(driftKnob)),
		SkewNS: int64(v.Int(skewKnob)), SkewMachine: v.Int(Skewed),
		VersionBytes: uint64(v.Int(roomKnob)), GCNS: int64(v.Int(collectKnob)), Values: v,
	}
	switch f := v.Text(FreshnessKnob); f {
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

// FreshnessKnob is the knob of what snapshots ask for, mixed its value under which each draws that.
const (
	FreshnessKnob = "ts.freshness"
	mixed         = "mixed"
)
