package workload_test

import (
	"strings"
	"testing"

	"drtmx/engine/knob"
	"drtmx/engine/kv"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// inTrees has B+trees find the records of all tables.
type inTrees struct{ store.Kind }

func (k inTrees) Make(cl *r2.Cluster, s store.Spec, h record.Layout, p store.Placement) (store.Table, error) {
	s.Tree = true
	return k.Kind.Make(cl, s, h, p)
}

// stores are tables and location caches of other kinds than the defaults.
var stores = []struct {
	name string
	kind store.Kind
}{
	{"packed", kvWith(knob.Values{"kv.node": "packed", "kv.cache": "clock"})},
	{"array", kvWith(knob.Values{"kv.node": "wide", "kv.cache": "array"})},
	{"trees", inTrees{kv.Kind}},
}

func kvWith(v knob.Values) store.Kind { return kv.Kind.(store.Configured).With(v) }

// TestStores: transactions that meet are as correct with them, with torn READs and lost datagrams.
func TestStores(t *testing.T) {
	commits := workloadtest.Effort(uint64(1_500), 500)
	for _, x := range stores {
		for i, preset := range occ.PresetNames() {
			t.Run(x.name+"/"+preset, func(t *testing.T) {
				for _, bench := range []func(testing.TB) workload.Bench{slots, longSlots, cells, wide} {
					cfg, _ := occ.Preset(preset)
					shape := func(s *workloadtest.Setup) { shapes[i%len(shapes)](s); s.Store = x.kind }
					if _, bad := stress(t, cfg, shape, uint64(i+1), commits, bench(t)); len(bad) > 0 {
						t.Error(strings.Join(bad, "\n"))
					}
				}
			})
		}
	}
}
