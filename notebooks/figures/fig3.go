package figures

import (
	"fmt"
	"math"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// What the figures of chapter 3 share: one server of VAL with all its cores and both RNICs, up to 15 client machines, keys and
// values of 8 bytes (§3.7.1). Leaves, tables and models are made when they are first touched, so quick scale has the
// machines of the thesis and a tenth of its 100 million keys; caches shrink with the keys.
//
// The chapter's results are withheld: what the thesis says in words is measured, numbers are beside the motivation of §3.2
// alone.

const (
	xstore    = "XStore"
	optimal   = "Optimal"
	cell      = "Cell"
	drtmTree  = "DrTM-Tree"
	emt       = "EMT"
	rmc       = "RMC"
	serverRKV = "S-RKV"
	clientRKV = "C-RKV"

	clients3 = 15
)

// systems3 are the systems by their names.
var systems3 = map[string]experiment.Knobs{
	xstore:    {"store.ordered": "xstore", "xstore.cache": "full"},
	optimal:   {"store.ordered": "xstore", "xstore.cache": "tree"},
	cell:      {"store.ordered": "xstore", "xstore.cache": "tree4"},
	clientRKV: {"store.ordered": "xstore", "xstore.cache": "none"},
	drtmTree:  {"store.ordered": "drtm-tree"},
	serverRKV: {"store.ordered": "drtm-tree"},
	emt:       {"store.ordered": "masstree"},
	rmc:       {"store.ordered": "memcached"},
}

// base3 is what the runs of chapter 3 share.
func base3(scale, workload string) experiment.Spec {
	k := experiment.Knobs{"servers": 1, "clients": clients3, "threads": 24, "coroutines": 2, "workload.keys": 100_000_000, "workload.scale": 0.1,
		"check": "sampled", "warmup_ns": 200_000, "duration_ns": 400_000}
	if scale == Paper {
		k["workload.scale"], k["duration_ns"] = 1.0, 1_500_000
	}
	return experiment.Spec{Workload: workload, Set: k}
}

// ofServer is millions of requests per second.
func ofServer(r *result.Result) (y, ci95 float64) {
	y = r.Throughput / 1e6
	return y, y * r.ThroughputCI95
}

func median3(r *result.Result) (y, ci95 float64) { return r.LatencyUS.P50, 0 }

// lone3 is one client with one request at a time: low load.
var lone3 = experiment.Knobs{"clients": 1, "server.threads": 24, "client.threads": 1, "threads": 24, "coroutines": 1, "duration_ns": 2_000_000}

// bars3 are a bar for each system.
func bars3(base experiment.Spec, read func(*result.Result) (float64, float64), set experiment.Knobs, names ...string) plan {
	p := plan{base: base, gap: gapPoint{optimal, 1}}
	for _, name := range names {
		p.series = append(p.series, plannedSeries{name: name, points: []plannedPoint{{x: 1, name: "YCSB C", set: with(systems3[name], set), read: read}}})
	}
	return p
}

// busy3 reads a resource of the server, in percent.
func busy3(resource string) func(r *result.Result) (float64, float64) {
	return func(r *result.Result) (float64, float64) { return 100 * r.Nodes[0].Utilization[resource], 0 }
}

func figure32(id, title, resource, label string, claims func(f *Figure) []Claim) *definition {
	return &definition{id: id, title: title, chapter: 3, section: "3.2", scope: "server",
		x: Axis{Label: "Client machines", Unit: "machines"}, y: Axis{Label: label, Unit: "%"}, claims: claims,
		plan: func(scale string) plan {
			p := plan{base: base3(scale, "ycsb-c"), gap: gapPoint{serverRKV, clients3}}
			for _, name := range []string{serverRKV, clientRKV} {
				line := plannedSeries{name: name}
				for _, n := range []int{1, 2, 4, 8, 15} {
					line.points = append(line.points, plannedPoint{x: float64(n), set: with(systems3[name], experiment.Knobs{"clients": n}), read: busy3(resource)})
				}
				p.series = append(p.series, line)
			}
			return p
		}}
}

var figures3 = []*definition{
	figure32("3-2a", "Server CPU of key-value stores on RDMA", "cpu", "CPU", func(f *Figure) []Claim {
		return []Claim{f.idle32()}
	}),
	figure32("3-2b", "Server network of key-value stores on RDMA", "link", "Network bandwidth", func(f *Figure) []Claim {
		return []Claim{f.value("f3-2b-srkv-net", "with its CPUs saturated the server-centric store uses 11 % of the bandwidth", serverRKV, clients3, 11)}
	}),
	{id: "3-3a", title: "Peak throughput of key-value stores on RDMA", chapter: 3, section: "3.2", scope: "server", form: formBars,
		x: Axis{Label: "Workload"}, y: Axis{Label: "Throughput", Unit: "Mreq/s"}, claims: claims33a,
		plan: func(scale string) plan {
			return bars3(base3(scale, "ycsb-c"), ofServer, nil, serverRKV, clientRKV, cell, optimal)
		}},
	{id: "3-3b", title: "Median latency of key-value stores on RDMA at low load", chapter: 3, section: "3.2", scope: "server", form: formBars,
		x: Axis{Label: "Workload"}, y: Axis{Label: "Median latency", Unit: "us"}, claims: claims33b,
		plan: func(scale string) plan {
			return bars3(base3(scale, "ycsb-c"), median3, lone3, serverRKV, clientRKV, cell, optimal)
		}},
	figure315("3-15a", "uniform", "uniform"),
	figure315("3-15b", "zipfian", "zipfian"),
	{id: "3-17a", title: "Throughput and latency, YCSB C", chapter: 3, section: "3.7.2", scope: "server", form: formCurves,
		x: Axis{Label: "Throughput", Unit: "Mreq/s"}, y: Axis{Label: "Median latency", Unit: "us"}, plan: plan317a, claims: claims317a},
	figure322("3-22b", "uniform"),
	figure322("3-22c", "zipfian"),
	figure323("3-23a", "Peak throughput by sub-models and data", Axis{Label: "Throughput", Unit: "Mreq/s"}, ofServer, nil, claims323a),
	figure323("3-23b", "Median latency by sub-models and data, low load", Axis{Label: "Median latency", Unit: "us"}, median3, lone3, func(*Figure) []Claim { return nil }),
}

// idle32 is the ordering of Figure 3-2: who saturates the server's CPUs, and who leaves them alone.
func (f *Figure) idle32() Claim {
	c := Claim{ID: "f3-2-order", Claim: "the server-centric store takes all of the server's CPU, the client-direct one none", Status: Holds}
	rpc, direct := f.series(serverRKV), f.series(clientRKV)
	if len(rpc.Points) == 0 || len(direct.Points) == 0 {
		return noRuns(c)
	}
	a, b := rpc.peak(), direct.peak()
	c.Why = fmt.Sprintf("%s %.0f %% at %s, %s %.0f %%", serverRKV, a.Y, f.where(a), clientRKV, b.Y)
	if a.Y < 95 || b.Y > 5 {
		c.Status = Contradicted
	}
	return c
}

func claims33a(f *Figure) []Claim {
	at := func(name string) Point { return f.series(name).Points[0] }
	claims := []Claim{
		f.value("f3-3a-srkv", "the server-centric store reaches about 24 M requests/s", serverRKV, 1, 24),
		f.value("f3-3a-crkv", "the client-direct one without a cache 7 M", clientRKV, 1, 7),
		f.value("f3-3a-cell", "with the upper levels cached 14.5 M", cell, 1, 14.5),
		f.value("f3-3a-optimal", "with the whole index cached 78 M", optimal, 1, 78),
	}
	if slices.ContainsFunc(f.Series, func(s Series) bool { return len(s.Points) == 0 }) {
		return claims
	}
	return append(claims,
		f.quotient("f3-3a-optimal-ratio", "the whole index cached is 3.3 times better than the server-centric store", at(optimal), at(serverRKV), optimal, serverRKV, 3.3),
		f.quotient("f3-3a-slowdown", "traversing the tree by READs is 11 times slower", at(optimal), at(clientRKV), optimal, clientRKV, 11))
}

func claims33b(f *Figure) []Claim {
	return []Claim{f.above("f3-3b-lat", "even with the whole index cached the latency is higher than the server-centric store's", func(float64) bool { return true }, pair{optimal, serverRKV})}
}

// figure315 is a panel of Figure 3-15: the workloads of YCSB under each system.
func figure315(id, title, distribution string) *definition {
	return &definition{id: id, title: "YCSB on key-value stores, " + title, chapter: 3, section: "3.7.2", scope: "server", form: formBars,
		x: Axis{Label: "Workload"}, y: Axis{Label: "Throughput", Unit: "Mreq/s"}, claims: claims315,
		plan: func(scale string) plan {
			p := plan{base: base3(scale, ""), gap: gapPoint{xstore, 3}}
			for _, name := range []string{xstore, optimal, cell, drtmTree, emt, rmc} {
				bars := plannedSeries{name: name}
				for i, letter := range []string{"a", "b", "c", "d", "e", "f"} {
					if letter == "e" && name == rmc { // it has no order to scan
						continue
					}
					k := with(systems3[name], experiment.Knobs{"workload": "ycsb-" + letter, "workload.distribution": distribution})
					if letter == "d" && distribution == "zipfian" {
						k["workload.distribution"] = "latest"
					}
					bars.points = append(bars.points, plannedPoint{x: float64(i + 1), name: string(rune('A' + i)), set: k, read: ofServer})
				}
				p.series = append(p.series, bars)
			}
			return p
		}}
}

func claims315(f *Figure) []Claim {
	all := func(float64) bool { return true }
	return append([]Claim{
		f.above("f3-15-order", "XStore outperforms DrTM-Tree, EMT and Cell on every workload", all, pair{xstore, drtmTree}, pair{xstore, emt}, pair{xstore, cell}),
		f.above("f3-15-c-order", "on the read-only workload it is even a little above a cache of the whole index", func(x float64) bool { return x == 3 }, pair{xstore, optimal}),
	}, f.rows315()...)
}

func plan317a(scale string) plan {
	p := plan{base: base3(scale, "ycsb-c"), gap: gapPoint{xstore, 8}}
	p.base.Set["clients"] = 4 // with one coroutine each they are a low load
	for _, name := range []string{xstore, optimal, cell, drtmTree, emt} {
		line := plannedSeries{name: name}
		for _, n := range []int{1, 2, 4, 8} {
			line.points = append(line.points, plannedPoint{x: float64(n), set: with(systems3[name], experiment.Knobs{"coroutines": n}), read: median3, along: ofServer})
		}
		p.series = append(p.series, line)
	}
	return p
}

func claims317a(f *Figure) []Claim {
	lat, tput := f.latencies(), f.throughputs()
	low, high := func(x float64) bool { return x == 1 }, func(x float64) bool { return x >= 4 }
	return append([]Claim{
		lat.above("f3-17-order", "under a low load server-centric stores have lower latency", low, pair{xstore, drtmTree}),
		tput.above("f3-17a-drtm-order", "and they are saturated by CPUs much earlier", high, pair{xstore, drtmTree}),
		lat.above("f3-17b-order", "walking through a cached tree takes longer than a model", low, pair{optimal, xstore}),
	}, f.rows317()...)
}

// figure322 is throughput against what a client keeps (Figures 3-22b and c).
func figure322(id, distribution string) *definition {
	return &definition{id: id, title: "Throughput by what clients cache, " + distribution, chapter: 3, section: "3.7.7", scope: "server", form: formBars,
		x: Axis{Label: "Cached"}, y: Axis{Label: "Throughput", Unit: "Mreq/s"}, claims: claims322,
		plan: func(scale string) plan {
			p := plan{base: base3(scale, "ycsb-c"), gap: gapPoint{xstore, 3}}
			p.base.Set["workload.distribution"] = distribution
			models := plannedSeries{name: xstore}
			for i, m := range []struct{ mode, name string }{{"top", "top model"}, {"model", "sub-models"}, {"full", "and tables"}} {
				models.points = append(models.points, plannedPoint{x: float64(i + 1), name: m.name, set: experiment.Knobs{"store.ordered": "xstore", "xstore.cache": m.mode}, read: ofServer})
			}
			nodes := plannedSeries{name: "Tree-based cache"}
			for i, m := range []struct{ mode, name string }{{"none", "nothing"}, {"tree4", "upper levels"}, {"tree", "whole index"}} {
				nodes.points = append(nodes.points, plannedPoint{x: float64(i + 4), name: m.name, set: experiment.Knobs{"store.ordered": "xstore", "xstore.cache": m.mode}, read: ofServer})
			}
			p.series = []plannedSeries{models, nodes}
			return p
		}}
}

// claims322 compares what the thesis compares: sub-models alone with the whole index.
func claims322(f *Figure) []Claim {
	models, nodes := f.series(xstore), f.series("Tree-based cache")
	c := Claim{ID: "f3-22-order", Claim: "sub-models alone, a hundredth of the memory, are above the upper levels of the tree", Unit: "x"}
	if len(models.Points) < 2 || len(nodes.Points) < 2 {
		return []Claim{noRuns(c)}
	}
	return append([]Claim{f.gains(c.ID, c.Claim, divide(pair{xstore, "Tree-based cache"}, models.Points[1], nodes.Points[1]))}, f.rows322()...)
}

// sets323 are the data of Table 3-2.
var sets323 = []struct{ name, set string }{{"L", "linear"}, {"NL", "noised"}, {"OSM", "osm"}}

func figure323(id, title string, y Axis, read func(*result.Result) (float64, float64), set experiment.Knobs, claims func(*Figure) []Claim) *definition {
	return &definition{id: id, title: title, chapter: 3, section: "3.7.8", scope: "server",
		x: Axis{Label: "Sub-models", Unit: "per million keys", Log: true}, y: y, claims: claims,
		plan: func(scale string) plan {
			p := plan{base: base3(scale, "ycsb-c"), gap: gapPoint{"L", 5000}}
			if scale == Quick { // sub-models are trained one by one
				p.base.Set["workload.scale"] = 0.01
			}
			for _, s := range sets323 {
				line := plannedSeries{name: s.name}
				for _, n := range []int{1000, 5000, 20_000, 50_000} {
					keys := p.base.Set["workload.scale"].(float64) * 100
					line.points = append(line.points, plannedPoint{x: float64(n), set: with(systems3[xstore], set, experiment.Knobs{"workload.dataset": s.set, "xstore.submodels": int(math.Round(float64(n) * keys)), "xstore.expand_at": 0}), read: read})
				}
				p.series = append(p.series, line)
			}
			return p
		}}
}

func claims323a(f *Figure) []Claim {
	all := func(float64) bool { return true }
	return append([]Claim{f.above("f3-23a-order", "complex data need more sub-models: linear keys are above noised ones, and these above OSM", all, pair{"L", "NL"}, pair{"NL", "OSM"})}, f.rows323()...)
}
