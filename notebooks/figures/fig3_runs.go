package figures

import (
	"fmt"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figures 3-17b to 3-20 and Table 3-3: where latency goes, what the optimisations and the logs bring and cost, production
// workloads, several servers, and how fast models are trained.

var figures3runs = []*definition{
	{id: "3-17b", title: "Where the latency of YCSB C goes at low load", chapter: 3, section: "3.7.2", scope: "server", form: formStacked,
		x: Axis{Label: "Part"}, y: Axis{Label: "Mean latency", Unit: "us"}, arrange: arrange317b, claims: claims317b,
		plan: func(scale string) plan {
			return bars3(base3(scale, "ycsb-c"), meanLatency, with(lone3, experiment.Knobs{"duration_ns": 10_000_000}), xstore, drtmTree, emt, cell, optimal)
		}},
	{id: "3-18a", title: "Position hints for UPDATE", chapter: 3, section: "3.7.3", scope: "server", form: formBars,
		x: Axis{Label: "Workload"}, y: Axis{Label: "Throughput", Unit: "Mreq/s"}, claims: claims318a,
		plan: func(scale string) plan {
			return switched3(plan{base: base3(scale, ""), gap: gapPoint{withPH, 1}}, "xstore.position_hint", [2]string{withPH, withoutPH}, systems3[xstore], "a", "b", "c", "f")
		}},
	{id: "3-18b", title: "Speculative lookups while others INSERT", chapter: 3, section: "3.7.3", scope: "server", form: formBars,
		x: Axis{Label: "Workload"}, y: Axis{Label: "Throughput", Unit: "Mreq/s"}, claims: claims318b,
		plan: func(scale string) plan {
			return switched3(aged3(scale, "", keys3, grownFrom3, grownTo3), "xstore.speculative", [2]string{withSE, withoutSE}, aged(scale, xstore), "d", "e")
		}},
	{id: "3-19a", title: "Production workloads", chapter: 3, section: "3.7.4", scope: "server", form: formBars,
		x: Axis{Label: "Workload"}, y: Axis{Label: "Throughput", Unit: "Mreq/s"}, plan: plan319a, claims: claims319a},
	{id: "3-19b", title: "YCSB C on several servers", chapter: 3, section: "3.7.5", scope: "cluster",
		x: Axis{Label: "RNICs of servers", Unit: "RNICs"}, y: Axis{Label: "Throughput", Unit: "Mreq/s"}, plan: plan319b, claims: claims319b},
	{id: "3-20a", title: "Training and what needs it", chapter: 3, section: "3.7.6", scope: "server", form: formBars,
		x: Axis{Label: "Threads, and workloads"}, y: Axis{Label: "Rate", Unit: "K/s"}, plan: plan320a, claims: claims320a},
	{id: "3-20b", title: "GETs by the rate of inserts", chapter: 3, section: "3.7.6", scope: "server",
		x: Axis{Label: "Inserts asked for", Unit: "M/s"}, y: Axis{Label: "Throughput of GETs", Unit: "Mreq/s"}, plan: plan320b, claims: claims320b},
	{id: "t3-3", title: "Table 3-3: throughput with logs", chapter: 3, section: "3.7.9", scope: "server", form: formTable,
		x: Axis{Label: "Workload"}, y: Axis{Label: "Mreq/s", Unit: "Mreq/s"}, plan: plan33t, claims: claims33t},
}

// The parts of a lookup in Figure 3-17b: the client's own work on its cache, READs of leaves and nodes, the READ of the
// value, an RPC.
var parts317b = []struct {
	name string
	of   func(r *result.Result) float64
}{
	{"CPU_IDX", func(r *result.Result) float64 { return r.Phases["index"].ComputeUS }},
	{"NIC_IDX", func(r *result.Result) float64 { return r.Phases["index"].MeanUS - r.Phases["index"].ComputeUS }},
	{"NIC_VAL", func(r *result.Result) float64 { return r.Phases["value"].MeanUS }},
	{"NIC_RPC", func(r *result.Result) float64 { return r.Phases["execution"].MeanUS + r.Phases["rpc"].MeanUS }},
}

// arrange317b makes of each run a pile of its parts.
func arrange317b(f *Figure) {
	for i := range f.Series {
		s := &f.Series[i]
		if len(s.Points) == 0 {
			continue
		}
		run := s.Points[0]
		s.Points = nil
		for k, part := range parts317b {
			y := part.of(f.Runs[run.Run])
			s.Points = append(s.Points, Point{X: float64(k), Y: y, Name: part.name, Load: run.Load, Run: run.Run})
		}
	}
}

func claims317b(f *Figure) []Claim {
	part := func(id, text, name, more, less string) Claim {
		a, ok := f.series(more).named(name)
		b, also := f.series(less).named(name)
		if !ok || !also {
			return noRuns(Claim{ID: id, Claim: text, Unit: "x"})
		}
		return f.gains(id, text, divide(pair{more, less}, a, b))
	}
	return append([]Claim{
		part("f3-17b-cpu-order", "walking through a cached tree takes the client longer than a model", "CPU_IDX", optimal, xstore),
		part("f3-17b-nic-order", "the READs of a lookup with Cell's cache take longer than XStore's", "NIC_IDX", cell, xstore),
	}, f.rows317b()...)
}

const (
	withPH    = "with PH"
	withoutPH = "without PH"
	withSE    = "with SE"
	withoutSE = "without SE"

	// What has grown is measured from one to the other, in seconds of the thesis.
	grownFrom3 = 24
	grownTo3   = 30
)

// switched3 are workloads of YCSB with a knob on and off.
func switched3(p plan, name string, names [2]string, system experiment.Knobs, letters ...string) plan {
	for i, on := range []bool{true, false} {
		p.series = append(p.series, plannedSeries{name: names[i], points: letters3(ofServer, with(system, experiment.Knobs{name: on}), letters...)})
	}
	return p
}

// letters3 are a point for each workload of YCSB.
func letters3(read func(*result.Result) (float64, float64), set experiment.Knobs, letters ...string) (out []plannedPoint) {
	for _, letter := range letters {
		out = append(out, plannedPoint{x: float64(letter[0]-'a') + 1, name: string(letter[0] - 'a' + 'A'), set: with(set, experiment.Knobs{"workload": "ycsb-" + letter}), read: read})
	}
	return out
}

// equal3 is a claim that two lines are the same at a point.
func (f *Figure) equal3(id, text string, p pair, x float64) Claim {
	a, ok := f.series(p.above).at(x)
	b, also := f.series(p.below).at(x)
	if !ok || !also {
		return noRuns(Claim{ID: id, Claim: text, Unit: "x"})
	}
	r := divide(p, a, b)
	return Claim{ID: id, Claim: text, Unit: "x", Measured: &r.value, Status: near(r.value, r.half, 1), Why: f.because(r)}
}

func claims318a(f *Figure) []Claim {
	p := pair{withPH, withoutPH}
	return append([]Claim{
		f.above("f3-18a-order", "position hints make workloads with updates faster", func(x float64) bool { return x != 3 }, p),
		f.equal3("f3-18a-c", "and do not matter where there are none", p, 3),
	}, f.rows318(withPH, withoutPH, "a", "b", "f")...)
}

func claims318b(f *Figure) []Claim {
	p := pair{withSE, withoutSE}
	out := []Claim{
		f.above("f3-18b-order", "speculative lookups make YCSB D faster", func(x float64) bool { return x == 4 }, p),
		f.equal3("f3-18b-e-order", "and matter little for YCSB E", p, 5),
	}
	if a, ok := f.series(withSE).at(4); ok {
		if b, ok := f.series(withoutSE).at(4); ok {
			x, y := f.Runs[a.Run].Parts["xstore"], f.Runs[b.Run].Parts["xstore"]
			out[0].Why += fmt.Sprintf("; of the lookups of D %.3g %% asked the server, without %.3g %%", x["fallbacks"], y["fallbacks"])
			out = append(out, withheld("f3-16-inval-nose", "YCSB D, uniform: XStore's lookups that ask the server, without speculation", "%", y["fallbacks"], limit(f.Runs[b.Run])))
		}
	}
	return append(out, f.rows318(withSE, withoutSE, "d", "e")...)
}

// plan319a has 500 million pairs with values of 64 bytes at paper scale (§3.7.1).
func plan319a(scale string) plan {
	p := plan{base: base3(scale, ""), gap: gapPoint{xstore, 1}}
	p.base.Set = with(p.base.Set, experiment.Knobs{"workload.keys": 500_000_000, "duration_ns": 400_000})
	if scale == Quick {
		p.base.Set["workload.scale"] = 0.02
	}
	for _, name := range []string{xstore, drtmTree, emt, cell} {
		s := plannedSeries{name: name}
		for i, w := range []string{"prod1", "prod2"} {
			s.points = append(s.points, plannedPoint{x: float64(i + 1), name: fmt.Sprintf("Prod%d", i+1), set: with(systems3[name], experiment.Knobs{"workload": w}), read: ofServer})
		}
		p.series = append(p.series, s)
	}
	return p
}

func claims319a(f *Figure) []Claim {
	all := func(float64) bool { return true }
	out := []Claim{f.above("f3-19a-order", "XStore outperforms DrTM-Tree, EMT and Cell on both", all, pair{xstore, drtmTree}, pair{xstore, emt}, pair{xstore, cell})}
	for _, other := range []string{drtmTree, emt, cell} {
		id, text := "f3-19a-skew-order", "its lead over "+other+" is larger where the workload is skewed"
		rs := f.ratios(pair{xstore, other}, all)
		if len(rs) < 2 {
			out = append(out, noRuns(Claim{ID: id, Claim: text, Unit: "x"}))
			continue
		}
		value, half := rs[1].over(rs[0])
		out = append(out, Claim{ID: id, Claim: text, Unit: "x", Measured: &value, Status: exceedsOne(value, half),
			Why: fmt.Sprintf("%.3gx on Prod2, %.3gx on Prod1", rs[1].value, rs[0].value)})
	}
	return append(out, f.rows319a()...)
}

// plan319b has a server for each RNIC and 26 clients with one: halves of machines, as XStore divides the keys among RNICs.
func plan319b(scale string) plan {
	p := plan{base: base3(scale, "ycsb-c"), gap: gapPoint{"uniform", 2}, note: "halves of machines: 12 threads, one RNIC"}
	p.base.Set = with(p.base.Set, experiment.Knobs{"workload.keys": 600_000_000, "clients": 26, "threads": 12, "nics": 1, "coroutines": 4, "warmup_ns": 100_000, "duration_ns": 250_000})
	if scale == Quick {
		p.base.Set["workload.scale"] = 0.01
	}
	for _, d := range []string{"uniform", "zipfian"} {
		s := plannedSeries{name: d}
		for _, n := range []int{1, 2, 3, 6} {
			s.points = append(s.points, plannedPoint{x: float64(n), set: with(systems3[xstore], experiment.Knobs{"servers": n, "workload.distribution": d}), read: ofServer})
		}
		p.series = append(p.series, s)
	}
	return p
}

func claims319b(f *Figure) []Claim {
	s := f.series("uniform")
	c := Claim{ID: "f3-19b-scale-order", Claim: "uniform requests are served faster by 2 RNICs than by one, and by 3 than by 2", Unit: "x"}
	one, ok := s.at(1)
	two, also := s.at(2)
	three, too := s.at(3)
	if !ok || !also || !too {
		c = noRuns(c)
	} else {
		c = f.gains(c.ID, c.Claim, divide(pair{"2 RNICs", "1"}, two, one), divide(pair{"3 RNICs", "2"}, three, two))
	}
	return append([]Claim{c, f.above("f3-19b-zipf-order", "skewed ones are held up by the RNIC that has most of them", func(x float64) bool { return x >= 3 }, pair{"uniform", "zipfian"})}, f.rows319b()...)
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

// plan320a has what one and two threads train where more waits than they can do, and how many leaves YCSB D and E split. A split
// leaf invalidates the sub-models that have keys of it, one or two.
func plan320a(scale string) plan {
	p := aged3(scale, "", keys3, grownFrom3, grownTo3)
	trained, split := plannedSeries{name: modelsTrained}, plannedSeries{name: leavesSplit}
	for i, name := range []string{oneThread, twoThreads} {
		set := with(aged(scale, xstore), experiment.Knobs{"workload": "ycsb-d", "workload.insert_rate": 10_000_000, "xstore.trainers": i + 1})
		trained.points = append(trained.points, plannedPoint{x: float64(i + 1), name: name, set: set, read: perSecond("retrained")})
	}
	for i, letter := range []string{"d", "e"} {
		set := with(aged(scale, xstore), experiment.Knobs{"workload": "ycsb-" + letter})
		split.points = append(split.points, plannedPoint{x: float64(i + 3), name: "YCSB " + strings.ToUpper(letter), set: set, read: perSecond("splits")})
	}
	p.series = []plannedSeries{trained, split}
	return p
}

func claims320a(f *Figure) []Claim {
	c := Claim{ID: "f3-20a-order", Claim: "two threads train faster than YCSB D and E invalidate", Unit: "x"}
	var rs []ratio
	if a, ok := f.series(modelsTrained).named(twoThreads); ok {
		for _, b := range f.series(leavesSplit).Points {
			if b.Y > 0 { // else it needs nobody
				rs = append(rs, divide(pair{twoThreads, b.Name}, a, b))
			}
		}
	}
	if len(rs) == 0 {
		return []Claim{noRuns(c)}
	}
	return append([]Claim{f.gains(c.ID, c.Claim, rs...)}, f.rows320a()...)
}

// gets is the rate of GETs.
func gets(r *result.Result) (y, ci95 float64) {
	y = float64(r.ByType["get"].Commits) / float64(r.VirtualNS) * 1e3
	return y, y * r.ThroughputCI95
}

func plan320b(scale string) plan {
	p := aged3(scale, "ycsb-d", keys3, grownFrom3, grownTo3)
	rates := []int{0, 1, 2, 3, 4}
	if scale == Quick {
		rates = []int{0, 2, 4}
	}
	for i, name := range []string{oneThread, twoThreads} {
		line := plannedSeries{name: name}
		for _, rate := range rates {
			set := with(aged(scale, xstore), experiment.Knobs{"workload.insert_rate": rate * 1_000_000, "xstore.trainers": i + 1})
			if rate == 0 { // nothing grows: both have the same run, and a short one is enough
				set = with(set, experiment.Knobs{"workload.mix.insert": 0, "xstore.trainers": 2, "warmup_ns": 200_000, "duration_ns": 400_000})
			}
			line.points = append(line.points, plannedPoint{x: float64(rate), set: set, read: gets})
		}
		p.series = append(p.series, line)
	}
	return p
}

func claims320b(f *Figure) []Claim {
	c := Claim{ID: "f3-20b-order", Claim: "inserts cost GETs throughput, with one thread that trains", Unit: "x"}
	s := f.series(oneThread).Points
	if len(s) < 2 {
		c = noRuns(c)
	} else {
		c = f.gains(c.ID, c.Claim, divide(pair{"without inserts", "with most"}, s[0], s[len(s)-1]))
	}
	return append([]Claim{c, f.above("f3-20b-threads-order", "two threads keep more of it than one", func(x float64) bool { return x == 4 }, pair{twoThreads, oneThread})}, f.rows320b()...)
}

const (
	withoutLog = "w/o logging"
	withLog    = "w/ logging"
)

// plan33t has little of the logs wait in memory: how much does not change what the SSD takes, but how long it is until the
// workers feel it. That is why A and F, which fill the logs, are runs over time.
func plan33t(scale string) plan {
	p := plan{base: base3(scale, ""), gap: gapPoint{withoutLog, 3}, note: "96 KB of each worker's log wait in memory"}
	p.base.Set["duration_ns"] = 500_000
	if scale == Quick {
		p.base.Set["workload.scale"] = 0.01
	}
	p.series = []plannedSeries{{name: withoutLog, points: letters3(ofServer, systems3[xstore], "a", "b", "c", "d", "e", "f")}, {name: withLog}}
	for _, w := range []struct {
		letter string
		fillNS int // until the logs are full; 0: they do not fill
	}{{"a", 3_000_000}, {"b", 0}, {"c", 0}, {"d", 0}, {"e", 0}, {"f", 7_000_000}} {
		set := with(systems3[xstore], experiment.Knobs{"xstore.log": true, "xstore.log_behind": 96 << 10, "warmup_ns": 500_000, "duration_ns": 700_000})
		if w.fillNS > 0 {
			set = with(set, experiment.Knobs{"warmup_ns": w.fillNS, "duration_ns": 4_000_000, "timeline": true})
		}
		p.series[1].points = append(p.series[1].points, letters3(ofServer, set, w.letter)...)
	}
	return p
}

func claims33t(f *Figure) []Claim {
	p := pair{withoutLog, withLog}
	return append([]Claim{
		f.above("t3-3-order", "logs cost throughput where there are many updates", func(x float64) bool { return x == 1 }, p),
		f.equal3("t3-3-c-order", "and little where there are none", p, 3),
	}, f.rows33t()...)
}
