package figures

import (
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figure 2-16: DDIO and bulk writes of one client (§2.3.4.1). Each thread writes
// from place to place in order, so that what reaches the NVM is in order until the
// cache comes between.

// bulk goes to payloads that the thesis calls large, "more than 64 KB".
var bulk = []int{256, 1024, 4096, 16 << 10, 64 << 10, 128 << 10, 256 << 10}

const (
	ddioOn  = "DDIO on"
	ddioOff = "DDIO off"

	largeBytes = 128 << 10
)

func plan216(scale string, read func(r *result.Result) (float64, float64)) plan {
	base := with(remote(scale, "micro-write", "one-sided"), experiment.Knobs{"workload.socket": "own", "workload.pattern": "sequential", "clients": 1, "client.threads": 8, "coroutines": 4})
	bytes := 1 << 30 // as many places as are in this
	if scale == Quick {
		bytes = 1 << 28
		base["warmup_ns"], base["duration_ns"] = 2_000_000, 600_000
	}
	p := plan{base: experiment.Spec{Set: base}, gap: gapPoint{ddioOn, 64 << 10}}
	for _, l := range []nvmLine{{ddioOn, with(inNVM, experiment.Knobs{"ddio": true})}, {ddioOff, with(inNVM, experiment.Knobs{"ddio": false})}} {
		s := plannedSeries{name: l.name}
		for _, n := range bulk {
			k := experiment.Knobs{"workload.payload": n, "workload.keys": bytes / n}
			if n > 4096 && scale == Quick { // large writes are few
				k["duration_ns"] = 4_000_000
			}
			if n >= 1024 && n <= 4096 && scale == Quick { // the LLC writes back in bursts
				k["warmup_ns"], k["duration_ns"] = 8_000_000, 12_000_000
			}
			s.points = append(s.points, plannedPoint{x: float64(n), set: with(l.set, k), read: read})
		}
		p.series = append(p.series, s)
	}
	return p
}

func amplification(r *result.Result) (y, ci95 float64) {
	if r.NVM == nil {
		return 0, 0
	}
	return r.NVM.WriteAmplification, 0
}

var figures216 = []*definition{
	{id: "2-16a", title: "DDIO and bulk writes to NVM", chapter: 2, section: "2.3.4.1", scope: "socket",
		x: Axis{Label: "Payload", Unit: "bytes", Log: true}, y: Axis{Label: "Bandwidth per socket", Unit: "Gbps"},
		plan: func(scale string) plan { return plan216(scale, gbpsPerSocket) },
		claims: func(f *Figure) []Claim {
			return []Claim{
				f.value("f2-16a-ddio-on", "with DDIO bulk writes reach 42 Gbps", ddioOn, largeBytes, 42),
				f.value("f2-16a-ddio-off", "without DDIO they come close to the NVM's 100 Gbps", ddioOff, largeBytes, nvmWriteGbps),
				f.halved216(),
			}
		}},
	{id: "2-16b", title: "Write amplification with DDIO", chapter: 2, section: "2.3.4.1", scope: "socket",
		x: Axis{Label: "Payload", Unit: "bytes", Log: true}, y: Axis{Label: "Write amplification", Unit: "x"},
		plan: func(scale string) plan { return plan216(scale, amplification) },
		claims: func(f *Figure) []Claim {
			return []Claim{f.value("f2-16b-amp", "DDIO doubles what the media write", ddioOn, largeBytes, 2)}
		}},
}

// halved216 is the payload from which on DDIO leaves half of the bandwidth, within
// the tolerance, or less.
func (f *Figure) halved216() Claim {
	c := Claim{ID: "f2-16-threshold", Claim: "DDIO halves the bandwidth of payloads of more than 64 KB", Reference: "65536", Unit: "bytes"}
	rs := f.ratios(pair{ddioOn, ddioOff}, func(float64) bool { return true })
	if len(rs) == 0 {
		return noRuns(c)
	}
	from := func(sign float64) int { // the first point of those that are halved, at one end of the intervals
		k := len(rs)
		for k > 0 && rs[k-1].value+sign*rs[k-1].half <= (1+tolerance)/2 {
			k--
		}
		return k
	}
	late := func(k int) bool { return k == len(rs) || rs[k].x > 64<<10 } // the thesis names 64 KB as an example
	c.Status = Holds
	switch {
	case late(from(-1)):
		c.Status = Contradicted
	case late(from(1)):
		c.Status = Undecided
	}
	k := from(0)
	thesis := "; the thesis says from " + f.X.at(64<<10) + " on"
	if k == len(rs) {
		c.Says, c.Why = "never halves, up to "+f.X.at(rs[k-1].x)+thesis, f.because(rs[k-1])
		return c
	}
	c.Measured, c.Says = &rs[k].x, "halves from "+f.X.at(rs[k].x)+" on"+thesis
	c.Why = f.because(rs[k])
	return c
}
