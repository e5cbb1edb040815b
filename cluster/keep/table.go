package keep

import (
	"slices"
	"strings"

	"drtmx/cluster/tidy"
	"drtmx/cluster/words"
	"drtmx/engine/result"
)

// headlines are the columns that come before the other numbers.
var headlines = []string{"throughput", "latency_us.mean", "latency_us.p50", "latency_us.p99", "latency_us.p999", "abort_rate", "round_trips_per_txn"}

// ResultTable is a row for each result: its seed, headline numbers, verdict and code, all other numbers by their path in
// the JSON, and every knob as spec.NAME, so that tables of several runs can be put together.
func ResultTable(rs ...*result.Result) *tidy.Table {
	t := &tidy.Table{}
	for _, r := range rs {
		t.Row()
		addRun(t, r)
	}
	return t
}

// SystemsTable is ResultTable of systems side by side, with the name of each in front.
func SystemsTable(rs ...*result.Result) *tidy.Table {
	t := &tidy.Table{}
	for _, r := range rs {
		t.Row()
		t.Set("system", r.Name)
		addRun(t, r)
	}
	return t
}

// addRun puts a result and its knobs into the last row of a table.
func addRun(t *tidy.Table, r *result.Result) {
	AddResult(t, r)
	for _, name := range words.SortedKnobs(r.Spec) {
		if name != "seed" {
			t.Set("spec."+name, r.Spec[name])
		}
	}
}

// AddResult puts a result into the last row of a table.
func AddResult(t *tidy.Table, r *result.Result) {
	paths, numbers := r.Numbers()
	t.Set("seed", r.Spec["seed"])
	for _, p := range headlines {
		if x, ok := numbers[p]; ok {
			t.Set(p, x)
		} else {
			t.Set(p, nil)
		}
	}
	t.Set("throughput_ci95", r.ThroughputCI95)
	t.Set("steady", r.Steady)
	if t.Set("checks", nil); r.Checks.Judged() {
		t.Set("checks", !r.Checks.Failed())
	}
	t.Set("profile", r.Profile)
	t.Set("code", r.Code)
	t.Set("digest", r.Digest)
	for _, p := range paths {
		if p != "throughput_ci95" && !slices.Contains(headlines, p) && !strings.HasPrefix(p, "spec.") && !strings.HasPrefix(p, "preset_diff.") {
			t.Set(p, numbers[p])
		}
	}
}
