package engine

import (
	"strings"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/txn"
)

// phase binds a phase of Figure 4-1 to its knob phase.<name> and to its field in txn.Config. The
// write set is locked, the read set validated: the thesis counts both as Validation.
type phase struct {
	name  string
	id    metrics.Phase
	field func(*txn.Config) *txn.Prim
}

var phases = []phase{
	{"execution", metrics.Execution, func(c *txn.Config) *txn.Prim { return &c.Execution }},
	{"lock", metrics.Lock, func(c *txn.Config) *txn.Prim { return &c.Lock }},
	{"validation", metrics.Validation, func(c *txn.Config) *txn.Prim { return &c.Validation }},
	{"logging", metrics.Logging, func(c *txn.Config) *txn.Prim { return &c.Logging }},
	{"commit", metrics.Commit, func(c *txn.Config) *txn.Prim { return &c.Commit }},
	{"ro_read", metrics.RORead, func(c *txn.Config) *txn.Prim { return &c.RORead }},
	{"ro_validation", metrics.ROValidation, func(c *txn.Config) *txn.Prim { return &c.ROValidation }},
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
func (o opt) allowed(p phase, with txn.Prim) bool {
	m := txn.Allowed(p.id, with)
	return *o.field(&m)
}

// ever says whether Table 4-1 allows it with some primitive.
func (o opt) ever(p phase) bool { return o.allowed(p, txn.OneSided) || o.allowed(p, txn.TwoSided) }

// never says why Table 4-1 has no check mark for either primitive.
func (o opt) never(p phase) string {
	if o.name == "or" {
		return "Table 4-1: " + p.name + " fetches record by record, for its read set is not known in advance; see txn.speculative"
	}
	return "Table 4-1: the completion of " + p.name + " is on the critical path, so it cannot be acknowledged passively"
}

// inactive says why the switch has no effect with the primitive that the phase resolves to.
func (o opt) inactive(p phase, v Knobs) string {
	if !o.ever(p) {
		return o.never(p)
	}
	if o.name == "db" && !hasRDMA(v) {
		return noDoorbells(v)
	}
	c := txnConfig(v).Resolved()
	if o.allowed(p, *p.field(&c)) {
		return ""
	}
	if o.allowed(p, txn.TwoSided) {
		return "Table 4-1: in " + p.name + " this needs the two-sided primitive"
	}
	return "Table 4-1: in " + p.name + " this needs the one-sided primitive"
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

// deriveGroups sets each group knob to whether all of its members are on.
func deriveGroups(v Knobs) {
	for _, o := range opts {
		all := true
		for _, m := range o.members() {
			all = all && v.bool(m)
		}
		v[o.group()] = all
	}
}

func isGroup(knob string) bool {
	for _, o := range opts {
		if knob == o.group() {
			return true
		}
	}
	return false
}

// txnConfig is what the knobs say to transactions.
func txnConfig(v Knobs) txn.Config {
	c, ok := txn.Preset(v.text("preset"))
	if !ok {
		panic("engine: resolved spec with preset " + v.text("preset"))
	}
	for _, p := range phases {
		prim, err := txn.ParsePrim(v.text(p.knob()))
		if err != nil {
			panic("engine: resolved " + p.knob() + ": " + err.Error())
		}
		*p.field(&c) = prim
		for _, o := range opts {
			*o.field(&c.Opt[p.id]) = v.bool(o.knob(p))
		}
	}
	c.Replicas = v.int("replicas")
	c.CacheEnabled = v.bool("cache.enabled")
	c.CacheBytes = max(uint64(float64(v.int("cache.bytes"))*v.float("workload.scale")), 1<<10)
	c.Speculative = v.bool("txn.speculative")
	c.NoRDMA = workloadOf(v).transactions && !hasRDMA(v)
	if ignoresAborts(v) {
		c.Variant = txn.IgnoreAborts
	}
	return c
}

// PresetNames lists the presets.
func PresetNames() []string { return txn.PresetNames() }

// PresetKnobs is everything that a preset sets.
func PresetKnobs(name string) (Knobs, error) {
	c, ok := txn.Preset(name)
	if !ok {
		names := txn.PresetNames()
		return nil, &SpecError{Field: "preset", Value: clip(name), Rule: "must be one of " + strings.Join(names, ", ") + didYouMean(name, names), Next: "see `drtmx knobs`"}
	}
	k := Knobs{"cache.enabled": c.CacheEnabled, "txn.speculative": c.Speculative, "opt.co": true}
	for _, p := range phases {
		k[p.knob()] = p.field(&c).String()
		for _, o := range opts {
			k[o.knob(p)] = o.ever(p) && *o.field(&c.Opt[p.id])
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

// presetDiff lists the governed knobs whose value is not the preset's.
func presetDiff(v Knobs) Knobs {
	diff := Knobs{}
	for name, want := range presetKnobs(v.text("preset")) { // order-free: fills a map
		if v[name] != want {
			diff[name] = v[name]
		}
	}
	return diff
}
