package kernel_test

import (
	"strings"
	"testing"
)

const inspected = "import (\"fmt\"; \"time\"; \"drtmx/cluster\")\n" +
	"var c *cluster.Cluster\nvar r *cluster.Result\nvar s *cluster.SweepResult\n" +
	"func f(n int, s string) *cluster.Result { panic(\"it was run\") }\n" +
	"type mine struct { low, High int; At time.Duration }\nfunc (m mine) Sum(k int) int { return m.low + k }\nmy := mine{}\nfmt.Sprint(1)"

// Inspection shows what stands at the cursor: types and values with their fields and methods, functions with their comments, knobs.
func TestInspection(t *testing.T) {
	t.Parallel()
	cases := []struct {
		code string
		at   int
		has  []string
	}{
		{"r.LatencyUS", 0, []string{"r.LatencyUS  metrics.Latency", "in microseconds", "type Latency struct", "  P50   float64"}},
		{"r.LatencyUS.P50", 0, []string{"r.LatencyUS.P50  float64"}},
		{"r.LatencyUS.P50", 4, []string{"r.LatencyUS  metrics.Latency"}},
		{"s.Raw.Points[0]", 0, []string{"s.Raw.Points[0]  batch.SweepPoint", "over the runs, where there are several", "Result() *result.Result\n      Result is the point's first run"}},
		{"s.Raw.Points", 0, []string{"[]batch.SweepPoint", "the axis values of this point"}},
		{`f(1, "a)").Throughput`, 0, []string{"Throughput  float64", "requests committed per virtual second"}},
		{"cluster.Spec", 0, []string{"type cluster.Spec", "Spec names a system to open", "\n  Preset ", "\n  Workload "}},
		{"cluster.Spec{Preset", 0, []string{"Preset  string"}},
		{"cluster.Spec{Nope", 0, nil},
		{"c", 0, []string{"*cluster.Cluster", "Cluster is a Client for notebooks", "  Run(d time.Duration) *Result\n      Run measures d of virtual time."}},
		{"c.Run(2*time.Millisecond", 3, []string{"func (c *Cluster) Run(d time.Duration) *Result\n\nRun measures d of virtual time."}},
		{"c.Run(", 0, []string{"func (c *Cluster) Run("}},
		{"c.Run(2", 0, []string{"func (c *Cluster) Run("}},
		{`c.Set("phase.commit", 1)`, 12, []string{"knob phase.commit", "two-sided", "How updates are written back"}},
		{"time.Millisecond", 0, []string{"const Millisecond = 1000 * Microsecond"}},
		{"my", 0, []string{"my  mine", "  low   int", "  At    time.Duration", "  Sum(int) int"}},
		{"mine", 0, []string{"type mine", "  High  int", "  Sum(int) int"}},
		{"len", 0, []string{"a function of the language"}},
		{"fmt.Println(nope", 0, nil},
		{"2 + 2", 0, nil},
	}
	steps := []step{{Code: inspected}}
	for _, c := range cases {
		steps = append(steps, step{Inspect: c.code, At: c.at})
	}
	for i, o := range drive(t, steps...)[1:] {
		c := cases[i]
		if len(c.has) == 0 && o.Evalue != "" {
			t.Errorf("%s is explained as %.200q, want nothing", c.code, o.Evalue)
		}
		for _, want := range c.has {
			if !strings.Contains(o.Evalue, want) {
				t.Errorf("%s at %d is explained as\n%.2000s\nwant in it %q", c.code, c.at, o.Evalue, want)
			}
		}
	}
}

// Names of metrics and columns are completed in strings: those of the value where there is one, without running what stands before.
func TestCompletionOfMetricsAndColumns(t *testing.T) {
	t.Parallel()
	cases := []struct{ code, has, not string }{
		{`none.Metric("lat`, `none.Metric("latency_us.p50`, "by_type"},
		{`r.Metric("by_type.bal`, `r.Metric("by_type.balance.commits`, ""},
		{`s.Table("thr`, `s.Table("throughput`, ""},
		{`s.Table("throughput", "latency_us.p`, `s.Table("throughput", "latency_us.p99`, ""},
		{`s.Chart("abo`, `s.Chart("abort_rate`, ""},
		{`f().Metric("thr`, `f().Metric("throughput`, ""},
		{`cluster.Overlay("ms", "thr`, `cluster.Overlay("ms", "throughput`, ""},
		{`t.Select("`, `t.Select("a`, "throughput"},
		{`t.Line("a", "`, `t.Line("a", "b`, ""},
		{`t.Where(func(r cluster.Row) bool { return r.Num("`, `r.Num("b`, ""},
		{`t.Col("c", nil).Sort("a").Line("a", "b").By("`, `.By("c`, ""},
		{`t.Select("b").Sort("`, `.Sort("b`, `Sort("a`},
		{`t.Query("SELECT `, `t.Query("SELECT a`, "throughput"},
		{`r.Table().Query("SELECT ms, max(latency_us.p`, `max(latency_us.p50`, "throughput"},
		{`r.Table().Line("m`, `r.Table().Line("ms`, ""},
		{`own.`, `own.owner`, "\U00012038"},
		{`t.Save("`, ``, ""},
		{`fmt.Println("thr`, ``, ""},
	}
	steps := []step{{Code: "import (\"fmt\"; \"time\"; \"drtmx/cluster\")\nvar none *cluster.Result\nvar s *cluster.SweepResult\n" +
		"func f() *cluster.Result { panic(\"it was run\") }\nvar own struct{ ID int; owner string }\nt := cluster.TableOf(nil).Col(\"a\", []int{1, 2}).Col(\"b\", []int{3, 4})\n" +
		"r := cluster.Up(cluster.Spec{Preset: \"fasst\", Workload: \"smallbank\"}).Run(3 * time.Millisecond)\nfmt.Sprint(1)"}}
	for _, c := range cases {
		steps = append(steps, step{Complete: c.code})
	}
	for i, o := range drive(t, steps...)[1:] {
		c := cases[i]
		if (c.has == "") != (o.Evalue == "") || !strings.Contains(o.Evalue, c.has) || c.not != "" && strings.Contains(o.Evalue, c.not) {
			t.Errorf("%s is completed to %.300q, want %q and not %q", c.code, o.Evalue, c.has, c.not)
		}
	}
}

// %help lists what is not Go, what is imported and can be, and the calls that the handbook lists.
func TestHelp(t *testing.T) {
	t.Parallel()
	got := drive(t, step{Code: "import \"drtmx/cluster\""}, step{Code: "%help"})[1].text()
	for _, want := range []string{"%cd FOLDER", `Imported: cluster ("drtmx/cluster")`, "drtmx/engine/workload", "cluster.Up(spec)  ", "cluster.Compare(a, b)  ",
		"cluster.AB(spec, a, b)", "cluster.Sweep(", "figures.Get(", "s.Table()", "no generics", "drtmx help notebook", "Writing your own (drtmx help write)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%%help has no %q:\n%s", want, got)
		}
	}
	for _, markup := range []string{"`", "| ", "](", "##"} {
		if strings.Contains(got, markup) {
			t.Errorf("%%help has %q in it", markup)
		}
	}
}
