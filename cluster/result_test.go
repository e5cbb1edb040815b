package cluster

import (
	"slices"
	"strings"
	"testing"

	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/history"
	"drtmx/engine/result"
)

// The notebook and the terminal say the same of a run without transactions.
func TestChecksWithoutTransactions(t *testing.T) {
	k := &result.Checks{Mode: "full"}
	for _, want := range []string{"undecided: no transactions to check", "ok: total; no transactions"} {
		if got := (&Checks{k}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		k.Invariant("total", true)
	}
	k.Invariant("total", false)
	if got := (&Checks{k}).String(); got != "no transactions; total VIOLATED" {
		t.Errorf("%q", got)
	}
	k.Violation("sum", "a is b: a is 3, b 4")
	if got := (&Checks{k}).String(); got != "no transactions; sum VIOLATED; total VIOLATED\nsum: a is b: a is 3, b 4" {
		t.Errorf("%q", got)
	}
}

// A verdict over nothing is no verdict, and what a live cluster cannot judge is not passed over.
func TestChecksOverNothing(t *testing.T) {
	k := result.Checks{Mode: "sampled", Claimed: "strict-serializable", Seen: 12, AtDrain: true}
	none := Checks{&k}
	if text := none.String(); none.OK() || !strings.Contains(text, "undecided") || !strings.Contains(text, "batch run") {
		t.Errorf("%v, %q", none.OK(), text)
	}
	some, off := k, k
	some.OK, some.Transactions, off.Mode = history.Holds, 3, "off"
	if c := (&Checks{&some}); !c.OK() || strings.Contains(c.String(), "undecided") {
		t.Errorf("%v, %q", c.OK(), c)
	}
	if (&Checks{&off}).OK() || (&Checks{}).OK() {
		t.Error("OK without checks")
	}
}

// A result has the interval that the engine gives, however few windows there are: it rests on
// shorter spans than those.
func TestIntervalOfFewWindows(t *testing.T) {
	of := func(throughput float64) *Result {
		return newResult(&result.Result{Throughput: throughput, ThroughputCI95: 0.02, VirtualNS: 2_000_000}, make([]result.Window, 4))
	}
	a, b := of(4e6), of(5e6)
	if text := a.String(); !strings.Contains(text, "(± 2 %)") {
		t.Error(text)
	}
	if text := Compare(a, b).String(); !strings.Contains(text, "+25.0 % ± 3.5") {
		t.Error(text)
	}
}

// Numbers of a slow system, and counts, are written out.
func TestNumbersAsText(t *testing.T) {
	for got, want := range map[string]string{
		quantity("latency_us.p99", 1234): "1234 µs", quantity("latency_us.p50", 999.7): "1000 µs", quantity("latency_us.p50", 1.2345): "1.23 µs",
		quantity("throughput", 999_700): "1000 k/s", quantity("throughput", 12.3e9): "12.3 G/s", quantity("throughput", 0): "0 /s",
		quantity("commits", 40153): "40153", quantity("commits", 1e12): "1000000000000", quantity("round_trips_per_txn", 2.75349): "2.753",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func sweptPoint(set Knobs, throughput float64) batch.SweepPoint {
	r := &result.Result{Throughput: throughput, ThroughputCI95: 0.1, LatencyUS: result.Latency{P50: 1e6 / throughput}}
	return batch.SweepPoint{Set: set, Runs: []*result.Result{r}}
}

// The table of a sweep keeps long names apart and writes values as they are typed.
func TestSweepTable(t *testing.T) {
	point := sweptPoint(Knobs{"fault.nic_slowdown_node": 1, "cache.bytes": 300_000_000}, 400)
	s := &SweepResult{&batch.SweepResult{
		Axes:   []experiment.Axis{{Knob: "fault.nic_slowdown_node", Values: []any{1}}, {Knob: "cache.bytes", Values: []any{300_000_000}}},
		Points: []batch.SweepPoint{point},
	}}
	rows := strings.Split(s.Table("throughput").String(), "\n")
	if head := strings.Fields(rows[0]); !slices.Equal(head, []string{"fault.nic_slowdown_node", "cache.bytes", "throughput", "±"}) {
		t.Errorf("%q", head)
	}
	if strings.Index(rows[0], "cache.bytes") != strings.Index(rows[1], "300MB") {
		t.Errorf("a value is not below its name:\n%s\n%s", rows[0], rows[1])
	}
}

// The mean over seeds counts those in which nothing failed.
func TestSweepMeansCountZeros(t *testing.T) {
	p := sweptPoint(Knobs{"coroutines": 4}, 400)
	p.Runs = append(p.Runs, &result.Result{Throughput: 200, Failed: 4})
	p.Means = map[string]batch.Mean{"failed": {Mean: 2, Half95: 25, N: 2}}
	for metric, want := range map[string]float64{"failed": 2, "throughput": 300} {
		if x, ok := pointMean(p, metric); !ok || x != want {
			t.Errorf("%s: %g, want %g", metric, x, want)
		}
	}
}

// Of several axes the last of numbers is drawn along, wherever it stands, and the others name the lines
// with their units.
func TestSweepChartsRunAlongNumbers(t *testing.T) {
	bandwidth, preset, coroutines := "hardware.wire.bandwidth", "preset", "coroutines"
	s := &SweepResult{&batch.SweepResult{Axes: []experiment.Axis{
		{Knob: bandwidth, Values: []any{12.5}}, {Knob: coroutines, Values: []any{1, 4, 8}}, {Knob: preset, Values: []any{"fasst", "drtm+h"}},
	}}}
	for i, n := range []int{1, 4, 8} {
		for j, p := range []string{"fasst", "drtm+h"} {
			s.Raw.Points = append(s.Raw.Points, sweptPoint(Knobs{bandwidth: 12.5, coroutines: n, preset: p}, float64(100*(i+1)+j)))
		}
	}
	chart := s.Chart("throughput")
	if text := chart.String(); !strings.Contains(text, "over coroutines") {
		t.Errorf("%q, want it over coroutines", text)
	}
	for first, name := range []string{"hardware.wire.bandwidth = 12.5 GB/s, preset = fasst", "hardware.wire.bandwidth = 12.5 GB/s, preset = drtm+h"} {
		if l := s.line(first, "throughput", true); l.Name != name {
			t.Errorf("a line is named %q, want %q", l.Name, name)
		}
		// Without the library the chart is a picture, whose text is not in the page as such.
		if charts.HasLibrary() && !strings.Contains(chart.HTML(), name) {
			t.Errorf("no line of the chart is named %q", name)
		}
	}
	if l := s.line(1, "throughput", true); !slices.Equal(l.X, []float64{1, 4, 8}) || !slices.Equal(l.Y, []float64{101, 201, 301}) {
		t.Errorf("drtm+h: %+v", l)
	}
}

// A sweep draws its intervals, quantities in their order, and choices by name.
func TestSweepCharts(t *testing.T) {
	s := &SweepResult{&batch.SweepResult{
		Axes:   []experiment.Axis{{Knob: "coroutines", Values: []any{4, 1}}},
		Points: []batch.SweepPoint{sweptPoint(Knobs{"coroutines": 4}, 400), sweptPoint(Knobs{"coroutines": 1}, 100)},
	}}
	l := s.line(0, "throughput", true)
	if !slices.Equal(l.X, []float64{1, 4}) || !slices.Equal(l.Y, []float64{100, 400}) || !slices.Equal(l.CI, []float64{10, 40}) || !slices.Equal(l.Notes, []string{"1", "4"}) {
		t.Errorf("%+v", l)
	}
	if l := s.line(0, "latency_us.p50", true); !slices.Equal(l.CI, []float64{0, 0}) {
		t.Errorf("the interval of the throughput at a latency: %+v", l)
	}
	s.Raw.Points[0].Means = map[string]batch.Mean{"latency_us.p50": {Mean: 2500, Half95: 70, N: 3}}
	if l := s.line(0, "latency_us.p50", true); !slices.Equal(l.CI, []float64{0, 70}) {
		t.Errorf("the interval over seeds: %+v", l)
	}
	s = &SweepResult{&batch.SweepResult{
		Axes:   []experiment.Axis{{Knob: "ddio", Values: []any{true, false}}},
		Points: []batch.SweepPoint{sweptPoint(Knobs{"ddio": true}, 400), sweptPoint(Knobs{"ddio": false}, 100)},
	}}
	if svg := s.chart(charts.Size{}, "", "throughput").SVG(); !strings.Contains(svg, ">true<") || !strings.Contains(svg, ">false<") {
		t.Error("the values of a choice are not at the axis")
	}
}

// A run without a commit says so, in a notebook too.
func TestMissingPercentileSaysWhy(t *testing.T) {
	few := newResult(&result.Result{Commits: 312, VirtualNS: 500_000, LatencyUS: result.Latency{P50: 1, P90: 2}}, nil)
	whole := newResult(&result.Result{Commits: 5000, LatencyUS: result.Latency{P50: 1, P90: 2, P99: 3}}, nil)
	const want = "p99 is not known: it takes 1000 commits, there are 312; measure longer, about 1800us"
	for name, text := range map[string]string{"text": few.String(), "HTML": few.HTML(), "comparison": Compare(whole, few).String(), "its HTML": Compare(few, whole).HTML()} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q is not in\n%s", name, want, text)
		}
	}
	if text := whole.String() + whole.HTML(); strings.Contains(text, "not known") {
		t.Error(text)
	}
}

func TestNothingCommitted(t *testing.T) {
	r := newResult(&result.Result{Aborts: 7, AbortRate: 1, VirtualNS: 500_000, Little: &result.Little{InFlight: 3}}, nil)
	const want = "nothing was committed in 500us: 7 attempts were aborted, 3 requests were under way on average; measure longer"
	if text, page := r.String(), r.HTML(); !strings.Contains(text, want) || !strings.Contains(page, want) {
		t.Errorf("%s\n%s", text, page)
	}
	if r.Raw.Commits = 1; strings.Contains(r.String()+r.HTML(), "nothing was committed") {
		t.Error("although something was")
	}
}
