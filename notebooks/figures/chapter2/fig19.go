package chapter2

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figure 2-19: Octopus's data I/O (§2.3.5.3). Six clients write to random places of
// one server's files; the thesis names neither payloads nor how many write at once.
// One line is ours: hint H3 alone, for the thesis says that it is what counts.

const (
	octopusDRAM      = "DRAM"
	octopusNVM       = "+NVM"
	octopusOpt       = "+OPT(H1-H8)"
	octopusPersist   = "+Persist"
	octopusFlushless = "+OPT(H9)"
	octopusOneHint   = "+NVM, H3 alone"
)

// octopusLines are the configurations, each on top of the one before.
func octopusLines() []figure.Setting {
	opt := figure.With(inNVM, experiment.Knobs{"nvm.h1": true, "nvm.h2": true, "nvm.h3": true, "nvm.h4": true, "nvm.h5": true, "nvm.h6": true, "nvm.h7": true, "nvm.h8": true})
	persist := figure.With(opt, experiment.Knobs{"nvm.persist": true})
	return []figure.Setting{{Name: octopusDRAM, Set: inDRAM}, {Name: octopusNVM, Set: inNVM}, {Name: octopusOpt, Set: opt}, {Name: octopusPersist, Set: persist},
		{Name: octopusFlushless, Set: figure.With(persist, experiment.Knobs{"nvm.h9": true})}}
}

// octopusLoad is a payload with the coroutines of each thread that write it at once:
// as few as keep the NVM busy, for the rest only waits in the network.
type octopusLoad struct{ payload, coroutines int }

func planOctopus(scale string, read func(r *result.Result) (float64, float64)) figure.Plan {
	base := experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 6, "server.threads": 20, "client.threads": 12,
		"workload": "octopus", "workload.files": 512, "check": "off", "warmup_ns": 300_000, "duration_ns": 800_000}
	loads := []octopusLoad{{256, 8}, {1024, 8}, {4096, 4}, {16 << 10, 2}}
	if scale == figure.Paper {
		base["workload.files"], base["warmup_ns"], base["duration_ns"] = 1024, 2_000_000, 2_000_000
		loads = []octopusLoad{{256, 8}, {512, 8}, {1024, 8}, {2048, 8}, {4096, 4}, {8192, 4}, {16 << 10, 2}, {32 << 10, 2}, {64 << 10, 1}, {256 << 10, 1}}
	}
	p := figure.Plan{Base: experiment.Spec{Set: base}, Gap: figure.GapPoint{Series: octopusNVM, X: 4096}}
	add := func(l figure.Setting, loads ...octopusLoad) {
		s := figure.PlannedSeries{Name: l.Name}
		for _, x := range loads {
			k := experiment.Knobs{"workload.payload": x.payload, "coroutines": x.coroutines}
			if x.payload >= 4096 && scale == figure.Quick { // large writes are few
				k["duration_ns"] = 3_000_000
			}
			if l.Name == octopusNVM && scale == figure.Quick { // DDIO's part of the cache has to fill
				k["warmup_ns"] = 1_500_000
			}
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(x.payload), Set: figure.With(l.Set, k), Read: read})
		}
		p.Series = append(p.Series, s)
	}
	for _, l := range octopusLines() {
		add(l, loads...)
	}
	add(figure.Setting{Name: octopusOneHint, Set: figure.With(inNVM, experiment.Knobs{"nvm.h3": true})}, loads...)
	return p
}

// perServer is millions of writes per second.
func perServer(r *result.Result) (y, ci95 float64) {
	y, ci95 = perSocket(r)
	return 2 * y, 2 * ci95
}

func octopusPanel(id, title string, y figure.Axis, read func(r *result.Result) (float64, float64), claims func(f *figure.Figure) []figure.Claim) *figure.Definition {
	return &figure.Definition{ID: id, Title: title, Chapter: 2, Section: "2.3.5.3", Scope: "server",
		X: figure.Axis{Label: "Payload", Unit: "bytes", Log: true}, Y: y, Claims: claims,
		Plan: func(scale string) figure.Plan { return planOctopus(scale, read) }}
}

var octopus = []*figure.Definition{
	octopusPanel("2-19a", "Octopus data I/O, throughput", figure.Axis{Label: "Throughput", Unit: "Mop/s", Log: true}, perServer, claimsOctopus),
	octopusPanel("2-19b", "Octopus data I/O, bandwidth", figure.Axis{Label: "Bandwidth", Unit: "Gbps"}, gbps, func(*figure.Figure) []figure.Claim { return nil }),
}

func claimsOctopus(f *figure.Figure) []figure.Claim {
	everywhere := func(float64) bool { return true }
	return []figure.Claim{
		f.Between("f2-19-opt", "hints H1 to H8 improve the throughput by 1.2x to 2.4x", octopusOpt, octopusNVM, everywhere, 1.2, 2.4),
		f.Between("f2-19-h9", "H9 improves durable writes by 1.02x to 1.06x", octopusFlushless, octopusPersist, everywhere, 1.02, 1.06),
		mainlyOneHint(f),
	}
}

// mainlyOneHint compares what H3 brings alone with what the others bring on top of it,
// where all of them bring most.
func mainlyOneHint(f *figure.Figure) figure.Claim {
	c := figure.Claim{ID: "f2-19-order", Claim: "most of what H1 to H8 bring is H3's", Unit: "x"}
	whole := f.Ratios(figure.Pair{Above: octopusOpt, Below: octopusNVM}, func(float64) bool { return true })
	if len(whole) == 0 {
		return figure.NoRuns(c)
	}
	most, _ := figure.Extremes(whole)
	there := func(x float64) bool { return x == most.X }
	alone, rest := f.Ratios(figure.Pair{Above: octopusOneHint, Below: octopusNVM}, there), f.Ratios(figure.Pair{Above: octopusOpt, Below: octopusOneHint}, there)
	if len(alone) == 0 || len(rest) == 0 {
		return figure.NoRuns(c)
	}
	a, b := alone[0], rest[0]
	more, half := a.Over(b)
	c.Measured, c.Status = &more, figure.ExceedsOne(more, half)
	c.Why = fmt.Sprintf("alone %s; the others on top %.3gx ± %.2g", f.Because(a), b.Value, b.Half)
	return c
}
