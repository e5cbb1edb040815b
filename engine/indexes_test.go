package engine

import (
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/store"
)

// TPC-C and TPC-E run on indexes in XStore with every protocol, and their checks hold.
func TestIndexesInXStore(t *testing.T) {
	protocols := map[string]experiment.Knobs{"E": {"cc": "nowait"}, "E/S": {"cc": "nowait", "nowait.mode": "E/S"}}
	for _, p := range experiment.PresetNames() {
		protocols[p] = experiment.Knobs{"preset": p}
	}
	for name, protocol := range protocols {
		for _, w := range []string{"tpcc", "tpcc-no", "tpce", "tpce-cp"} {
			t.Run(name+"/"+w, func(t *testing.T) {
				k := experiment.Knobs{"workload": w, "workload.scale": 0.01, "store.ordered": "xstore"}
				if w == "tpce-cp" { // so few prices are locked by somebody at any time, and all of a customer are read
					k["workload.scale"], k["duration_ns"] = 0.5, 1_000_000
				}
				for n, v := range protocol {
					k[n] = v
				}
				r := mustRun(t, small(k))
				if r.Commits == 0 || !r.Checks.Passed() {
					t.Errorf("%d commits, %v", r.Commits, r.Checks)
				}
			})
		}
	}
}

// What clients cache of the indexes, and how many sub-models there are, changes while transactions run.
func TestIndexesLive(t *testing.T) {
	s := open(t, small(experiment.Knobs{"workload": "tpcc", "workload.scale": 0.01, "store.ordered": "xstore", "servers": 3, "clients": 1}))
	for _, set := range []experiment.Knobs{
		{"xstore.cache": "tree"}, {"xstore.cache": "full", "xstore.submodels": 40}, {"xstore.cache": "none"}, {"xstore.cache": "top", "xstore.speculative": false}, {"xstore.submodels": 3},
	} {
		advance(t, s, 300_000)
		if _, err := s.Set(set, ""); err != nil {
			t.Fatal(err)
		}
	}
	advance(t, s, 300_000)
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	r := s.Result()
	if !r.Checks.Passed() {
		t.Error(r.Checks)
	}
	if part := r.Parts["xstore"]; len(part) == 0 {
		t.Errorf("the indexes show nothing of themselves: %v", r.Parts)
	}
}

// A workload says which ordered stores it can have, and their knobs have an effect where one is used.
func TestOrderedStoreOf(t *testing.T) {
	for _, x := range []struct {
		set  experiment.Knobs
		want string
	}{
		{experiment.Knobs{"workload": "tpcc", "store.ordered": "masstree"}, "does not serve the indexes of transactions"},
		{experiment.Knobs{"workload": "ycsb-a", "store.ordered": "btree"}, "for the indexes of transactions alone"},
		{experiment.Knobs{"workload": "tpcc", "store.ordered": "xstore", "profile": "aws", "preset": "fasst"}, "its clients READ leaves"},
		{experiment.Knobs{"workload": "tpce", "store.ordered": "xstore", "xstore.expand_at": 7}, "xstore.expand_at"},
		{experiment.Knobs{"workload": "tpce", "store.ordered": "btree", "xstore.expand_at": 7}, ""},
	} {
		_, err := experiment.Resolve(experiment.Spec{Set: x.set})
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %q", x.set, err, x.want)
		}
	}
	for _, x := range []struct {
		set             experiment.Knobs
		store           string
		ordered, models bool
		trainers        int
	}{
		{experiment.Knobs{"workload": "smallbank"}, "", false, false, 0},
		{experiment.Knobs{"workload": "tpcc"}, "btree", true, false, 0},
		{experiment.Knobs{"workload": "tpce", "store.ordered": "xstore"}, "xstore", true, true, 1},
		{experiment.Knobs{"workload": "ycsb-a"}, "xstore", true, true, 2},
	} {
		list, err := experiment.Describe(experiment.Spec{Set: x.set})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range list {
			switch k.Name {
			case "store.ordered":
				if k.Active != x.ordered || x.ordered && k.Value != x.store {
					t.Errorf("%v: %s=%v, active %v", x.set, k.Name, k.Value, k.Active)
				}
			case "xstore.trainers":
				if k.Active != x.models || x.models && k.Value != x.trainers {
					t.Errorf("%v: %s=%v, active %v", x.set, k.Name, k.Value, k.Active)
				}
			}
		}
	}
}

// A store says itself whether snapshots can read its indexes, and the error names those that say so.
func TestStoresSayWhetherSnapshotsReadTheirIndexes(t *testing.T) {
	for _, k := range experiment.Ordered {
		if k.Indexes == nil {
			continue
		}
		set := experiment.Knobs{"workload": "tpcc", "workload.scale": 0.01, "store.ordered": k.Name, "preset": "fasst"}
		if _, dated := open(t, small(set)).load.indexes.(store.DatedIndexes); dated != k.Dated {
			t.Errorf("%s says %v of its indexes, which have guards for snapshots: %v", k.Name, k.Dated, dated)
		}
		set["ts.scheme"] = "dst"
		_, err := experiment.Resolve(small(set))
		if (err == nil) != k.Dated || err != nil && !strings.Contains(err.Error(), "set store.ordered=btree, or ts.scheme=none") {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}
