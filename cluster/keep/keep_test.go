package keep

import (
	"strings"
	"testing"

	"drtmx/cluster/runs"
	"drtmx/cluster/runs/runstest"
	"drtmx/engine/result"
)

// What was kept by other code may have knobs that are no more and lack others: it is opened as far as it can be.
func TestSpecOfOlderCode(t *testing.T) {
	r := runstest.LittleRun(t, nil)
	spec, err := SpecOf(r)
	if err != nil || spec.Set["nodes"] != 3 || spec.Workload != "smallbank" {
		t.Fatalf("%+v, %v", spec, err)
	}
	old := r.Spec.Clone()
	old["knob.of.old"] = 7.
	delete(old, "ddio")
	old["nodes"] = 5. // as JSON has it
	spec, err = SpecOf(&result.Result{Spec: old})
	if err != nil || spec.Set["nodes"] != 5 || spec.Set["knob.of.old"] != nil {
		t.Errorf("%+v, %v", spec, err)
	}
	if _, ok := spec.Set["ddio"]; ok {
		t.Error("a knob that it did not have is set")
	}
}

// A session says how long it was and what was changed in it, and hands its recording out again.
func TestSessionIsKept(t *testing.T) {
	store := runstest.Own(t)
	r := runstest.LittleRun(t, nil)
	r.Changes = []result.Change{{Version: 2, VirtualNS: 5}}
	id, err := Session(store, "live", r, []byte("{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	k, err := store.Find(id)
	if err != nil || k.Kind != runs.KindSession || !strings.HasSuffix(k.About, "µs, 1 change") || !strings.Contains(k.About, "coroutines=2") {
		t.Errorf("%+v, %v", k, err)
	}
	if b, ok := store.Recording(id); !ok || string(b) != "{}\n" {
		t.Errorf("%q, %v", b, ok)
	}
	if l, err := Load(store, id.String()); err != nil || len(l.Results) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
}
