package nowait

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// Kind is the protocol in the list of parts.
var Kind = txn.Kind{
	Name:  "nowait",
	Doc:   "two-phase locking that aborts at the first lock it does not get (RCBench's NOWAIT)",
	Claim: history.StrictSerializable,
	Rows:  rows,
	Logs:  []string{"redo", "none"},
	Has:   append(coordinator.HasPhases(Phases, true), txn.HasLog, txn.HasLocations, txn.HasAnnounced, txn.HasAborts, txn.HasProgram, txn.HasInserts, txn.HasTwoSided),
	Rules: []func(knob.Values, *testbed.Load) error{txn.ValidReplicas, txn.ValidBackoff, valid},
	Config: func(v knob.Values, load *testbed.Load, _ txn.Seen) txn.Config {
		return configOf(v, load)
	},
	Layout:  func(txn.Config) record.Layout { return layout },
	Choices: func(c txn.Config) []txn.Choice { return c.(Config).choices() },
	LooksUp: func(v knob.Values, load *testbed.Load) string {
		if configOf(v, load).Resolved().Lock == TwoSided {
			return "two-sided locks look up on the server"
		}
		return ""
	},
	Costs: coordinator.LockingCosts,
}

func rows(testbed.LoadOf) []knob.Row {
	return []knob.Row{{Knob: knob.Knob{
		Name: "nowait.mode", Kind: knob.Choice, Default: Exclusive.String(), Choices: modeNames[:], Label: "Locks of reads", Group: knob.Phases, Live: true,
		Doc: "E: reads take exclusive locks too, one round trip each. E/S: readers share a record, at two round trips for each lock and two for its release.",
	}}}
}

// configOf is what resolved values say.
func configOf(v knob.Values, load *testbed.Load) Config {
	c := Config{Primitives: coordinator.PrimitivesOf(v, load, Phases, true)}
	c.Mode = Mode(v.Number("nowait.mode", modeNames[:]))
	c.Settings = txn.SettingsOf(v)
	c.Speculative = v.Bool("txn.speculative")
	return c.withDefaults()
}

// valid refuses what Config.Validate does, by the name of the knob.
func valid(v knob.Values, load *testbed.Load) error {
	c := configOf(v, load)
	r := c.Resolved()
	if err := coordinator.ValidNetwork(v, r.Primitives, Phases, ""); err != nil {
		return err
	}
	if r.Lock != r.Commit {
		return knob.Invalid("phase.commit", v.Text("phase.commit"), "set both alike, or one of them to auto",
			"phase.lock is %s: locks are taken and released by atomics, and those of RNIC and CPU are not atomic with each other (section 4.3.2)", v.Text("phase.lock"))
	}
	return coordinator.Invalid(c.Validate())
}

// choices are the primitives that the phases come to.
func (c Config) choices() []txn.Choice {
	now, why := c.Resolved(), coordinator.Reasons{}
	for _, p := range Phases {
		if *p.Field(&c.Primitives) == Auto {
			why[p.ID] = c.because(p.ID)
		}
	}
	return now.Choices(Phases, &why)
}

// because says why a phase that is auto is done as it is.
func (c Config) because(p metrics.Phase) string {
	switch given := c.Lock != Auto || c.Commit != Auto; {
	case c.NoRDMA:
		return "the NICs have no RDMA"
	case p != replication.Logging && given:
		return "locks are taken and released by one primitive (section 4.3.2)"
	}
	return "one-sided requests need no CPU of another machine"
}
