package figures

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figure 2-19: Octopus's data I/O (§2.3.5.3). Six clients write to random places of
// one server's files; the thesis names neither payloads nor how many write at once.
// One line is ours: hint H3 alone, for the thesis says that it is what counts.

const (
	octopusDRAM    = "DRAM"
	octopusNVM     = "+NVM"
	octopusOpt     = "+OPT(H1-H8)"
	octopusPersist = "+Persist"
	octopusH9      = "+OPT(H9)"
	octopusOnlyH3  = "+NVM, H3 alone"
)

// lines219 are the configurations, each on top of the one before.
func lines219() []nvmLine {
	opt := with(inNVM, experiment.Knobs{"nvm.h1": true, "nvm.h2": true, "nvm.h3": true, "nvm.h4": true, "nvm.h5": true, "nvm.h6": true, "nvm.h7": true, "nvm.h8": true})
	persist := with(opt, experiment.Knobs{"nvm.persist": true})
	return []nvmLine{{octopusDRAM, inDRAM}, {octopusNVM, inNVM}, {octopusOpt, opt}, {octopusPersist, persist},
		{octopusH9, with(persist, experiment.Knobs{"nvm.h9": true})}}
}

// load219 is a payload with the coroutines of each thread that write it at once:
// as few as keep the NVM busy, for the rest only waits in the network.
type load219 struct{ payload, coroutines int }

func plan219(scale string, read func(r *result.Result) (float64, float64)) plan {
	base := experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 6, "server.threads": 20, "client.threads": 12,
		"workload": "octopus", "workload.files": 512, "check": "off", "warmup_ns": 300_000, "duration_ns": 800_000}
	loads := []load219{{256, 8}, {1024, 8}, {4096, 4}, {16 << 10, 2}}
	if scale == Paper {
		base["workload.files"], base["warmup_ns"], base["duration_ns"] = 1024, 2_000_000, 2_000_000
		loads = []load219{{256, 8}, {512, 8}, {1024, 8}, {2048, 8}, {4096, 4}, {8192, 4}, {16 << 10, 2}, {32 << 10, 2}, {64 << 10, 1}, {256 << 10, 1}}
	}
	p := plan{base: experiment.Spec{Set: base}, gap: gapPoint{octopusNVM, 4096}}
	add := func(l nvmLine, loads ...load219) {
		s := plannedSeries{name: l.name}
		for _, x := range loads {
			k := experiment.Knobs{"workload.payload": x.payload, "coroutines": x.coroutines}
			if x.payload >= 4096 && scale == Quick { // large writes are few
				k["duration_ns"] = 3_000_000
			}
			if l.name == octopusNVM && scale == Quick { // DDIO's part of the cache has to fill
				k["warmup_ns"] = 1_500_000
			}
			s.points = append(s.points, plannedPoint{x: float64(x.payload), set: with(l.set, k), read: read})
		}
		p.series = append(p.series, s)
	}
	for _, l := range lines219() {
		add(l, loads...)
	}
	add(nvmLine{octopusOnlyH3, with(inNVM, experiment.Knobs{"nvm.h3": true})}, loads...)
	return p
}

// perServer is millions of writes per second.
func perServer(r *result.Result) (y, ci95 float64) {
	y, ci95 = perSocket(r)
	return 2 * y, 2 * ci95
}

func octopus219(id, title string, y Axis, read func(r *result.Result) (float64, float64), claims func(f *Figure) []Claim) *definition {
	return &definition{id: id, title: title, chapter: 2, section: "2.3.5.3", scope: "server",
		x: Axis{Label: "Payload", Unit: "bytes", Log: true}, y: y, claims: claims,
		plan: func(scale string) plan { return plan219(scale, read) }}
}

var figures219 = []*definition{
	octopus219("2-19a", "Octopus data I/O, throughput", Axis{Label: "Throughput", Unit: "Mop/s", Log: true}, perServer, claims219),
	octopus219("2-19b", "Octopus data I/O, bandwidth", Axis{Label: "Bandwidth", Unit: "Gbps"}, gbps, func(*Figure) []Claim { return nil }),
}

func claims219(f *Figure) []Claim {
	everywhere := func(float64) bool { return true }
	return []Claim{
		f.between("f2-19-opt", "hints H1 to H8 improve the throughput by 1.2x to 2.4x", octopusOpt, octopusNVM, everywhere, 1.2, 2.4),
		f.between("f2-19-h9", "H9 improves durable writes by 1.02x to 1.06x", octopusH9, octopusPersist, everywhere, 1.02, 1.06),
		f.mainly219(),
	}
}

// mainly219 compares what H3 brings alone with what the others bring on top of it,
// where all of them bring most.
func (f *Figure) mainly219() Claim {
	c := Claim{ID: "f2-19-order", Claim: "most of what H1 to H8 bring is H3's", Unit: "x"}
	whole := f.ratios(pair{octopusOpt, octopusNVM}, func(float64) bool { return true })
	if len(whole) == 0 {
		return noRuns(c)
	}
	most, _ := extremes(whole)
	there := func(x float64) bool { return x == most.x }
	alone, rest := f.ratios(pair{octopusOnlyH3, octopusNVM}, there), f.ratios(pair{octopusOpt, octopusOnlyH3}, there)
	if len(alone) == 0 || len(rest) == 0 {
		return noRuns(c)
	}
	a, b := alone[0], rest[0]
	more, half := a.over(b)
	c.Measured, c.Status = &more, exceedsOne(more, half)
	c.Why = fmt.Sprintf("alone %s; the others on top %.3gx ± %.2g", f.because(a), b.value, b.half)
	return c
}
