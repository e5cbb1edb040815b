package chapter3

import (
	"fmt"
	"math"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// What the figures of chapter 3 share: one server of VAL with all its cores and both RNICs, up to 15 client machines, keys and
// values of 8 bytes (§3.7.1). Leaves, tables and models are made when they are first touched, so quick scale has the
// machines of the thesis and a tenth of its 100 million keys; caches shrink with the keys.
//
// What the thesis says in words is measured too. Nothing is fitted to the chapter's numbers.

const (
	xstore    = "XStore"
	optimal   = "Optimal"
	cell      = "Cell"
	drtmTree  = "DrTM-Tree"
	emt       = "EMT"
	rmc       = "RMC"
	serverRKV = "S-RKV"
	clientRKV = "C-RKV"

	clientMachines = 15
)

// systems are the systems by their names.
var systems = map[string]experiment.Knobs{
	xstore:    {"store.ordered": "xstore", "xstore.cache": "full"},
	optimal:   {"store.ordered": "xstore", "xstore.cache": "tree"},
	cell:      {"store.ordered": "xstore", "xstore.cache": "tree4"},
	clientRKV: {"store.ordered": "xstore", "xstore.cache": "none"},
	drtmTree:  {"store.ordered": "drtm-tree"},
	serverRKV: {"store.ordered": "drtm-tree"},
	emt:       {"store.ordered": "masstree"},
	rmc:       {"store.ordered": "memcached"},
}

// baseSpec is what the runs of chapter 3 share.
func baseSpec(scale, workload string) experiment.Spec {
	k := experiment.Knobs{"servers": 1, "clients": clientMachines, "threads": 24, "coroutines": 2, "workload.keys": 100_000_000, "workload.scale": 0.1,
		"check": "sampled", "warmup_ns": 200_000, "duration_ns": 400_000}
	if scale == figure.Paper {
		k["workload.scale"], k["duration_ns"] = 1.0, 1_500_000
	}
	return experiment.Spec{Workload: workload, Set: k}
}

// ofServer is millions of requests per second.
func ofServer(r *result.Result) (y, ci95 float64) {
	y = r.Throughput / 1e6
	return y, y * r.ThroughputCI95
}

func medianLatency(r *result.Result) (y, ci95 float64) { return r.LatencyUS.P50, 0 }

// lowLoad is one client with one request at a time: low load.
var lowLoad = experiment.Knobs{"clients": 1, "server.threads": 24, "client.threads": 1, "threads": 24, "coroutines": 1, "duration_ns": 2_000_000}

// barOfEach are a bar for each system.
func barOfEach(base experiment.Spec, read func(*result.Result) (float64, float64), set experiment.Knobs, names ...string) figure.Plan {
	p := figure.Plan{Base: base, Gap: figure.GapPoint{Series: optimal, X: 1}}
	for _, name := range names {
		p.Series = append(p.Series, figure.PlannedSeries{Name: name, Points: []figure.PlannedPoint{{X: 1, Name: "YCSB C", Set: figure.With(systems[name], set), Read: read}}})
	}
	return p
}

// busy reads a resource of the server, in percent.
func busy(resource string) func(r *result.Result) (float64, float64) {
	return func(r *result.Result) (float64, float64) { return 100 * r.Nodes[0].Utilization[resource], 0 }
}

func resourcePanel(id, title, resource, label string, claims func(f *figure.Figure) []figure.Claim) *figure.Definition {
	return &figure.Definition{ID: id, Title: title, Chapter: 3, Section: "3.2", Scope: "server",
		X: figure.Axis{Label: "Client machines", Unit: "machines"}, Y: figure.Axis{Label: label, Unit: "%"}, Claims: claims,
		Plan: func(scale string) figure.Plan {
			p := figure.Plan{Base: baseSpec(scale, "ycsb-c"), Gap: figure.GapPoint{Series: serverRKV, X: clientMachines}}
			for _, name := range []string{serverRKV, clientRKV} {
				line := figure.PlannedSeries{Name: name}
				for _, n := range []int{1, 2, 4, 8, 15} {
					line.Points = append(line.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(systems[name], experiment.Knobs{"clients": n}), Read: busy(resource)})
				}
				p.Series = append(p.Series, line)
			}
			return p
		}}
}

