package occ

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/replication"
	"drtmx/engine/txn"
)

const (
	becauseNoRDMA   = "the NICs have no RDMA"
	becauseCached   = "a READ where the location cache knows the record, an RPC where not (4.3.1)"
	becauseUncached = "without the location cache a READ takes two round trips, an RPC one (4.3.1)"
	becauseBusy     = "servers are overloaded, and READs without the location cache spare them (4.3.1)"
	becauseRead     = "one READ is enough, the record's location is known (4.3.2)"
	becauseLogged   = "one WRITE is enough, and no CPU of a backup is needed (4.3.4)"
	becauseUnlock   = "commit is two-sided, and a CPU may not unlock what an RNIC locked (4.3.2)"
	becauseLocal    = "most locks are on the own machine, where a CPU's CAS is much faster than an RNIC's (4.3.2)"
	becauseRemote   = "most locks are on other machines, whose CPUs an RNIC's ATOMIC spares (4.3.2)"
	becauseAtomic   = "after an RNIC's ATOMIC records are written back by WRITE (4.4.1)"
	becauseVersions = "records have versions, and a CPU claims, reads and installs them (section 5.3.2)"
	becauseLockRPC  = "after a CPU's lock records are written back by RPC (4.3.3, 4.4.1)"
)

// Resolved replaces every Auto by the rule of chapter 4's summaries; see Decide.
func (c Config) Resolved() Config {
	c, _ = c.Decide()
	return c
}

// Decide replaces every Auto by the rule of chapter 4's summaries, as §4.4.1
// applies it, and gives the reasons:
//
//   - execution, ro_read (§4.3.1, §4.3.5): hybrid with the location cache, which is
//     the rule record by record. Without it two-sided while servers are not
//     Overloaded, for one-sided takes two round trips, and one-sided when they are.
//   - lock (§4.3.2): one-sided if the atomicity between RNIC and CPU causes no
//     performance issue. It does where records of the own machine have to be
//     locked through the RNIC: two-sided if most are, see LocalPercent, or if
//     commit is set to two-sided.
//   - validation, logging, ro_validation (§4.3.2, §4.3.4, §4.3.5): one-sided.
//   - commit (§4.3.3, §4.4.1): follows lock.
//
// Where records have versions, those that handle them are two-sided. Without RDMA all are.
func (c Config) Decide() (Config, coordinator.Reasons) {
	var why coordinator.Reasons
	for _, p := range Phases {
		switch {
		case c.NoRDMA:
			why.Choose(p.ID, p.Field(&c.Primitives), TwoSided, becauseNoRDMA)
		case c.Timestamps.Versions() && handlesVersions(p.ID):
			why.Choose(p.ID, p.Field(&c.Primitives), TwoSided, becauseVersions)
		}
	}
	read, because := c.decideRead()
	why.Choose(txn.Execution, &c.Execution, read, because)
	why.Choose(txn.RORead, &c.RORead, read, because)
	lock, because := c.decideLock()
	why.Choose(txn.Lock, &c.Lock, lock, because)
	if because = becauseAtomic; c.Lock == TwoSided {
		because = becauseLockRPC
	}
	why.Choose(txn.Commit, &c.Commit, c.Lock, because)
	why.Choose(Validation, &c.Validation, OneSided, becauseRead)
	why.Choose(ROValidation, &c.ROValidation, OneSided, becauseRead)
	why.Choose(replication.Logging, &c.Logging, OneSided, becauseLogged)
	return c, why
}

func (c *Config) decideRead() (Prim, string) {
	switch {
	case c.CacheEnabled:
		return Hybrid, becauseCached
	case c.Overloaded:
		return OneSided, becauseBusy
	}
	return TwoSided, becauseUncached
}

// mostLocal is half of the locks: where an RPC takes about twice the CPU of a
// one-sided verb, both ends counted, and a CPU's CAS next to none, the RNIC's
// atomics cost more from there on. Assumed; the thesis has no number.
const mostLocal = 50

func (c *Config) decideLock() (Prim, string) {
	switch {
	case c.Commit == TwoSided:
		return TwoSided, becauseUnlock
	case c.LocalPercent > mostLocal:
		return TwoSided, becauseLocal
	}
	return OneSided, becauseRemote
}
