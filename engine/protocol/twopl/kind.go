package twopl

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// Kind is the protocol in the list of parts.
var Kind = txn.Kind{
	Name:      "2pl",
	Doc:       "two-phase locking whose requests wait in the server's lock queues, by RPC alone",
	Claim:     history.StrictSerializable,
	ClaimOf:   claimOf,
	Snapshots: true,
	Rows:      rows,
	Logs:      []string{"redo", "none"},
	Has:       append(coordinator.HasPhases(phases, false), txn.HasLog, txn.HasAnnounced, txn.HasAborts, txn.HasProgram, txn.HasInserts, txn.HasTwoSided),
	Rules:     []func(knob.Values, *testbed.Load) error{txn.ValidReplicas, txn.ValidBackoff, valid},
	Config: func(v knob.Values, load *testbed.Load, _ txn.Seen) txn.Config {
		return configOf(v, load)
	},
	Choices: func(txn.Config) []txn.Choice { return nil },
	LooksUp: func(knob.Values, *testbed.Load) string { return "records are looked up on their server" },
	Costs:   coordinator.LockingCosts,
	LongestWait: func(v knob.Values) int {
		if v.Text("2pl.deadlock") == WaitDie.String() {
			return 0
		}
		return v.Int("2pl.timeout_ns")
	},
}

func rows(load testbed.LoadOf) []knob.Row {
	return []knob.Row{
		{Knob: knob.Knob{Name: "2pl.deadlock", Kind: knob.Choice, Default: Timeout.String(), Choices: deadlockNames[:], Label: "Deadlocks", Section: "5.3.2", Group: knob.Phases, Live: true,
			Doc: "timeout: a lock request that has waited too long is refused. wait-die: a transaction waits only for younger ones, else it aborts at once."}},
		{Knob: knob.Knob{Name: "2pl.timeout_ns", Kind: knob.Duration, Default: DefaultTimeoutNS, Min: 1_000, Max: MaxTimeoutNS, Unit: "ns", Label: "Lock wait, most", Section: "5.3.2", Group: knob.Phases, Live: true,
			Doc: "How long a request may wait for its locks before it is refused. Assumed: MySQL Cluster's default is 1.2 s, for transactions that take milliseconds."},
			Inactive: func(v knob.Values) string {
				if v.Text("2pl.deadlock") == WaitDie.String() {
					return "under 2pl.deadlock=wait-die there are no deadlocks"
				}
				return ""
			}},
		{Knob: knob.Knob{Name: "2pl.isolation", Kind: knob.Choice, Default: Serializable.String(), Choices: isolationNames[:], Label: "Isolation", Section: "5.5.2", Group: knob.Phases, Live: true,
			Doc: "serializable: reads take shared locks, held until the end. read-committed: reads take none and return what was committed last; what is written was not changed since it was read."}},
		{Knob: knob.Knob{Name: "2pl.read_ns", Kind: knob.Duration, Default: DefaultReadNS, Min: 0, Max: 1_000_000, Unit: "ns", Label: "Server's time, read", Section: "5.5.2", Group: knob.Phases, Live: true,
			Doc: "CPU time of a server's core per record read. Assumed: two cores of MySQL Cluster 7.4's data node served 589,000 reads a second (M. Ronström, blog, April 2015)."}},
		{Knob: knob.Knob{Name: "2pl.write_ns", Kind: knob.Duration, Default: DefaultWriteNS, Min: 0, Max: 1_000_000, Unit: "ns", Label: "Server's time, write", Section: "5.5.2", Group: knob.Phases, Live: true,
			Doc: "CPU time of a server's core per record written, locks and commit together. Assumed, from the same source: 402,000 updates a second of two cores, without logs on disk."}},
		txn.HostRow(),
	}
}

// configOf is what resolved values say.
func configOf(v knob.Values, load *testbed.Load) Config {
	c := Config{Primitives: coordinator.PrimitivesOf(v, load, phases, false)}
	c.Deadlock, c.Isolation = Deadlock(v.Number("2pl.deadlock", deadlockNames[:])), Isolation(v.Number("2pl.isolation", isolationNames[:]))
	c.TimeoutNS = int64(v.Int("2pl.timeout_ns"))
	c.ReadNS, c.WriteNS = nothing(v.Int("2pl.read_ns")), nothing(v.Int("2pl.write_ns"))
	c.HostScale = txn.HostScale(v)
	c.Settings = txn.SettingsOf(v)
	c.Speculative = v.Bool("txn.speculative")
	return c.withDefaults()
}

// nothing tells a cost of 0 from one that was not given.
func nothing(ns int) int64 {
	if ns == 0 {
		return -1
	}
	return int64(ns)
}

// valid refuses what Config.Validate does.
func valid(v knob.Values, load *testbed.Load) error {
	return coordinator.Invalid(configOf(v, load).Validate())
}

// claimOf is weaker where reads take no locks.
func claimOf(v knob.Values) history.Claim {
	if v.Text("2pl.isolation") == ReadCommitted.String() {
		return history.ReadCommitted
	}
	return history.StrictSerializable
}
