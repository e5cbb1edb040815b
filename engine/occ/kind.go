package occ

import (
	"strings"

	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// Kind is the protocol in the list of parts.
var Kind = txn.Kind{
	Name:      "occ",
	Snapshots: true,
	Doc:       "optimistic concurrency control with primary-backup replication (Figure 4-1)",
	Claim:     history.StrictSerializable,
	Rows:      rows,
	Uses:      []string{"replicas", "cache.enabled", "cache.bytes", "txn.speculative", txn.PaddingKnob, "log.reclaim", "txn.backoff_min_ns", "txn.backoff_max_ns", txn.KnobCoordinator},
	Rules:     []func(knob.Values, *testbed.Load) error{txn.ValidReplicas, txn.ValidBackoff, validNetwork, validVersions, validAtomics, validSwitches},
	Follower: func(load testbed.LoadOf) knob.Follower {
		return knob.Follower{
			Values: func(before, v, set knob.Values) {
				followVersions(before, v, set)
				FollowTable(v, set, configOf(before, load(before)).Resolved(), configOf(v, load(v)).Resolved())
			},
			Spec: dropBarred,
		}
	},
	Config: func(v knob.Values, load *testbed.Load, seen txn.Seen) txn.Config {
		c := configOf(v, load)
		c.Overloaded = seen.Overloaded
		if seen.Counted {
			c.LocalPercent = seen.LocalLocks
		}
		return c
	},
	Choices: func(c txn.Config) []txn.Choice { return c.(Config).choices() },
	LooksUp: func(v knob.Values, load *testbed.Load) string {
		if c := configOf(v, load).Resolved(); c.Execution == TwoSided && c.RORead == TwoSided {
			return "two-sided reads look up on the server"
		}
		return ""
	},
	Costs: func() []txn.Cost {
		return append(ScaledCosts(), txn.HeldCost("from the answers to lock requests to the decision"))
	},
	Presets:     PresetNames(),
	PresetKnobs: presetKnobs,
	Governed:    governed,
}

// configOf is what resolved values say.
func configOf(v knob.Values, load *testbed.Load) Config {
	var c Config
	for _, p := range Phases {
		prim, err := ParsePrim(v.Text(p.Knob()))
		if err != nil {
			panic("occ: resolved " + p.Knob() + ": " + err.Error())
		}
		*p.Field(&c) = prim
		for _, o := range Optimisations {
			*o.Field(&c.Opt[p.ID]) = v.Bool(o.Knob(p))
		}
	}
	c.Settings = txn.SettingsOf(v)
	c.Speculative = v.Bool("txn.speculative")
	c.ChargePerRecord, c.CommitTogether = v.Bool("rpc.charge_per_record"), v.Bool("rpc.commit_together")
	c.Inline = v.Int("ts.inline")
	c.NoRDMA = load.Transactions && !testbed.HasRDMA(v)
	if load.LocalLocks != nil {
		c.LocalPercent = load.LocalLocks(v)
	}
	c.IgnoresAborts = load.IgnoresAborts != nil && load.IgnoresAborts(v)
	return c.withDefaults()
}

// choices are the primitives that the phases come to.
func (c Config) choices() []txn.Choice {
	now, why := c.Decide()
	list := make([]txn.Choice, len(Phases))
	for i, p := range Phases {
		list[i] = txn.Choice{Phase: p.Name, Knob: p.Knob(), Primitive: p.Field(&now).String(), Because: why[p.ID]}
	}
	return list
}

// presetKnobs is everything that a preset sets: its row of Table 4-3, and the optimisations of Table 4-1 for it.
func presetKnobs(preset string) knob.Values {
	c, ok := Preset(preset)
	if !ok {
		panic("occ: no preset " + preset)
	}
	k := knob.Values{"cache.enabled": c.CacheEnabled, "txn.speculative": c.Speculative, "opt.co": true}
	r := c.Resolved()
	for _, p := range Phases {
		k[p.Knob()] = p.Field(&c).String()
		for _, o := range Optimisations {
			k[o.Knob(p)] = o.Allowed(p, *p.Field(&r)) && *o.Field(&c.Opt[p.ID])
		}
	}
	return k
}

// governed is what the preset says in v, where the primitives may be others than its own.
func governed(v knob.Values, load *testbed.Load) knob.Values {
	name := v.Text("preset")
	k, w := presetKnobs(name), v.Clone()
	own, _ := Preset(name)
	for _, p := range Phases {
		for _, o := range Optimisations {
			w[o.Knob(p)] = k[o.Knob(p)]
		}
	}
	FollowTable(w, nil, own.Resolved(), configOf(w, load).Resolved())
	for _, p := range Phases {
		for _, o := range Optimisations {
			k[o.Knob(p)] = w[o.Knob(p)]
		}
	}
	return k
}

// dropBarred forgets of a spec the switches that a change of their phase's primitive does not allow.
func dropBarred(spec, set knob.Values) {
	for _, p := range Phases {
		word, ok := set[p.Knob()].(string)
		if !ok {
			continue
		}
		prim, err := ParsePrim(word)
		if err != nil {
			continue // said later
		}
		c := Config{Settings: txn.Settings{CacheEnabled: true}}
		*p.Field(&c) = prim
		c = c.Resolved()
		for _, o := range Optimisations {
			if spec[o.Knob(p)] == true && !o.Allowed(p, *p.Field(&c)) {
				delete(spec, o.Knob(p))
			}
		}
	}
}

// validNetwork refuses one-sided verbs where the NICs have none.
func validNetwork(v knob.Values, load *testbed.Load) error {
	if !load.Transactions || testbed.HasRDMA(v) {
		return nil
	}
	c := configOf(v, load).Resolved()
	for _, p := range Phases {
		if *p.Field(&c) != TwoSided {
			return knob.Invalid(p.Knob(), v.Text(p.Knob()), "set preset=fasst, or "+p.Knob()+"=two-sided or auto", "%s", testbed.NoRDMA(v))
		}
	}
	return nil
}

func validAtomics(v knob.Values, load *testbed.Load) error {
	c := configOf(v, load)
	if r := c.Resolved(); r.Lock == OneSided && r.Commit == TwoSided {
		return knob.Invalid("phase.commit", v.Text("phase.commit"), "set phase.lock=two-sided or auto",
			"a CPU may not unlock what an RNIC locked, and phase.lock is %s: they are not atomic with each other (section 4.3.2)", v.Text("phase.lock"))
	}
	if err := c.Validate(); err != nil {
		rule, _, _ := strings.Cut(err.Error(), "\n")
		return &knob.Error{Rule: rule, Next: "see `drtmx knobs`"}
	}
	return nil
}

// validSwitches refuses optimisations that Table 4-1 has no check mark for.
func validSwitches(v knob.Values, load *testbed.Load) error {
	c := configOf(v, load).Resolved()
	for _, p := range Phases {
		for _, o := range Optimisations {
			name, why := o.Knob(p), o.Barred(p, *p.Field(&c))
			if v.Bool(name) && why != "" {
				next := "leave it off"
				if o.Ever(p) {
					next += ", or set " + p.Knob() + "=two-sided"
				}
				return knob.Invalid(name, true, next, "%s", why)
			}
		}
	}
	return nil
}
