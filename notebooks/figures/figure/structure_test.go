package figure

import (
	"encoding/json"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// A figure says whose structure its runs have, of knobs that act in them alone.
func TestStructure(t *testing.T) {
	run := func(preset string, set experiment.Knobs) *result.Result {
		v, err := experiment.Resolve(experiment.Spec{Preset: preset, Set: set})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(v) // as a run that was kept
		if err != nil {
			t.Fatal(err)
		}
		var kept experiment.Knobs
		if err := json.Unmarshal(text, &kept); err != nil {
			t.Fatal(err)
		}
		return &result.Result{Spec: kept}
	}
	for _, c := range []struct {
		runs []*result.Result
		want string
	}{
		{[]*result.Result{run("", experiment.Knobs{"workload": "micro-read"}), nil}, ""},
		{[]*result.Result{run("drtm+r", experiment.Knobs{"workload": "smallbank"})},
			"log.reclaim=background, kv.cache=clock as in the thesis's text; kv.node=wide as in its released code"},
		{[]*result.Result{run("fasst", experiment.Knobs{"workload": "tpcc-no", "log.reclaim": "awaited"}), run("fasst", experiment.Knobs{"workload": "tpcc-no", "kv.node": "packed"})},
			"log.reclaim=background as in the thesis's text; rpc.charge_per_record=false, rpc.commit_together=false, log.reclaim=awaited, kv.node=wide, workload.trees=true as in its released code; kv.node=packed as in neither"},
	} {
		if got := structure(c.runs); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
