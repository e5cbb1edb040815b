package chapter3

import (
	"fmt"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figures 3-17b to 3-20 and Table 3-3: where latency goes, what the optimisations and the logs bring and cost, production
// workloads, several servers, and how fast models are trained.

var runFigures = []*figure.Definition{
	{ID: "3-17b", Title: "Where the latency of YCSB C goes at low load", Chapter: 3, Section: "3.7.2", Scope: "server", Form: figure.FormStacked,
		X: figure.Axis{Label: "Part"}, Y: figure.Axis{Label: "Mean latency", Unit: "µs"}, Arrange: arrangeLookups, Claims: claimsLookups,
		Plan: func(scale string) figure.Plan {
			return barOfEach(baseSpec(scale, "ycsb-c"), figure.MeanLatency, figure.With(lowLoad, experiment.Knobs{"duration_ns": 10_000_000}), xstore, drtmTree, emt, cell, optimal)
		}},
	{ID: "3-18a", Title: "Position hints for UPDATE", Chapter: 3, Section: "3.7.3", Scope: "server", Form: figure.FormBars,
		X: figure.Axis{Label: "Workload"}, Y: figure.Axis{Label: "Throughput", Unit: "Mreq/s"}, Claims: claimsHints,
		Plan: func(scale string) figure.Plan {
			return switched(figure.Plan{Base: baseSpec(scale, ""), Gap: figure.GapPoint{Series: withPH, X: 1}}, "xstore.position_hint", [2]string{withPH, withoutPH}, systems[xstore], "a", "b", "c", "f")
		}},
	{ID: "3-18b", Title: "Speculative lookups while others INSERT", Chapter: 3, Section: "3.7.3", Scope: "server", Form: figure.FormBars,
		X: figure.Axis{Label: "Workload"}, Y: figure.Axis{Label: "Throughput", Unit: "Mreq/s"}, Claims: claimsSpeculation,
		Plan: func(scale string) figure.Plan {
			return switched(overTime(scale, "", thesisKeys, grownFrom, grownTo), "xstore.speculative", [2]string{withSE, withoutSE}, aged(scale, xstore), "d", "e")
		}},
	{ID: "3-19a", Title: "Production workloads", Chapter: 3, Section: "3.7.4", Scope: "server", Form: figure.FormBars,
		X: figure.Axis{Label: "Workload"}, Y: figure.Axis{Label: "Throughput", Unit: "Mreq/s"}, Plan: planProduction, Claims: claimsProduction},
	{ID: "3-19b", Title: "YCSB C on several servers", Chapter: 3, Section: "3.7.5", Scope: "cluster",
		X: figure.Axis{Label: "RNICs of servers", Unit: "RNICs"}, Y: figure.Axis{Label: "Throughput", Unit: "Mreq/s"}, Plan: planServers, Claims: claimsServers},
	{ID: "3-20a", Title: "Training and what needs it", Chapter: 3, Section: "3.7.6", Scope: "server", Form: figure.FormBars,
		X: figure.Axis{Label: "Threads, and workloads"}, Y: figure.Axis{Label: "Rate", Unit: "K/s"}, Plan: planTraining, Claims: claimsTraining},
	{ID: "3-20b", Title: "GETs by the rate of inserts", Chapter: 3, Section: "3.7.6", Scope: "server",
		X: figure.Axis{Label: "Inserts asked for", Unit: "M/s"}, Y: figure.Axis{Label: "Throughput of GETs", Unit: "Mreq/s"}, Plan: planInserts, Claims: claimsInserts},
	{ID: "t3-3", Title: "Table 3-3: throughput with logs", Chapter: 3, Section: "3.7.9", Scope: "server", Form: figure.FormTable,
		X: figure.Axis{Label: "Workload"}, Y: figure.Axis{Label: "Mreq/s", Unit: "Mreq/s"}, Plan: planLogs, Claims: claimsLogs},
}

// The parts of a lookup in Figure 3-17b: the client's own work on its cache, READs of leaves and nodes, the READ of the
// value, an RPC.
var lookupParts = []struct {
	name string
	of   func(r *result.Result) float64
}{
	{"CPU_IDX", func(r *result.Result) float64 { return r.Phases["index"].ComputeUS }},
	{"NIC_IDX", func(r *result.Result) float64 { return r.Phases["index"].MeanUS - r.Phases["index"].ComputeUS }},
	{"NIC_VAL", func(r *result.Result) float64 { return r.Phases["value"].MeanUS }},
	{"NIC_RPC", func(r *result.Result) float64 { return r.Phases["execution"].MeanUS + r.Phases["rpc"].MeanUS }},
}

// arrangeLookups makes of each run a pile of its parts.
func arrangeLookups(f *figure.Figure) {
	for i := range f.Series {
		s := &f.Series[i]
		if len(s.Points) == 0 {
			continue
		}
		run := s.Points[0]
		s.Points = nil
		for k, part := range lookupParts {
			y := part.of(f.Runs[run.Run])
			s.Points = append(s.Points, figure.Point{X: float64(k), Y: y, Name: part.name, Load: run.Load, Run: run.Run})
		}
	}
}

func claimsLookups(f *figure.Figure) []figure.Claim {
	part := func(id, text, name, more, less string) figure.Claim {
		a, ok := f.Line(more).Named(name)
		b, also := f.Line(less).Named(name)
		if !ok || !also {
			return figure.NoRuns(figure.Claim{ID: id, Claim: text, Unit: "x"})
		}
		return f.Gains(id, text, figure.Divide(figure.Pair{Above: more, Below: less}, a, b))
	}
	return append([]figure.Claim{
		part("f3-17b-cpu-order", "walking through a cached tree takes the client longer than a model", "CPU_IDX", optimal, xstore),
		part("f3-17b-nic-order", "the READs of a lookup with Cell's cache take longer than XStore's", "NIC_IDX", cell, xstore),
	}, rowsLookups(f)...)
}

const (
	withPH    = "with PH"
	withoutPH = "without PH"
	withSE    = "with SE"
	withoutSE = "without SE"

	// What has grown is measured from one to the other, in seconds of the thesis.
	grownFrom = 24
	grownTo   = 30
)

// switched are workloads of YCSB with a knob on and off.
func switched(p figure.Plan, name string, names [2]string, system experiment.Knobs, letters ...string) figure.Plan {
	for i, on := range []bool{true, false} {
		p.Series = append(p.Series, figure.PlannedSeries{Name: names[i], Points: ofWorkloads(ofServer, figure.With(system, experiment.Knobs{name: on}), letters...)})
	}
	return p
}

// ofWorkloads are a point for each workload of YCSB.
func ofWorkloads(read func(*result.Result) (float64, float64), set experiment.Knobs, letters ...string) (out []figure.PlannedPoint) {
	for _, letter := range letters {
		out = append(out, figure.PlannedPoint{X: float64(letter[0]-'a') + 1, Name: string(letter[0] - 'a' + 'A'), Set: figure.With(set, experiment.Knobs{"workload": "ycsb-" + letter}), Read: read})
	}
	return out
}

// equal is a claim that two lines are the same at a point.
func equal(f *figure.Figure, id, text string, p figure.Pair, x float64) figure.Claim {
	a, ok := f.Line(p.Above).At(x)
	b, also := f.Line(p.Below).At(x)
	if !ok || !also {
		return figure.NoRuns(figure.Claim{ID: id, Claim: text, Unit: "x"})
	}
	r := figure.Divide(p, a, b)
	return figure.Claim{ID: id, Claim: text, Unit: "x", Measured: &r.Value, Status: figure.Near(r.Value, r.Half, 1), Why: f.Because(r)}
}

func claimsHints(f *figure.Figure) []figure.Claim {
	p := figure.Pair{Above: withPH, Below: withoutPH}
	return append([]figure.Claim{
		f.Above("f3-18a-order", "position hints make workloads with updates faster", func(x float64) bool { return x != 3 }, p),
		equal(f, "f3-18a-c", "and do not matter where there are none", p, 3),
	}, rowsSwitched(f, withPH, withoutPH, "a", "b", "f")...)
}

func claimsSpeculation(f *figure.Figure) []figure.Claim {
	p := figure.Pair{Above: withSE, Below: withoutSE}
	out := []figure.Claim{
		f.Above("f3-18b-order", "speculative lookups make YCSB D faster", func(x float64) bool { return x == 4 }, p),
		equal(f, "f3-18b-e-order", "and matter little for YCSB E", p, 5),
	}
	if a, ok := f.Line(withSE).At(4); ok {
		if b, ok := f.Line(withoutSE).At(4); ok {
			x, y := f.Runs[a.Run].Parts["xstore"], f.Runs[b.Run].Parts["xstore"]
			out[0].Why += fmt.Sprintf("; of the lookups of D %.3g %% asked the server, without %.3g %%", x["fallbacks"], y["fallbacks"])
			out = append(out, figure.Measured("f3-16-inval-nose", "YCSB D, uniform: XStore's lookups that ask the server, without speculation", "%", y["fallbacks"], 0, figure.LimitOf(f.Runs[b.Run])))
		}
	}
	return append(out, rowsSwitched(f, withSE, withoutSE, "d")...)
}

// planProduction has 500 million pairs with values of 64 bytes at paper scale (§3.7.1).
func planProduction(scale string) figure.Plan {
	p := figure.Plan{Base: baseSpec(scale, ""), Gap: figure.GapPoint{Series: xstore, X: 1}}
	p.Base.Set = figure.With(p.Base.Set, experiment.Knobs{"workload.keys": 500_000_000, "duration_ns": 400_000})
	if scale == figure.Quick {
		p.Base.Set["workload.scale"] = 0.02
	}
	for _, name := range []string{xstore, drtmTree, emt, cell} {
		s := figure.PlannedSeries{Name: name}
		for i, w := range []string{"prod1", "prod2"} {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(i + 1), Name: fmt.Sprintf("Prod%d", i+1), Set: figure.With(systems[name], experiment.Knobs{"workload": w}), Read: ofServer})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func claimsProduction(f *figure.Figure) []figure.Claim {
	all := func(float64) bool { return true }
	out := []figure.Claim{f.Above("f3-19a-order", "XStore outperforms DrTM-Tree, EMT and Cell on both", all, figure.Pair{Above: xstore, Below: drtmTree}, figure.Pair{Above: xstore, Below: emt}, figure.Pair{Above: xstore, Below: cell})}
	for _, other := range []string{drtmTree, emt, cell} {
		id, text := "f3-19a-skew-order", "its lead over "+other+" is larger where the workload is skewed"
		rs := f.Ratios(figure.Pair{Above: xstore, Below: other}, all)
		if len(rs) < 2 {
			out = append(out, figure.NoRuns(figure.Claim{ID: id, Claim: text, Unit: "x"}))
			continue
		}
		value, half := rs[1].Over(rs[0])
		out = append(out, figure.Claim{ID: id, Claim: text, Unit: "x", Measured: &value, Status: figure.ExceedsOne(value, half),
			Why: fmt.Sprintf("%.3gx on Prod2, %.3gx on Prod1", rs[1].Value, rs[0].Value)})
	}
	return append(out, rowsProduction(f)...)
}

// planServers has a server for each RNIC and 26 clients with one: halves of machines, as XStore divides the keys among RNICs.
func planServers(scale string) figure.Plan {
	p := figure.Plan{Base: baseSpec(scale, "ycsb-c"), Gap: figure.GapPoint{Series: "uniform", X: 2}, Note: "halves of machines: 12 threads, one RNIC"}
	p.Base.Set = figure.With(p.Base.Set, experiment.Knobs{"workload.keys": 600_000_000, "clients": 26, "threads": 12, "nics": 1, "coroutines": 4, "warmup_ns": 100_000, "duration_ns": 250_000})
	if scale == figure.Quick {
		p.Base.Set["workload.scale"] = 0.01
	}
	for _, d := range []string{"uniform", "zipfian"} {
		s := figure.PlannedSeries{Name: d}
		for _, n := range []int{1, 2, 3, 6} {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(systems[xstore], experiment.Knobs{"servers": n, "workload.distribution": d}), Read: ofServer})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func claimsServers(f *figure.Figure) []figure.Claim {
	s := f.Line("uniform")
	c := figure.Claim{ID: "f3-19b-scale-order", Claim: "uniform requests are served faster by 2 RNICs than by one, and by 3 than by 2", Unit: "x"}
	one, ok := s.At(1)
	two, also := s.At(2)
	three, too := s.At(3)
	if !ok || !also || !too {
		c = figure.NoRuns(c)
	} else {
		c = f.Gains(c.ID, c.Claim, figure.Divide(figure.Pair{Above: "2 RNICs", Below: "1"}, two, one), figure.Divide(figure.Pair{Above: "3 RNICs", Below: "2"}, three, two))
	}
	return append([]figure.Claim{c, f.Above("f3-19b-zipf-order", "skewed ones are held up by the RNIC that has most of them", func(x float64) bool { return x >= 3 }, figure.Pair{Above: "uniform", Below: "zipfian"})}, rowsServers(f)...)
}

const (
	oneThread  = "1 thread"
	twoThreads = "2 threads"

	modelsTrained = "sub-models trained"
	leavesSplit   = "leaves split"
)

// perSecond reads a rate of XStore's, in thousands.
func perSecond(name string) func(r *result.Result) (float64, float64) {
	return func(r *result.Result) (float64, float64) { return r.Parts["xstore"][name] / 1e3, 0 }
}

// planTraining has what one and two threads train where more waits than they can do, and how many leaves YCSB D and E split. A split
// leaf invalidates the sub-models that have keys of it, one or two.
func planTraining(scale string) figure.Plan {
	p := overTime(scale, "", thesisKeys, grownFrom, grownTo)
	trained, split := figure.PlannedSeries{Name: modelsTrained}, figure.PlannedSeries{Name: leavesSplit}
	for i, name := range []string{oneThread, twoThreads} {
		set := figure.With(aged(scale, xstore), experiment.Knobs{"workload": "ycsb-d", "workload.insert_rate": 10_000_000, "xstore.trainers": i + 1})
		trained.Points = append(trained.Points, figure.PlannedPoint{X: float64(i + 1), Name: name, Set: set, Read: perSecond("retrained")})
	}
	for i, letter := range []string{"d", "e"} {
		set := figure.With(aged(scale, xstore), experiment.Knobs{"workload": "ycsb-" + letter})
		split.Points = append(split.Points, figure.PlannedPoint{X: float64(i + 3), Name: "YCSB " + strings.ToUpper(letter), Set: set, Read: perSecond("splits")})
	}
	p.Series = []figure.PlannedSeries{trained, split}
	return p
}

func claimsTraining(f *figure.Figure) []figure.Claim {
	c := figure.Claim{ID: "f3-20a-order", Claim: "two threads train faster than YCSB D and E invalidate", Unit: "x"}
	var rs []figure.Ratio
	if a, ok := f.Line(modelsTrained).Named(twoThreads); ok {
		for _, b := range f.Line(leavesSplit).Points {
			if b.Y > 0 { // else it needs none
				rs = append(rs, figure.Divide(figure.Pair{Above: twoThreads, Below: b.Name}, a, b))
			}
		}
	}
	if len(rs) == 0 {
		return []figure.Claim{figure.NoRuns(c)}
	}
	return append([]figure.Claim{f.Gains(c.ID, c.Claim, rs...)}, rowsTraining(f)...)
}

// gets is the rate of GETs.
func gets(r *result.Result) (y, ci95 float64) {
	y = float64(r.ByType["get"].Commits) / float64(r.VirtualNS) * 1e3
	return y, y * r.ThroughputCI95
}

func planInserts(scale string) figure.Plan {
	p := overTime(scale, "ycsb-d", thesisKeys, grownFrom, grownTo)
	rates := []int{0, 1, 2, 3, 4}
	if scale == figure.Quick {
		rates = []int{0, 2, 4}
	}
	for i, name := range []string{oneThread, twoThreads} {
		line := figure.PlannedSeries{Name: name}
		for _, rate := range rates {
			set := figure.With(aged(scale, xstore), experiment.Knobs{"workload.insert_rate": rate * 1_000_000, "xstore.trainers": i + 1})
			if rate == 0 { // nothing grows: both have the same run, and a short one is enough
				set = figure.With(set, experiment.Knobs{"workload.mix.insert": 0, "xstore.trainers": 2, "warmup_ns": 200_000, "duration_ns": 400_000})
			}
			line.Points = append(line.Points, figure.PlannedPoint{X: float64(rate), Set: set, Read: gets})
		}
		p.Series = append(p.Series, line)
	}
	return p
}

func claimsInserts(f *figure.Figure) []figure.Claim {
	c := figure.Claim{ID: "f3-20b-order", Claim: "inserts cost GETs throughput, with one thread that trains", Unit: "x"}
	s := f.Line(oneThread).Points
	if len(s) < 2 {
		c = figure.NoRuns(c)
	} else {
		c = f.Gains(c.ID, c.Claim, figure.Divide(figure.Pair{Above: "without inserts", Below: "with most"}, s[0], s[len(s)-1]))
	}
	return append([]figure.Claim{c, f.Above("f3-20b-threads-order", "two threads keep more of it than one", func(x float64) bool { return x == 4 }, figure.Pair{Above: twoThreads, Below: oneThread})}, rowsInserts(f)...)
}

const (
	withoutLog = "w/o logging"
	withLog    = "w/ logging"
)

// planLogs has little of the logs wait in memory: how much does not change what the SSD takes, but how long it is until the
// workers feel it. That is why A and F, which fill the logs, are runs over time.
func planLogs(scale string) figure.Plan {
	p := figure.Plan{Base: baseSpec(scale, ""), Gap: figure.GapPoint{Series: withoutLog, X: 3}, Note: "96 KB of each worker's log wait in memory; in parentheses what the thesis has"}
	p.Base.Set["duration_ns"] = 500_000
	if scale == figure.Quick {
		p.Base.Set["workload.scale"] = 0.01
	}
	p.Series = []figure.PlannedSeries{{Name: withoutLog, Points: ofWorkloads(ofServer, systems[xstore], "a", "b", "c", "d", "e", "f")}, {Name: withLog}}
	for _, w := range []struct {
		letter string
		fillNS int // until the logs are full; 0: they do not fill
	}{{"a", 3_000_000}, {"b", 0}, {"c", 0}, {"d", 0}, {"e", 0}, {"f", 7_000_000}} {
		set := figure.With(systems[xstore], experiment.Knobs{"xstore.log": true, "xstore.log_behind": 96 << 10, "warmup_ns": 500_000, "duration_ns": 700_000})
		if w.fillNS > 0 {
			set = figure.With(set, experiment.Knobs{"warmup_ns": w.fillNS, "duration_ns": 4_000_000, "timeline": true})
		}
		p.Series[1].Points = append(p.Series[1].Points, ofWorkloads(ofServer, set, w.letter)...)
	}
	return p
}

func claimsLogs(f *figure.Figure) []figure.Claim {
	p := figure.Pair{Above: withoutLog, Below: withLog}
	return append([]figure.Claim{
		f.Above("t3-3-order", "logs cost throughput where there are many updates", func(x float64) bool { return x == 1 }, p),
		equal(f, "t3-3-c-order", "and little where there are none", p, 3),
	}, rowsLogs(f)...)
}
