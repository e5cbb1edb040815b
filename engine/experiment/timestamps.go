package experiment

import (
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
)

// timestampKnobs are those of the schemes of timestamps. A protocol that hosts none does not use them.
func timestampKnobs() []knob.Row {
	rows := Schemes.Rows(Workloads.Load)
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

// validTimestamps holds what a scheme needs, also of the rest of the system.
func validTimestamps(v Knobs) error {
	if err := Schemes.ValidElsewhere(v); err != nil {
		return err
	}
	load := &Workloads.Of(v).Load
	if !timestamp.Versioned(v) || !load.Transactions {
		return nil
	}
	scheme, p, indexes := v.Text(timestamp.Knob), Protocols.Of(v), Ordered.Of(v)
	switch {
	case !p.Snapshots:
		return knob.Invalid(timestamp.Knob, scheme, "set "+timestamp.Without+", or cc=occ", "cc=%s has no snapshots", p.Name)
	case !p.Hosts(scheme):
		return knob.Invalid(timestamp.Knob, scheme, "set one of "+strings.Join(p.Schemes, ", "), "cc=%s does not host it", p.Name)
	case load.Indexes && indexes != nil && !indexes.Dated:
		return knob.Invalid(store.OrderedKnob, indexes.Name, "set "+store.OrderedKnob+"="+strings.Join(Ordered.Dated(), " or ")+", or "+timestamp.Without, "its indexes have no guards for snapshots")
	}
	return Schemes.Valid(v)
}