var comparisons = []*figure.Definition{
	resourcePanel("3-2a", "Server CPU of key-value stores on RDMA", "cpu", "CPU", func(f *figure.Figure) []figure.Claim {
		return []figure.Claim{idleServer(f)}
	}),
	resourcePanel("3-2b", "Server network of key-value stores on RDMA", "link", "Network bandwidth", func(f *figure.Figure) []figure.Claim {
		return []figure.Claim{f.Value("f3-2b-srkv-net", "with its CPUs saturated the server-centric store uses 11 % of the bandwidth", serverRKV, clientMachines, 11)}
	}),
	{ID: "3-3a", Title: "Peak throughput of key-value stores on RDMA", Chapter: 3, Section: "3.2", Scope: "server", Form: figure.FormBars,
		X: figure.Axis{Label: "Workload"}, Y: figure.Axis{Label: "Throughput", Unit: "Mreq/s"}, Claims: claimsPeak,
		Plan: func(scale string) figure.Plan {
			return barOfEach(baseSpec(scale, "ycsb-c"), ofServer, nil, serverRKV, clientRKV, cell, optimal)
		}},
	{ID: "3-3b", Title: "Median latency of key-value stores on RDMA at low load", Chapter: 3, Section: "3.2", Scope: "server", Form: figure.FormBars,
		X: figure.Axis{Label: "Workload"}, Y: figure.Axis{Label: "Median latency", Unit: "µs"}, Claims: claimsLowLoad,
		Plan: func(scale string) figure.Plan {
			return barOfEach(baseSpec(scale, "ycsb-c"), medianLatency, lowLoad, serverRKV, clientRKV, cell, optimal)
		}},
	ycsbPanel("3-15a", "uniform", "uniform"),
	ycsbPanel("3-15b", "zipfian", "zipfian"),
	{ID: "3-17a", Title: "Throughput and latency, YCSB C", Chapter: 3, Section: "3.7.2", Scope: "server", Form: figure.FormCurves,
		X: figure.Axis{Label: "Throughput", Unit: "Mreq/s"}, Y: figure.Axis{Label: "Median latency", Unit: "µs"}, Plan: planReadOnly, Claims: claimsReadOnly},
	cachePanel("3-22b", "uniform"),
	cachePanel("3-22c", "zipfian"),
	subModelsPanel("3-23a", "Peak throughput by sub-models and data", figure.Axis{Label: "Throughput", Unit: "Mreq/s"}, ofServer, nil, claimsSubModels),
	subModelsPanel("3-23b", "Median latency by sub-models and data, low load", figure.Axis{Label: "Median latency", Unit: "µs"}, medianLatency, lowLoad, func(*figure.Figure) []figure.Claim { return nil }),
}

// idleServer is the ordering of Figure 3-2: which systems saturate the server's CPUs, and which leave them idle.
func idleServer(f *figure.Figure) figure.Claim {
	c := figure.Claim{ID: "f3-2-order", Claim: "the server-centric store takes all of the server's CPU, the client-direct one none", Status: figure.Holds}
	rpc, direct := f.Line(serverRKV), f.Line(clientRKV)
	if len(rpc.Points) == 0 || len(direct.Points) == 0 {
		return figure.NoRuns(c)
	}
	a, b := rpc.Peak(), direct.Peak()
	c.Why = fmt.Sprintf("%s %.0f %% at %s, %s %.0f %%", serverRKV, a.Y, f.Where(a), clientRKV, b.Y)
	if a.Y < 95 || b.Y > 5 {
		c.Status = figure.Contradicted
	}
	return c
}

func claimsPeak(f *figure.Figure) []figure.Claim {
	at := func(name string) figure.Point { return f.Line(name).Points[0] }
	claims := []figure.Claim{
		f.Value("f3-3a-srkv", "the server-centric store reaches about 24 M requests/s", serverRKV, 1, 24),
		f.Value("f3-3a-crkv", "the client-direct one without a cache 7 M", clientRKV, 1, 7),
		f.Value("f3-3a-cell", "with the upper levels cached 14.5 M", cell, 1, 14.5),
		f.Value("f3-3a-optimal", "with the whole index cached 78 M", optimal, 1, 78),
	}
	if slices.ContainsFunc(f.Series, func(s figure.Series) bool { return len(s.Points) == 0 }) {
		return claims
	}
	return append(claims,
		f.Quotient("f3-3a-optimal-ratio", "the whole index cached is 3.3 times better than the server-centric store", at(optimal), at(serverRKV), optimal, serverRKV, 3.3),
		f.Quotient("f3-3a-slowdown", "traversing the tree by READs is 11 times slower", at(optimal), at(clientRKV), optimal, clientRKV, 11))
}

