package kernel_test

import (
	"slices"
	"strings"
	"testing"
)

// Knobs and their values in strings, fields in literals, and members behind fields, indexes and calls are completed.
func TestCompletionGoesDeeper(t *testing.T) {
	t.Parallel()
	cases := []struct {
		code, has string
		not       string
	}{
		{`c.Set("phase.`, `c.Set("phase.commit`, "coroutines"},
		{`c.Set("phase.commit", "`, `c.Set("phase.commit", "two-sided`, "phase.lock"},
		{`cluster.Up(cluster.Spec{Set: cluster.Knobs{"nodes": 3, "corou`, `cluster.Up(cluster.Spec{Set: cluster.Knobs{"nodes": 3, "coroutines`, ""},
		{`cluster.Axis{"phase.commit", []string{"one-sided", "tw`, `cluster.Axis{"phase.commit", []string{"one-sided", "two-sided`, ""},
		{`cluster.Spec{Preset: "fa`, `cluster.Spec{Preset: "fasst`, ""},
		{`cluster.Spec{Pre`, `cluster.Spec{Preset`, "Workload"},
		{`cluster.Spec{Preset: "fasst", Wo`, `cluster.Spec{Preset: "fasst", Workload`, ""},
		{`r.LatencyUS.`, `r.LatencyUS.P50`, ""},
		{`s.Raw.Points[0].`, `s.Raw.Points[0].Runs`, ""},
		{`s.Table("throughput").Lin`, `s.Table("throughput").Line`, "Query"},
		{`x := f(1, "a)").Thr`, `x := f(1, "a)").Throughput`, ""},
		{`fmt.Println("phase.`, ``, ""},
	}
	steps := []step{{Code: "import (\"fmt\"; \"drtmx/cluster\")\nvar c *cluster.Cluster\nvar r *cluster.Result\nvar s *cluster.SweepResult\nfunc f(n int, s string) *cluster.Result { panic(\"it was run\") }\nfmt.Sprint(1)"}}
	for _, c := range cases {
		steps = append(steps, step{Complete: c.code})
	}
	for i, o := range drive(t, steps...)[1:] {
		c := cases[i]
		if c.has == "" && o.Evalue != "" || c.has != "" && !strings.Contains(o.Evalue, c.has) || c.not != "" && slices.ContainsFunc(strings.Fields(o.Evalue), func(w string) bool { return strings.Contains(w, c.not) }) {
			t.Errorf("%s is completed to %.200q, want %q", c.code, o.Evalue, c.has)
		}
	}
}
