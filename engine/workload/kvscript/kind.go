package kvscript

import (
	"slices"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// Kinds is the workload in the list of parts.
var Kinds = []workload.Kind{{
	Load: testbed.Load{Name: "kvscript", Ordered: true, Scans: func(v knob.Values) bool {
		return slices.ContainsFunc(scriptOf(v).clients, func(list []request) bool {
			return slices.ContainsFunc(list, func(r request) bool { return r.kind == scan })
		})
	}},
	Doc:      "a few written requests to an ordered store, for drtmx explore",
	Rows:     rows(),
	Knobs:    []string{"workload.value_bytes", "workload.scale", "workload.requests"},
	Defaults: map[string]any{"workload.value_bytes": 8},
	Rules:    []func(knob.Values) error{valid},
	Empty: []workload.Empty{
		{Type: kindNames[get], When: "its key is missing"},
		{Type: kindNames[update], When: "its key is missing", Uncounted: true},
		{Type: kindNames[insert], When: "its key is taken", Uncounted: true},
		{Type: kindNames[remove], When: "its key is missing", Uncounted: true},
		{Type: kindNames[scan], When: "there is no key from its first one on"},
	},

	Footprint: func(v knob.Values) workload.Footprint {
		return workload.Footprint{PerRequest: workload.PageBytes}
	},
	Messages: func(c *r2.Config, v knob.Values) {
		c.RecvDepth = r2.RecvDepths(c.PerMachine, v.Int("coroutines"), v.Int("coroutines"))
	},
	Build: func(v knob.Values) (workload.Bench, error) {
		return New(Options{Script: v.Text("workload.requests"), ValueBytes: v.Int("workload.value_bytes"), Seed: testbed.Seed(v)})
	},
}}

// scriptOf is that of resolved values.
func scriptOf(v knob.Values) script {
	x, err := parse(v.Text("workload.requests"))
	if err != nil {
		panic("kvscript: resolved workload.requests: " + err.Error())
	}
	return x
}

func valid(v knob.Values) error {
	x := scriptOf(v)
	if _, servers := testbed.Machines(v); len(x.keys) < servers {
		return knob.Invalid("workload.requests", x.String(), "begin with more keys, or set servers lower", "of %d keys at the start for %d servers: each has one at least", len(x.keys), servers)
	}
	_, clients, _ := testbed.ThreadCounts(v)
	if n := len(x.clients); n > clients*testbed.Coroutines(v) {
		return knob.Invalid("workload.requests", x.String(), "write fewer, or set clients, threads or coroutines higher", "of %d clients, and there are %d", n, clients*testbed.Coroutines(v))
	}
	return nil
}

func rows() []knob.Row {
	return []knob.Row{{Knob: knob.Knob{Name: "workload.requests", Kind: knob.Text, Default: "10 20 30 40 50 60: i15 i16 i17 g20; g20 u20 s10+4", Unit: "10 20 30: i15 u20; g20 s10+3; ...", Label: "Requests", Group: knob.Workload,
		Doc: "The keys at the start, a colon, and what clients send: each its requests once and one after the other, semicolons between the clients. g20 gets key 20, u20 updates it, i15 inserts key 15, d20 deletes key 20, s10+3 scans three pairs from key 10 on."}, Normal: normal}}
}