func claimsLowLoad(f *figure.Figure) []figure.Claim {
	return []figure.Claim{f.Above("f3-3b-lat", "even with the whole index cached the latency is higher than the server-centric store's", func(float64) bool { return true }, figure.Pair{Above: optimal, Below: serverRKV})}
}

// ycsbPanel is a panel of Figure 3-15: the workloads of YCSB under each system.
func ycsbPanel(id, title, distribution string) *figure.Definition {
	return &figure.Definition{ID: id, Title: "YCSB on key-value stores, " + title, Chapter: 3, Section: "3.7.2", Scope: "server", Form: figure.FormBars,
		X: figure.Axis{Label: "Workload"}, Y: figure.Axis{Label: "Throughput", Unit: "Mreq/s"}, Claims: claimsYCSB,
		Plan: func(scale string) figure.Plan {
			p := figure.Plan{Base: baseSpec(scale, ""), Gap: figure.GapPoint{Series: xstore, X: 3}}
			for _, name := range []string{xstore, optimal, cell, drtmTree, emt, rmc} {
				bars := figure.PlannedSeries{Name: name}
				for i, letter := range []string{"a", "b", "c", "d", "e", "f"} {
					if letter == "e" && name == rmc { // it has no order to scan
						continue
					}
					k := figure.With(systems[name], experiment.Knobs{"workload": "ycsb-" + letter, "workload.distribution": distribution})
					if letter == "d" && distribution == "zipfian" {
						k["workload.distribution"] = "latest"
					}
					bars.Points = append(bars.Points, figure.PlannedPoint{X: float64(i + 1), Name: string(rune('A' + i)), Set: k, Read: ofServer})
				}
				p.Series = append(p.Series, bars)
			}
			return p
		}}
}

func claimsYCSB(f *figure.Figure) []figure.Claim {
	all := func(float64) bool { return true }
	return append([]figure.Claim{
		f.Above("f3-15-order", "XStore outperforms DrTM-Tree, EMT and Cell on every workload", all, figure.Pair{Above: xstore, Below: drtmTree}, figure.Pair{Above: xstore, Below: emt}, figure.Pair{Above: xstore, Below: cell}),
		f.Above("f3-15-c-order", "on the read-only workload it is even a little above a cache of the whole index", func(x float64) bool { return x == 3 }, figure.Pair{Above: xstore, Below: optimal}),
	}, rowsYCSB(f)...)
}

func planReadOnly(scale string) figure.Plan {
	p := figure.Plan{Base: baseSpec(scale, "ycsb-c"), Gap: figure.GapPoint{Series: xstore, X: 8}}
	p.Base.Set["clients"] = 4 // with one coroutine each they are a low load
	for _, name := range []string{xstore, optimal, cell, drtmTree, emt} {
		line := figure.PlannedSeries{Name: name}
		for _, n := range []int{1, 2, 4, 8} {
			line.Points = append(line.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(systems[name], experiment.Knobs{"coroutines": n}), Read: medianLatency, Along: ofServer})
		}
		p.Series = append(p.Series, line)
	}
	return p
}

func claimsReadOnly(f *figure.Figure) []figure.Claim {
	lat, tput := f.Latencies(), f.Throughputs()
	low, high := func(x float64) bool { return x == 1 }, func(x float64) bool { return x >= 4 }
	return append([]figure.Claim{
		lat.Above("f3-17-order", "under a low load server-centric stores have lower latency", low, figure.Pair{Above: xstore, Below: drtmTree}),
		tput.Above("f3-17a-drtm-order", "and they are saturated by CPUs much earlier", high, figure.Pair{Above: xstore, Below: drtmTree}),
		lat.Above("f3-17b-order", "walking through a cached tree takes longer than a model", low, figure.Pair{Above: optimal, Below: xstore}),
	}, rowsReadOnly(f)...)
}

