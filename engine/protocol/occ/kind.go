package occ

import (
	"drtmx/engine/coordinator"
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
	Logs:      []string{"redo", "none"},
	Has:       features(Phases),
	Rules:     []func(knob.Values, *testbed.Load) error{txn.ValidReplicas, txn.ValidBackoff, validNetwork, validVersions, validAtomics, validSwitches},
	Follower: func(load testbed.LoadOf) knob.Follower {
		return knob.Follower{
			Values: func(before, v, set knob.Values) {
				followVersions(before, v, set)
				coordinator.FollowTable(v, set, primitivesOf(before, load), primitivesOf(v, load))
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
	Choices: func(c txn.Config) []txn.Choice { return choices(c, Phases) },
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

// features are what it has whose phases these are.
func features(phases []Phase) []txn.Feature {
	return append(coordinator.HasPhases(phases, true), txn.HasLog, txn.HasLocations, txn.HasAnnounced, txn.HasAborts, txn.HasProgram, txn.HasInserts, txn.HasTwoSided, hasMessages)
}

// configOf is what resolved values say.
func configOf(v knob.Values, load *testbed.Load) Config {
	c := Config{Primitives: coordinator.PrimitivesOf(v, load, Phases, true)}
	c.Settings = txn.SettingsOf(v)
	c.Speculative = v.Bool("txn.speculative")
	c.ChargePerRecord, c.CommitTogether = v.Bool("rpc.charge_per_record"), v.Bool("rpc.commit_together")
	c.Timestamps.Inline = v.Int(inlineKnob)
	if load.LocalLocks != nil {
		c.LocalPercent = load.LocalLocks(v)
	}
	c.IgnoresAborts = load.IgnoresAborts != nil && load.IgnoresAborts(v)
	return c.withDefaults()
}

// choices are the primitives that phases come to.
func choices(c txn.Config, phases []Phase) []txn.Choice {
	now, why := c.(Config).Decide()
	return now.Choices(phases, &why)
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
		k[p.Knob()] = p.Field(&c.Primitives).String()
		for _, o := range coordinator.Optimisations {
			k[o.Knob(p)] = o.Allowed(p, *p.Field(&r.Primitives)) && *o.Field(&c.Opt[p.ID])
		}
	}
	return k
}

// governed is what the preset says in v, where the primitives may be others than its own.
func governed(v knob.Values, load *testbed.Load) knob.Values {
	name := v.Text("preset")
	k, w := presetKnobs(name), v.Clone()
	own, _ := Preset(name)
	copySwitches := func(to, from knob.Values) {
		for _, p := range Phases {
			for _, o := range coordinator.Optimisations {
				to[o.Knob(p)] = from[o.Knob(p)]
			}
		}
	}
	copySwitches(w, k)
	coordinator.FollowTable(w, nil, own.Resolved().Primitives, configOf(w, load).Resolved().Primitives)
	copySwitches(k, w)
	return k
}

// dropBarred forgets of a spec the switches that a change of their phase's primitive does not allow.
func dropBarred(spec, set knob.Values) {
	for _, p := range Phases {
		word, ok := set[p.Knob()].(string)
		if !ok {
			continue
		}
		prim, err := coordinator.ParsePrim(word)
		if err != nil {
			continue // said later
		}
		c := Config{Settings: txn.Settings{CacheEnabled: true}}
		*p.Field(&c.Primitives) = prim
		c = c.Resolved()
		for _, o := range coordinator.Optimisations {
			if spec[o.Knob(p)] == true && !o.Allowed(p, *p.Field(&c.Primitives)) {
				delete(spec, o.Knob(p))
			}
		}
	}
}

// validNetwork refuses one-sided verbs where the NICs have none.
func validNetwork(v knob.Values, load *testbed.Load) error {
	return coordinator.ValidNetwork(v, configOf(v, load).Resolved().Primitives, Phases, "preset=fasst, or ")
}

func validAtomics(v knob.Values, load *testbed.Load) error {
	c := configOf(v, load)
	if r := c.Resolved(); r.Lock == OneSided && r.Commit == TwoSided {
		return knob.Invalid("phase.commit", v.Text("phase.commit"), "set phase.lock=two-sided or auto",
			"a CPU may not unlock what an RNIC locked, and phase.lock is %s: they are not atomic with each other (section 4.3.2)", v.Text("phase.lock"))
	}
	return coordinator.Invalid(c.Validate())
}

// validSwitches refuses optimisations that Table 4-1 has no check mark for.
func validSwitches(v knob.Values, load *testbed.Load) error {
	return coordinator.ValidSwitches(v, configOf(v, load).Resolved().Primitives, Phases)
}
