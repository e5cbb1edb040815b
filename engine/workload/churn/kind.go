package churn

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// Kinds is the workload in the list of parts.
var Kinds = []workload.Kind{{
	Load:     testbed.Load{Name: "churn", Transactions: true, Inserts: testbed.Always, ReadOnly: true, LocalLocks: workload.Anywhere},
	Doc:      "records that are inserted, deleted and inserted again",
	Knobs:    []string{"workload.keys", "workload.value_bytes", "workload.scale"},
	Defaults: map[string]any{"workload.keys": 4000, "workload.value_bytes": LeastBytes},
	Mix:      mix(),
	Rules:    []func(knob.Values) error{valid},
	Empty: []workload.Empty{
		{Type: Types[move].Name, When: "its first pair has no token, or its second one has", Uncounted: true},
		{Type: Types[remove].Name, When: "its pair has no token", Uncounted: true},
		{Type: Types[put].Name, When: "its pair has a token", Uncounted: true},
		{Type: Types[count].Name, When: "its pair has no token", Uncounted: true},
		{Type: Types[look].Name, When: "its pairs have no token"},
		{Type: Types[lookOne].Name, When: "its slot has no token"},
	},
	Population: "workload.keys",
	Footprint: func(v knob.Values) workload.Footprint {
		return workload.SmallRecords(v, int64(keysOf(v)), v.Int("workload.value_bytes"))
	},
	Build: func(v knob.Values) (workload.Bench, error) {
		return New(Options{Keys: keysOf(v), ValueBytes: v.Int("workload.value_bytes"), Seed: testbed.Seed(v)})
	},
}}

func mix() (list []workload.MixType) {
	for _, t := range Types {
		list = append(list, workload.MixType{Name: t.Name, Weight: t.Weight})
	}
	return list
}

// keysOf is the number of slots: whole pairs, half of them with a token.
func keysOf(v knob.Values) uint64 {
	return max(LeastKeys, uint64(workload.Scaled(v, "workload.keys"))/4*4)
}

func valid(v knob.Values) error {
	switch keys, bytes := v.Int("workload.keys"), v.Int("workload.value_bytes"); {
	case keys > MostKeys:
		return knob.Invalid("workload.keys", keys, fmt.Sprintf("set workload.keys=%d or fewer", MostKeys), "churn keeps a count of each of its tokens")
	case bytes < LeastBytes || bytes%8 != 0:
		return knob.Invalid("workload.value_bytes", bytes, fmt.Sprintf("set workload.value_bytes=%d or more, a multiple of 8", LeastBytes), "a record of churn has its slot, its token and a count")
	}
	return nil
}
