package txn

import (
	"slices"
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/replication"
	"drtmx/engine/testbed"
)

// Feature is something that a protocol has, does or can do. A knob that protocols share names the one that it needs, and a system those
// that its workload and hardware need. A protocol lists those that it has, so that neither a new knob nor a new protocol changes the other.
type Feature string

// Features of the knobs of this package.
const (
	HasLog       = replication.HasLog  // entries go to backups
	HasLocations = "locations"         // machines remember where records of others are
	HasAnnounced = "announced records" // it can fetch several records at once
	HasAborts    = "aborts"            // attempts are made again
	HasProgram   = "a program"         // it charges a core for its own work on a transaction
)

// Features that a system needs of its protocol. It is refused under one that lacks them.
const (
	HasInserts  = "inserts"   // records are inserted and deleted
	HasTwoSided = "two-sided" // it can do without one-sided verbs, so it runs over kernel TCP
)

// HasFeature says whether the protocol has it.
func (k *Kind) HasFeature(f Feature) bool { return slices.Contains(k.Has, f) }

// fits refuses a workload or a profile that needs what the protocol lacks.
func (ks Kinds) fits(k *Kind, v knob.Values, load *testbed.Load) error {
	if !load.Transactions {
		return nil
	}
	if load.Inserts != nil && load.Inserts(v) && !k.HasFeature(HasInserts) {
		return knob.Invalid("workload", load.Name, "use a workload whose records stay, as smallbank"+ks.orOther(HasInserts),
			"its transactions insert or delete records, and those of cc=%s cannot", k.Name)
	}
	if k.NeedsSets {
		if why := load.Undeclared(v); why != "" {
			return knob.Invalid("workload", load.Name, "use a workload whose transactions do, as smallbank, or another cc",
				"cc=%s has to know all records of a transaction beforehand, and %s", k.Name, why)
		}
	}
	if !testbed.HasRDMA(v) && !k.HasFeature(HasTwoSided) {
		return knob.Invalid("profile", v.Text("profile"), "set profile=val"+ks.orOther(HasTwoSided),
			"%s, and cc=%s needs one-sided verbs", testbed.NoRDMA(v), k.Name)
	}
	return nil
}

// orOther names the protocols that have a feature, as what else could be set.
func (ks Kinds) orOther(f Feature) string {
	names := ks.having(string(f))
	if len(names) == 0 {
		return ""
	}
	return ", or cc=" + strings.Join(names, " or ")
}
