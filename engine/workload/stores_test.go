package workload_test

import (
	"strings"
	"testing"

	"drtmx/engine/knob"
	"drtmx/engine/kv"
	"drtmx/engine/occ"
	"drtmx/engine/store"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// stores are tables and location caches of other kinds than the defaults.
var stores = map[string]knob.Values{
	"packed": {"kv.node": "packed", "kv.cache": "clock"},
	"array":  {"kv.node": "wide", "kv.cache": "array"},
}

// TestStores: transactions that meet are as correct with them, with torn READs and lost datagrams.
func TestStores(t *testing.T) {
	commits := uint64(1_500)
	if testing.Short() {
		commits = 300
	}
	for name, v := range stores {
		kind := kv.Kind.(store.Configured).With(v)
		for i, preset := range occ.PresetNames() {
			t.Run(name+"/"+preset, func(t *testing.T) {
				for _, bench := range []func(testing.TB) workload.Bench{slots, longSlots, cells, wide} {
					cfg, _ := occ.Preset(preset)
					shape := func(s *workloadtest.Setup) { shapes[i%len(shapes)](s); s.Store = kind }
					if _, bad := stress(t, cfg, shape, uint64(i+1), commits, bench(t)); len(bad) > 0 {
						t.Error(strings.Join(bad, "\n"))
					}
				}
			})
		}
	}
}
