package nowait

import (
	"strings"

	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/locking"
	"drtmx/engine/r2"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// Kind is the protocol in the list of parts.
var Kind = txn.Kind{
	Name:  "nowait",
	Doc:   "two-phase locking that aborts at the first lock it does not get (RCBench's NOWAIT)",
	Claim: history.StrictSerializable,
	Rows:  rows,
	Uses: []string{"replicas", "cache.enabled", "cache.bytes", "txn.speculative", txn.PaddingKnob, "log.reclaim", "txn.backoff_min_ns", "txn.backoff_max_ns", txn.KnobCoordinator, "phase.lock", "phase.logging", "phase.commit",
		"opt.or", "opt.db", "opt.pa", "opt.lock.or", "opt.lock.db", "opt.logging.or", "opt.logging.db", "opt.commit.or", "opt.commit.db", "opt.commit.pa"},
	Rules: []func(knob.Values, *testbed.Load) error{txn.ValidReplicas, txn.ValidBackoff, valid},
	Config: func(v knob.Values, load *testbed.Load, _ txn.Seen) txn.Config {
		return configOf(v, load)
	},
	Choices: func(c txn.Config) []txn.Choice { return c.(Config).choices() },
	LooksUp: func(v knob.Values, load *testbed.Load) string {
		if configOf(v, load).Resolved().Lock == TwoSided {
			return "two-sided locks look up on the server"
		}
		return ""
	},
	Costs: locking.Costs,
}

func rows(testbed.LoadOf) []knob.Row {
	return []knob.Row{{Knob: knob.Knob{
		Name: "nowait.mode", Kind: knob.Choice, Default: Exclusive.String(), Choices: modeNames[:], Label: "Locks of reads", Group: knob.Phases, Live: true,
		Doc: "E: reads take exclusive locks too, one round trip each. E/S: readers share a record, at two round trips for each lock and two for its release.",
	}}}
}

// configOf is what resolved values say.
func configOf(v knob.Values, load *testbed.Load) Config {
	var c Config
	for _, p := range Phases {
		prim, err := ParsePrim(v.Text("phase." + p.Name))
		if err != nil {
			panic("nowait: resolved phase." + p.Name + ": " + err.Error())
		}
		*p.Field(&c) = prim
		opt := "opt." + p.Name
		c.Opt[p.ID] = r2.Mode{Outstanding: v.Bool(opt + ".or"), Doorbell: v.Bool(opt + ".db"), Passive: v.Bool(opt + ".pa")}
	}
	mode, err := ParseMode(v.Text("nowait.mode"))
	if err != nil {
		panic("nowait: resolved nowait.mode: " + err.Error())
	}
	c.Mode = mode
	c.Settings = txn.SettingsOf(v)
	c.Speculative = v.Bool("txn.speculative")
	c.NoRDMA = load.Transactions && !testbed.HasRDMA(v)
	return c.withDefaults()
}

// valid refuses what Config.Validate does, by the name of the knob.
func valid(v knob.Values, load *testbed.Load) error {
	c := configOf(v, load)
	r := c.Resolved()
	for _, p := range Phases {
		if c.NoRDMA && *p.Field(&r) != TwoSided {
			return knob.Invalid("phase."+p.Name, v.Text("phase."+p.Name), "set phase."+p.Name+"=two-sided or auto", "%s", testbed.NoRDMA(v))
		}
	}
	if r.Lock != r.Commit {
		return knob.Invalid("phase.commit", v.Text("phase.commit"), "set both alike, or one of them to auto",
			"phase.lock is %s: locks are taken and released by atomics, and those of RNIC and CPU are not atomic with each other (section 4.3.2)", v.Text("phase.lock"))
	}
	if err := c.Validate(); err != nil {
		rule, _, _ := strings.Cut(err.Error(), "\n")
		return &knob.Error{Rule: rule, Next: "see `drtmx knobs`"}
	}
	return nil
}

// choices are the primitives that the phases come to.
func (c Config) choices() []txn.Choice {
	now := c.Resolved()
	list := make([]txn.Choice, len(Phases))
	for i, p := range Phases {
		list[i] = txn.Choice{Phase: p.Name, Knob: "phase." + p.Name, Primitive: p.Field(&now).String()}
		if *p.Field(&c) == Auto {
			list[i].Because = c.because(p)
		}
	}
	return list
}

// because says why a phase that is auto is done as it is.
func (c Config) because(p Phase) string {
	switch given := c.Lock != Auto || c.Commit != Auto; {
	case c.NoRDMA:
		return "the NICs have no RDMA"
	case p.Name != "logging" && given:
		return "locks are taken and released by one primitive (section 4.3.2)"
	}
	return "one-sided requests need no CPU of another machine"
}