// cachePanel is throughput against what a client keeps (Figures 3-22b and c).
func cachePanel(id, distribution string) *figure.Definition {
	return &figure.Definition{ID: id, Title: "Throughput by what clients cache, " + distribution, Chapter: 3, Section: "3.7.7", Scope: "server", Form: figure.FormBars,
		X: figure.Axis{Label: "Cached"}, Y: figure.Axis{Label: "Throughput", Unit: "Mreq/s"}, Claims: claimsCache,
		Plan: func(scale string) figure.Plan {
			p := figure.Plan{Base: baseSpec(scale, "ycsb-c"), Gap: figure.GapPoint{Series: xstore, X: 3}}
			p.Base.Set["workload.distribution"] = distribution
			models := figure.PlannedSeries{Name: xstore}
			for i, m := range []struct{ mode, name string }{{"top", "top model"}, {"model", "sub-models"}, {"full", "and tables"}} {
				models.Points = append(models.Points, figure.PlannedPoint{X: float64(i + 1), Name: m.name, Set: experiment.Knobs{"store.ordered": "xstore", "xstore.cache": m.mode}, Read: ofServer})
			}
			nodes := figure.PlannedSeries{Name: "Tree-based cache"}
			for i, m := range []struct{ mode, name string }{{"none", "nothing"}, {"tree4", "upper levels"}, {"tree", "whole index"}} {
				nodes.Points = append(nodes.Points, figure.PlannedPoint{X: float64(i + 4), Name: m.name, Set: experiment.Knobs{"store.ordered": "xstore", "xstore.cache": m.mode}, Read: ofServer})
			}
			p.Series = []figure.PlannedSeries{models, nodes}
			return p
		}}
}

// claimsCache compares what the thesis compares: sub-models alone with the whole index.
func claimsCache(f *figure.Figure) []figure.Claim {
	models, nodes := f.Line(xstore), f.Line("Tree-based cache")
	c := figure.Claim{ID: "f3-22-order", Claim: "sub-models alone, a hundredth of the memory, are above the upper levels of the tree", Unit: "x"}
	if len(models.Points) < 2 || len(nodes.Points) < 2 {
		return []figure.Claim{figure.NoRuns(c)}
	}
	return append([]figure.Claim{f.Gains(c.ID, c.Claim, figure.Divide(figure.Pair{Above: xstore, Below: "Tree-based cache"}, models.Points[1], nodes.Points[1]))}, rowsCache(f)...)
}

// dataSets are the data of Table 3-2.
var dataSets = []struct{ name, set string }{{"L", "linear"}, {"NL", "noised"}, {"OSM", "osm"}}

func subModelsPanel(id, title string, y figure.Axis, read func(*result.Result) (float64, float64), set experiment.Knobs, claims func(*figure.Figure) []figure.Claim) *figure.Definition {
	return &figure.Definition{ID: id, Title: title, Chapter: 3, Section: "3.7.8", Scope: "server",
		X: figure.Axis{Label: "Sub-models", Unit: "per million keys", Log: true}, Y: y, Claims: claims,
		Plan: func(scale string) figure.Plan {
			p := figure.Plan{Base: baseSpec(scale, "ycsb-c"), Gap: figure.GapPoint{Series: "L", X: 5000}}
			if scale == figure.Quick { // sub-models are trained one by one
				p.Base.Set["workload.scale"] = 0.01
			}
			for _, s := range dataSets {
				line := figure.PlannedSeries{Name: s.name}
				for _, n := range []int{1000, 5000, 20_000, 50_000} {
					keys := p.Base.Set["workload.scale"].(float64) * 100
					line.Points = append(line.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(systems[xstore], set, experiment.Knobs{"workload.dataset": s.set, "xstore.submodels": int(math.Round(float64(n) * keys)), "xstore.expand_at": 0}), Read: read})
				}
				p.Series = append(p.Series, line)
			}
			return p
		}}
}

func claimsSubModels(f *figure.Figure) []figure.Claim {
	all := func(float64) bool { return true }
	return append([]figure.Claim{f.Above("f3-23a-order", "complex data need more sub-models: linear keys are above noised ones, and these above OSM", all, figure.Pair{Above: "L", Below: "NL"}, figure.Pair{Above: "NL", Below: "OSM"})}, rowsSubModels(f)...)
}
