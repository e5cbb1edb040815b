package experiment

import (
	"fmt"
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/timestamp"
)

// timestampKnobs are those of the schemes of timestamps. A protocol that hosts none does not use them.
func timestampKnobs() []knob.Row {
	rows := timestamp.Rows(Workloads.Load)
	for i := range rows {
		own := rows[i].Inactive
		rows[i].Inactive = func(v Knobs) string {
			if p := Protocols.Of(v); Workloads.Of(v).Transactions && !p.Snapshots {
				return "cc=" + p.Name + " does not use it"
			}
			return own(v)
		}
	}
	return rows
}

// dated is the store of indexes that snapshots can read.
const dated = "btree"

// validTimestamps holds what a scheme needs of the rest of the system.
func validTimestamps(v Knobs) error {
	scheme, load := v.Text("ts.scheme"), &Workloads.Of(v).Load
	for i := range Schemes {
		for _, rule := range Schemes[i].Elsewhere {
			if err := rule(v); err != nil && Schemes[i].Name != scheme {
				return err
			}
		}
	}
	if scheme == timestamp.None || !load.Transactions {
		return nil
	}
	p := Protocols.Of(v)
	switch {
	case !p.Snapshots:
		return knob.Invalid("ts.scheme", scheme, "set ts.scheme=none, or cc=occ", "cc=%s has no snapshots", p.Name)
	case !p.Hosts(scheme):
		return knob.Invalid("ts.scheme", scheme, "set one of "+strings.Join(p.Schemes, ", "), "cc=%s does not host it", p.Name)
	case load.Indexes && v.Text("store.ordered") != dated:
		return knob.Invalid("store.ordered", v.Text("store.ordered"), "set store.ordered="+dated+", or ts.scheme=none", "its indexes have no guards for snapshots")
	case timestamp.Named(scheme).Traits(v).Oracle && !v.Bool("oracle"):
		return knob.Invalid("ts.scheme", scheme, "set oracle=true with it, which takes a reset, or ts.scheme=dst", "it asks an oracle machine, and oracle is false")
	case v.Text("ts.variant") != timestamp.Sound && !timestamp.Named(scheme).Traits(v).Claims:
		return knob.Invalid("ts.variant", v.Text("ts.variant"), "set ts.variant="+timestamp.Sound+", or ts.scheme=dst", "it is a form of DST, and under ts.scheme=%s snapshots raise no read timestamps", scheme)
	}
	for _, rule := range timestamp.Named(scheme).Rules {
		if err := rule(v); err != nil {
			return fmt.Errorf("ts.scheme %s: %w", scheme, err)
		}
	}
	return nil
}
