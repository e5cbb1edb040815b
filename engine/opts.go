package engine

import (
	"strings"

	"drtmx/engine/knob"

	"drtmx/engine/occ"
)

// The phases and optimisations of the protocol, which owns them.
var (
	phases = occ.Phases
	opts   = occ.Optimisations
)

// inactive says why an optimisation's switch has no effect with the primitive that the phase resolves to.
func inactive(o occ.Optimisation, p occ.Phase, v Knobs) string {
	if o.Name == "db" && o.Ever(p) && !hasRDMA(v) {
		return noDoorbells(v)
	}
	c := txnConfig(v).Resolved()
	return o.Barred(p, *p.Field(&c))
}

// IsGroup says whether a knob only sets others, and reads what they say.
func IsGroup(name string) bool {
	if name == remoteKnob {
		return true
	}
	for _, o := range opts {
		if name == o.Group() {
			return true
		}
	}
	return false
}

// IsSwitch says whether a knob is an optimisation of a phase.
func IsSwitch(name string) bool {
	for _, o := range opts {
		for _, p := range phases {
			if name == o.Knob(p) {
				return true
			}
		}
	}
	return false
}

// txnConfig is what the knobs say to transactions.
func txnConfig(v Knobs) occ.Config {
	c, ok := occ.Preset(v.Text("preset"))
	if !ok {
		panic("engine: resolved spec with preset " + v.Text("preset"))
	}
	for _, p := range phases {
		prim, err := occ.ParsePrim(v.Text(p.Knob()))
		if err != nil {
			panic("engine: resolved " + p.Knob() + ": " + err.Error())
		}
		*p.Field(&c) = prim
		for _, o := range opts {
			*o.Field(&c.Opt[p.ID]) = v.Bool(o.Knob(p))
		}
	}
	c.Replicas = v.Int("replicas")
	c.CacheEnabled = v.Bool("cache.enabled")
	c.CacheBytes = max(uint64(float64(v.Int("cache.bytes"))*v.Float("workload.scale")), 1<<10)
	c.Speculative = v.Bool("txn.speculative")
	w := workloadOf(v)
	c.NoRDMA = w.transactions && !hasRDMA(v)
	if w.local != nil {
		c.LocalPercent = w.local(v)
	}
	if ignoresAborts(v) {
		c.Variant = occ.IgnoreAborts
	}
	return c
}

// PresetNames lists the presets.
func PresetNames() []string { return occ.PresetNames() }

// PresetKnobs is everything that a preset sets: its row of Table 4-3, and the optimisations of
// Table 4-1 for it.
func PresetKnobs(name string) (Knobs, error) {
	c, ok := occ.Preset(name)
	if !ok {
		names := occ.PresetNames()
		return nil, &SpecError{Field: "preset", Value: knob.Clip(name), Rule: "must be one of " + strings.Join(names, ", ") + knob.DidYouMean(name, names), Next: "see `drtmx knobs`"}
	}
	k := Knobs{"cache.enabled": c.CacheEnabled, "txn.speculative": c.Speculative, "opt.co": true}
	r := c.Resolved()
	for _, p := range phases {
		k[p.Knob()] = p.Field(&c).String()
		for _, o := range opts {
			k[o.Knob(p)] = o.Allowed(p, *p.Field(&r)) && *o.Field(&c.Opt[p.ID])
		}
	}
	return k, nil
}

// presetKnobs is PresetKnobs of a name that is known to exist.
func presetKnobs(name string) Knobs {
	k, err := PresetKnobs(name)
	if err != nil {
		panic("engine: " + err.Error())
	}
	return k
}

// governed is what the preset says in v, where the primitives may be others than its own.
func governed(v Knobs) Knobs {
	name := v.Text("preset")
	k, w := presetKnobs(name), v.Clone()
	own, _ := occ.Preset(name)
	for _, p := range phases {
		for _, o := range opts {
			w[o.Knob(p)] = k[o.Knob(p)]
		}
	}
	occ.FollowTable(w, nil, own.Resolved(), txnConfig(w).Resolved())
	for _, p := range phases {
		for _, o := range opts {
			k[o.Knob(p)] = w[o.Knob(p)]
		}
	}
	return k
}

// presetDiff lists the governed knobs whose value is not the preset's.
func presetDiff(v Knobs) Knobs {
	diff := Knobs{}
	for name, want := range governed(v) { // order-free: fills a map
		if v[name] != want {
			diff[name] = v[name]
		}
	}
	return diff
}
