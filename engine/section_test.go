package engine

import (
	"encoding/json"
	"reflect"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// The section of a part stands in a result under the part's name, and is read back; a system without the part has none.
func TestSectionsOfParts(t *testing.T) {
	r := mustRun(t, asymmetric(experiment.Knobs{"workload": "ycsb-c", "xstore.submodels": 100}))
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var contract struct {
		Throughput float64
		XStore     map[string]any
	}
	if err := json.Unmarshal(text, &contract); err != nil || contract.Throughput != r.Throughput || len(contract.XStore) != 7 || contract.XStore["model_bytes"] != r.Parts["xstore"]["model_bytes"] {
		t.Errorf("%v: %+v", err, contract)
	}
	var again result.Result
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again.Sections, r.Sections) || again.Digest != r.Digest {
		t.Errorf("%v: %+v, want %+v", err, again.Sections, r.Sections)
	}
	if text, err := json.Marshal(mustRun(t, small(experiment.Knobs{}))); err != nil || json.Unmarshal(text, &again) != nil || again.Sections != nil {
		t.Errorf("%v: without the part %+v", err, again.Sections)
	}
}
