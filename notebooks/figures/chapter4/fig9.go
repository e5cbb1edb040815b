package chapter4

import (
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// Figure 4-9: the designs of Table 4-3 (§4.4.3), each a preset.

const (
	farm  = "FaRM"
	drtmR = "DrTM+R"
	fasst = "FaSST"
	drtmH = "DrTM+H"
)

// designs are the lines; DrTM+H is the last, which is compared with paper scale.
var designs = []figure.Setting{
	{Name: fasst, Set: experiment.Knobs{"preset": "fasst"}}, {Name: farm, Set: experiment.Knobs{"preset": "farm"}},
	{Name: drtmR, Set: experiment.Knobs{"preset": "drtm+r"}}, {Name: drtmH, Set: experiment.Knobs{"preset": "drtm+h"}},
}

var designFigures = curvePanels("4-9", "Prior designs and DrTM+H", "4.4.3", manyOfDesigns, designs, func(workload string) func(f *figure.Figure) []figure.Claim {
	if workload == tpccNo {
		return designClaims
	}
	return designClaimsSmallBank
})

func designClaims(f *figure.Figure) []figure.Claim {
	tput, lat := f.Throughputs(), f.Latencies()
	return f.Twice(func(n func(string) string) []figure.Claim {
		sixteen := func(load float64) bool { return load == 16 }
		out := []figure.Claim{}
		for _, d := range []struct{ id, name string }{{"fasst", fasst}, {"drtmr", drtmR}, {"farm", farm}} {
			out = append(out,
				tput.Ahead("f4-9a-"+d.id, "DrTM+H has a higher throughput than "+d.name, figure.Pair{Above: n(drtmH), Below: n(d.name)}, true, figure.Everywhere).As(figure.Times),
				lat.Ahead("f4-9a-lat-"+d.id, "with 16 coroutines its median latency is lower than that of "+d.name, figure.Pair{Above: n(d.name), Below: n(drtmH)}, true, sixteen).As(figure.LessBy))
		}
		return append(out,
			figure.AllOf("f4-9a-order", "FaRM and DrTM+R outperform FaSST",
				tput.Tops("", "FaRM", figure.Pair{Above: n(farm), Below: n(fasst)}), tput.Tops("", "DrTM+R", figure.Pair{Above: n(drtmR), Below: n(fasst)})),
			tput.Tops("f4-9a-order-drtmr", "DrTM+R outperforms FaRM", figure.Pair{Above: n(drtmR), Below: n(farm)}),
			lowestLatency(lat, "f4-9a-order-lat", "DrTM+H always has the lowest median latency", n))
	})
}

// bestDesign compares DrTM+H with each prior design under every load.
func bestDesign(v *figure.Figure, id, text string, pairs func(other string) figure.Pair) figure.Claim {
	var parts []figure.Claim
	for _, other := range []string{fasst, farm, drtmR} {
		parts = append(parts, v.Ahead("", other, pairs(other), true, figure.Everywhere))
	}
	return figure.AllOf(id, text, parts...)
}

// lowestLatency is bestDesign of latencies; n names lines.
func lowestLatency(lat *figure.Figure, id, text string, n func(string) string) figure.Claim {
	return bestDesign(lat, id, text, func(other string) figure.Pair { return figure.Pair{Above: n(other), Below: n(drtmH)} })
}

func designClaimsSmallBank(f *figure.Figure) []figure.Claim {
	tput, lat := f.Throughputs(), f.Latencies()
	above := bestDesign(tput, "f4-9b-order", "DrTM+H has the highest throughput", func(other string) figure.Pair { return figure.Pair{Above: drtmH, Below: other} })
	below := lowestLatency(lat, "f4-9b-order-lat", "and the lowest median latency", func(line string) string { return line })
	a, b := tput.Line(farm), tput.Line(fasst)
	if len(a.Points) == 0 || len(b.Points) == 0 {
		return []figure.Claim{above, below}
	}
	return []figure.Claim{above, below, asGood(tput, "f4-9b-farm", "FaSST is comparable to FaRM", figure.Divide(figure.Pair{Above: fasst, Below: farm}, b.Peak(), a.Peak()))}
}
