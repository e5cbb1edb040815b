package cycle

import (
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// Kinds is the workload in the list of parts.
var Kinds = []workload.Kind{{
	Load:       testbed.Load{Name: "cycle", Transactions: true, LocalLocks: workload.Anywhere},
	Doc:        "transactions rotate three keys of a ring, a test of serialisability",
	Knobs:      []string{"workload.keys", "workload.value_bytes", "workload.scale"},
	Defaults:   map[string]any{"workload.keys": 64},
	Population: "workload.keys",
	Footprint: func(v knob.Values) workload.Footprint {
		return workload.SmallRecords(v, int64(workload.Scaled(v, "workload.keys")), v.Int("workload.value_bytes"))
	},
	Build: func(v knob.Values) (workload.Bench, error) {
		return New(Options{Keys: uint64(workload.Scaled(v, "workload.keys")), ValueBytes: v.Int("workload.value_bytes"), Seed: testbed.Seed(v)})
	},
}}
