package chapter2

import (
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
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

func planBulk(scale string, read func(r *result.Result) (float64, float64)) figure.Plan {
	base := figure.With(remote(scale, "micro-write", "one-sided"), experiment.Knobs{"workload.socket": "own", "workload.pattern": "sequential", "clients": 1, "client.threads": 8, "coroutines": 4})
	bytes := 1 << 30 // as many places as are in this
	if scale == figure.Quick {
		bytes = 1 << 28
		base["warmup_ns"], base["duration_ns"] = 2_000_000, 600_000
	}
	p := figure.Plan{Base: experiment.Spec{Set: base}, Gap: figure.GapPoint{Series: ddioOn, X: 64 << 10}}
	for _, l := range []figure.Setting{{Name: ddioOn, Set: figure.With(inNVM, experiment.Knobs{"ddio": true})}, {Name: ddioOff, Set: figure.With(inNVM, experiment.Knobs{"ddio": false})}} {
		s := figure.PlannedSeries{Name: l.Name}
		for _, n := range bulk {
			k := experiment.Knobs{"workload.payload": n, "workload.keys": bytes / n}
			if n > 4096 && scale == figure.Quick { // large writes are few
				k["duration_ns"] = 4_000_000
			}
			if n >= 1024 && n <= 4096 && scale == figure.Quick { // the LLC writes back in bursts
				k["warmup_ns"], k["duration_ns"] = 8_000_000, 12_000_000
			}
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(l.Set, k), Read: read})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func amplification(r *result.Result) (y, ci95 float64) {
	if r.NVM == nil {
		return 0, 0
	}
	return r.NVM.WriteAmplification, 0
}

var bulkWrites = []*figure.Definition{
	{ID: "2-16a", Title: "DDIO and bulk writes to NVM", Chapter: 2, Section: "2.3.4.1", Scope: "socket",
		X: figure.Axis{Label: "Payload", Unit: "bytes", Log: true}, Y: figure.Axis{Label: "Bandwidth per socket", Unit: "Gbps"},
		Plan: func(scale string) figure.Plan { return planBulk(scale, gbpsPerSocket) },
		Claims: func(f *figure.Figure) []figure.Claim {
			return []figure.Claim{
				f.Value("f2-16a-ddio-on", "with DDIO bulk writes reach 42 Gbps", ddioOn, largeBytes, 42),
				f.Value("f2-16a-ddio-off", "without DDIO they come close to the NVM's 100 Gbps", ddioOff, largeBytes, nvmWriteGbps),
				ddioHalves(f),
			}
		}},
	{ID: "2-16b", Title: "Write amplification with DDIO", Chapter: 2, Section: "2.3.4.1", Scope: "socket",
		X: figure.Axis{Label: "Payload", Unit: "bytes", Log: true}, Y: figure.Axis{Label: "Write amplification", Unit: "x"},
		Plan: func(scale string) figure.Plan { return planBulk(scale, amplification) },
		Claims: func(f *figure.Figure) []figure.Claim {
			return []figure.Claim{f.Value("f2-16b-amp", "DDIO doubles what the media write", ddioOn, largeBytes, 2)}
		}},
}

// ddioHalves is the payload from which on DDIO leaves half of the bandwidth, within
// the tolerance, or less.
func ddioHalves(f *figure.Figure) figure.Claim {
	c := figure.Claim{ID: "f2-16-threshold", Claim: "DDIO halves the bandwidth of payloads of more than 64 KB", Reference: "65536", Unit: "bytes"}
	rs := f.Ratios(figure.Pair{Above: ddioOn, Below: ddioOff}, func(float64) bool { return true })
	if len(rs) == 0 {
		return figure.NoRuns(c)
	}
	from := func(sign float64) int { // the first point of those that are halved, at one end of the intervals
		k := len(rs)
		for k > 0 && rs[k-1].Value+sign*rs[k-1].Half <= (1+figure.Tolerance)/2 {
			k--
		}
		return k
	}
	late := func(k int) bool { return k == len(rs) || rs[k].X > 64<<10 } // the thesis names 64 KB as an example
	c.Status = figure.Holds
	switch {
	case late(from(-1)):
		c.Status = figure.Contradicted
	case late(from(1)):
		c.Status = figure.Undecided
	}
	k := from(0)
	thesis := "; the thesis says from " + f.X.At(64<<10) + " on"
	if k == len(rs) {
		c.Says, c.Why = "never halves, up to "+f.X.At(rs[k-1].X)+thesis, f.Because(rs[k-1])
		return c
	}
	c.Measured, c.Says = &rs[k].X, "halves from "+f.X.At(rs[k].X)+" on"+thesis
	c.Why = f.Because(rs[k])
	return c
}
