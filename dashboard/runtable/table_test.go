package runtable

import (
	"strings"
	"testing"

	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/cluster/runs/runstest"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Of the runs of several seeds there is a line each, and one of the means with their intervals. A figure that cannot be read says so.
func TestTableOfSeeds(t *testing.T) {
	s := runstest.Own(t)
	r := &batch.SeedsResult{Means: map[string]batch.Mean{"throughput": {Mean: 2e6, Half95: 1e4, N: 2}, "abort_rate": {Mean: 0.02, Half95: 0.001, N: 2}}}
	for seed := 1; seed <= 2; seed++ {
		r.Runs = append(r.Runs, &result.Result{Code: "c", Spec: experiment.Knobs{"workload": "smallbank", "preset": "drtm+h", "seed": seed}, Throughput: 2e6})
	}
	id, err := keep.Seeds(s, "", r)
	if err != nil {
		t.Fatal(err)
	}
	k, err := keep.Load(s, id.String())
	if err != nil {
		t.Fatal(err)
	}
	table, err := Of(k)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, l := range table.Rows {
		text += l.Ref + "|" + strings.Join(l.Cells, "|") + "\n"
	}
	if want := "r1.1|1|2 M/s|–|–|–|0 %|–\nr1.2|2|2 M/s|–|–|–|0 %|–\n|mean|2 M/s ± 10 k||–|–|2 ± 0.1 %|\n"; text != want {
		t.Errorf("%s, want\n%s", text, want)
	}
	bad := &keep.Kept{Kept: &runs.Kept{ID: 7, Kind: runs.KindFigure, Form: keep.FormFigure, Document: []byte(`{"series": 3}`)}}
	if _, err := Of(bad); err == nil || !strings.Contains(err.Error(), "run r7: its figure cannot be read") {
		t.Error(err)
	}
}
