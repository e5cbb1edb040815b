package keep

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drtmx/cluster/runs"
	"drtmx/cluster/runs/runstest"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
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

// Sweeps and figures over a file are kept by what is in it: after the file has changed, what was kept is another one, and its
// points are computed. With the old content it is the old one.
func TestKeptByTheContentOfFiles(t *testing.T) {
	store := runstest.Own(t)
	file := filepath.Join(t.TempDir(), "keys")
	spec := experiment.Spec{Workload: "ycsb-c", Set: experiment.Knobs{"servers": 1, "clients": 1, "replicas": 1, "threads": 1, "coroutines": 1, "xstore.trainers": 1, "workload.dataset": "sosd:" + file, "workload.keys": 64,
		"warmup_ns": "5us", "duration_ns": "20us", "check": "off"}}
	sweeps := func(stride uint64) (sweep, figure runs.ID, r *result.Result) {
		t.Helper()
		b := binary.LittleEndian.AppendUint64(nil, 64)
		for i := range uint64(64) {
			b = binary.LittleEndian.AppendUint64(b, i*stride)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := batch.Sweep(t.Context(), spec, []experiment.Axis{{Knob: "xstore.submodels", Values: []any{2}}}, batch.SweepOptions{Cache: CacheOf(store)})
		if err != nil || x.Points[0].Error != "" {
			t.Fatal(err, x.Points[0].Error)
		}
		r = x.Points[0].Runs[0]
		if sweep, err = Sweep(store, "", spec, x); err != nil {
			t.Fatal(err)
		}
		if figure, err = Figure(store, "", FigureRecord{ID: "3-1", Scale: "quick", Document: struct{}{}, Runs: []*result.Result{r}}); err != nil {
			t.Fatal(err)
		}
		return sweep, figure, r
	}
	sweep, figure, r := sweeps(3)
	otherSweep, otherFigure, other := sweeps(5)
	if otherSweep == sweep || otherFigure == figure || other.Inputs["workload.dataset"] == r.Inputs["workload.dataset"] {
		t.Errorf("other keys took the place of the kept sweep %v or figure %v: %v, %v", sweep, figure, otherSweep, otherFigure)
	}
	if s, f, _ := sweeps(3); s != sweep || f != figure {
		t.Errorf("the same keys are kept as %v and %v, not %v and %v", s, f, sweep, figure)
	}
	for id, want := range map[runs.ID]*result.Result{sweep: r, figure: r, otherSweep: other, otherFigure: other} { // order-free: an error each
		k, err := Load(store, id.String())
		if err != nil || len(k.Results) != 1 || k.Results[0] == nil || k.Results[0].Inputs["workload.dataset"] != want.Inputs["workload.dataset"] {
			t.Errorf("%v: %+v, %v", id, k, err)
		}
	}
}
