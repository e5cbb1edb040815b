package engine

import (
	"strings"

	"drtmx/engine/knob"

	"drtmx/engine/metrics"
	"drtmx/engine/occ"
	"drtmx/engine/r2"
)

// phase binds a phase of Figure 4-1 to its knob phase.<name> and to its field in occ.Config. The
// write set is locked, the read set validated: the thesis counts both as Validation.
type phase struct {
	name  string
	id    metrics.Phase
	field func(*occ.Config) *occ.Prim
}

var phases = []phase{
	{"execution", metrics.Execution, func(c *occ.Config) *occ.Prim { return &c.Execution }},
	{"lock", metrics.Lock, func(c *occ.Config) *occ.Prim { return &c.Lock }},
	{"validation", metrics.Validation, func(c *occ.Config) *occ.Prim { return &c.Validation }},
	{"logging", metrics.Logging, func(c *occ.Config) *occ.Prim { return &c.Logging }},
	{"commit", metrics.Commit, func(c *occ.Config) *occ.Prim { return &c.Commit }},
	{"ro_read", metrics.RORead, func(c *occ.Config) *occ.Prim { return &c.RORead }},
	{"ro_validation", metrics.ROValidation, func(c *occ.Config) *occ.Prim { return &c.ROValidation }},
}

func (p phase) knob() string { return "phase." + p.name }

// opt binds an optimisation of section 2.2.3 that is switched per phase to its field in r2.Mode.
// Coroutines are per worker.
type opt struct {
	name  string
	title string
	doc   string
	field func(*r2.Mode) *bool
}

var opts = []opt{
	{"or", "Outstanding requests", "Posts all requests of the phase before waiting for the first completion. Off: one request at a time.",
		func(m *r2.Mode) *bool { return &m.Outstanding }},
	{"db", "Doorbell batching", "Rings one doorbell for all requests of a queue pair and lets the RNIC fetch them. Off: one MMIO each.",
		func(m *r2.Mode) *bool { return &m.Doorbell }},
	{"pa", "Passive ACK", "Does not wait for the acknowledgement: unsignaled for one-sided, replies piggybacked for two-sided.",
		func(m *r2.Mode) *bool { return &m.Passive }},
}

func (o opt) group() string { return "opt." + o.name }

func (o opt) knob(p phase) string { return "opt." + p.name + "." + o.name }

// allowed is Table 4-1 for this optimisation in a phase that uses a primitive.
func (o opt) allowed(p phase, with occ.Prim) bool {
	m := occ.Allowed(p.id, with)
	return *o.field(&m)
}

// ever says whether Table 4-1 allows it with some primitive.
func (o opt) ever(p phase) bool { return o.allowed(p, occ.OneSided) || o.allowed(p, occ.TwoSided) }

// never says why Table 4-1 has no check mark for either primitive.
func (o opt) never(p phase) string {
	if o.name == "or" {
		return "Table 4-1: " + p.name + " fetches record by record, for its read set is not known in advance; see txn.speculative"
	}
	return "Table 4-1: the completion of " + p.name + " is on the critical path, so it cannot be acknowledged passively"
}

// barred says why Table 4-1 has no check mark for the primitive that the phase resolves to; empty:
// it has one.
func (o opt) barred(p phase, v Knobs) string {
	with := primOf(p, v)
	switch {
	case o.allowed(p, with):
		return ""
	case !o.ever(p):
		return o.never(p)
	case p.id == metrics.Logging:
		return "Table 4-1: one-sided logging sends one WRITE on each backup's queue pair, so there is no doorbell to share"
	}
	return "Table 4-1: one-sided " + p.name + " takes one READ for a record, and only requests that follow each other on a queue pair share a doorbell"
}

// primOf is the primitive that a phase resolves to.
func primOf(p phase, v Knobs) occ.Prim {
	c := txnConfig(v).Resolved()
	return *p.field(&c)
}

// inactive says why the switch has no effect with the primitive that the phase resolves to.
func (o opt) inactive(p phase, v Knobs) string {
	if o.name == "db" && o.ever(p) && !hasRDMA(v) {
		return noDoorbells(v)
	}
	return o.barred(p, v)
}

// members are the knobs that the group knob sets.
func (o opt) members() []string {
	var names []string
	for _, p := range phases {
		if o.ever(p) {
			names = append(names, o.knob(p))
		}
	}
	return names
}

// followTable makes the switches that a change did not name follow Table 4-1: where the phase's
// primitive does not allow one it is off, and where only the primitive of before did not, it is on
// as in the table. was has the primitives of before. Passive ACK, which either primitive of Commit
// allows, stays as it is.
func followTable(v, set Knobs, was occ.Config) {
	c := txnConfig(v).Resolved()
	for _, o := range opts {
		_, grouped := set[o.group()]
		for _, p := range phases {
			if _, named := set[o.knob(p)]; named {
				continue
			}
			switch now := o.allowed(p, *p.field(&c)); {
			case !now:
				v[o.knob(p)] = false
			case !grouped && !o.allowed(p, *p.field(&was)):
				v[o.knob(p)] = true
			}
		}
	}
	deriveGroups(v, c)
}

// deriveGroups sets each group knob to whether all of its members are on that the primitives in c allow.
func deriveGroups(v Knobs, c occ.Config) {
	for _, o := range opts {
		all := true
		for _, p := range phases {
			all = all && (v.Bool(o.knob(p)) || !o.allowed(p, *p.field(&c)))
		}
		v[o.group()] = all
	}
}

// IsGroup says whether a knob only sets others, and reads what they say.
func IsGroup(name string) bool {
	if name == remoteKnob {
		return true
	}
	for _, o := range opts {
		if name == o.group() {
			return true
		}
	}
	return false
}

// IsSwitch says whether a knob is an optimisation of a phase.
func IsSwitch(name string) bool {
	for _, o := range opts {
		for _, p := range phases {
			if name == o.knob(p) {
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
		prim, err := occ.ParsePrim(v.Text(p.knob()))
		if err != nil {
			panic("engine: resolved " + p.knob() + ": " + err.Error())
		}
		*p.field(&c) = prim
		for _, o := range opts {
			*o.field(&c.Opt[p.id]) = v.Bool(o.knob(p))
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
		k[p.knob()] = p.field(&c).String()
		for _, o := range opts {
			k[o.knob(p)] = o.allowed(p, *p.field(&r)) && *o.field(&c.Opt[p.id])
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
			w[o.knob(p)] = k[o.knob(p)]
		}
	}
	followTable(w, nil, own.Resolved())
	for _, p := range phases {
		for _, o := range opts {
			k[o.knob(p)] = w[o.knob(p)]
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
