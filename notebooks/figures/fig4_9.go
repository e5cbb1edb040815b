package figures

import "drtmx/engine/experiment"

// Figure 4-9: the designs of Table 4-3 (§4.4.3), each a preset.

const (
	farm  = "FaRM"
	drtmR = "DrTM+R"
	fasst = "FaSST"
	drtmH = "DrTM+H"
)

// designs49 are the lines; DrTM+H is the last, which is compared with paper scale.
var designs49 = []line4{
	{fasst, experiment.Knobs{"preset": "fasst"}}, {farm, experiment.Knobs{"preset": "farm"}},
	{drtmR, experiment.Knobs{"preset": "drtm+r"}}, {drtmH, experiment.Knobs{"preset": "drtm+h"}},
}

var figures49 = panels4("4-9", "Prior designs and DrTM+H", "4.4.3", manyOfDesigns, designs49, func(workload string) func(f *Figure) []Claim {
	if workload == tpccNo {
		return claims49a
	}
	return claims49b
})

func claims49a(f *Figure) []Claim {
	tput, lat := f.throughputs(), f.latencies()
	return f.twice(func(n func(string) string) []Claim {
		sixteen := func(load float64) bool { return load == 16 }
		out := []Claim{}
		for _, d := range []struct{ id, name string }{{"fasst", fasst}, {"drtmr", drtmR}, {"farm", farm}} {
			out = append(out,
				tput.ahead("f4-9a-"+d.id, "DrTM+H has a higher throughput than "+d.name, pair{n(drtmH), n(d.name)}, true, everywhere).in(times),
				lat.ahead("f4-9a-lat-"+d.id, "with 16 coroutines its median latency is lower than that of "+d.name, pair{n(d.name), n(drtmH)}, true, sixteen).in(lessBy))
		}
		return append(out,
			all("f4-9a-order", "FaRM and DrTM+R outperform FaSST",
				tput.tops("", "FaRM", pair{n(farm), n(fasst)}), tput.tops("", "DrTM+R", pair{n(drtmR), n(fasst)})),
			tput.tops("f4-9a-order-drtmr", "DrTM+R outperforms FaRM", pair{n(drtmR), n(farm)}),
			lowest49(lat, "f4-9a-order-lat", "DrTM+H always has the lowest median latency", n))
	})
}

// best49 compares DrTM+H with each prior design under every load.
func best49(v *Figure, id, text string, pairs func(other string) pair) Claim {
	var parts []Claim
	for _, other := range []string{fasst, farm, drtmR} {
		parts = append(parts, v.ahead("", other, pairs(other), true, everywhere))
	}
	return all(id, text, parts...)
}

// lowest49 is best49 of latencies; n names lines.
func lowest49(lat *Figure, id, text string, n func(string) string) Claim {
	return best49(lat, id, text, func(other string) pair { return pair{n(other), n(drtmH)} })
}

func claims49b(f *Figure) []Claim {
	tput, lat := f.throughputs(), f.latencies()
	above := best49(tput, "f4-9b-order", "DrTM+H has the highest throughput", func(other string) pair { return pair{drtmH, other} })
	below := lowest49(lat, "f4-9b-order-lat", "and the lowest median latency", func(line string) string { return line })
	a, b := tput.series(farm), tput.series(fasst)
	if len(a.Points) == 0 || len(b.Points) == 0 {
		return []Claim{above, below}
	}
	return []Claim{above, below, tput.near1("f4-9b-farm", "FaSST is comparable to FaRM", divide(pair{fasst, farm}, b.peak(), a.peak()))}
}
