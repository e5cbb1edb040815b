package chapter2

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// The figures of §2.3: reads and writes of remote NVM on R74V, six clients and one
// server. The server's two sockets work alike, each with its own RNIC and NVM, and
// the thesis reports one of them: a value here is half of the machine's.

const (
	onDRAM   = "DRAM"
	onNVM    = "NVM"
	nvmOpt   = "NVM-OPT"
	theLimit = "LIMIT"

	// What one socket's NVM can take (§2.3.3): 100 Gbps, or 52 M XLines/s.
	nvmWriteGbps  = 100.0
	nvmWriteMreqs = 52.0
)

// remote is the benchmark of §2.3.3. warm is long enough for the server's cache
// to be full of what the writes left there.
func remote(scale, workload, primitive string) experiment.Knobs {
	k := experiment.Knobs{
		"profile": "r74v", "servers": 1, "clients": 6, "server.threads": 20, "client.threads": 24, "coroutines": 12,
		"workload": workload, "workload.primitive": primitive, "workload.keys": 1_000_000, "check": "off",
		"warmup_ns": 800_000, "duration_ns": 600_000,
	}
	if primitive == "two-sided" { // more than the cores can serve only wait for them
		k["coroutines"], k["opt.micro.db"] = 4, false
	}
	if scale == figure.Paper {
		k["workload.keys"], k["warmup_ns"], k["duration_ns"] = 4_000_000, 4_000_000, 2_000_000
	}
	return k
}

// Knobs of the lines.
var (
	inDRAM     = experiment.Knobs{"nvm.enabled": false}
	inNVM      = experiment.Knobs{"nvm.enabled": true}
	plainWrite = experiment.Knobs{"nvm.enabled": true, "workload.socket": "any"}
	oneHints   = experiment.Knobs{"nvm.enabled": true, "workload.socket": "any", "nvm.h1": true, "nvm.h3": true, "nvm.h5": true, "nvm.h6": true}
	twoHints   = experiment.Knobs{"nvm.enabled": true, "workload.socket": "any", "nvm.h1": true, "nvm.h4": true, "nvm.h5": true, "nvm.h7": true}
)

// perSocket is millions of requests per second and socket of the server.
func perSocket(r *result.Result) (y, ci95 float64) {
	y = r.Throughput / 2 / 1e6
	return y, y * r.ThroughputCI95
}

// gbpsPerSocket is the payload's bandwidth.
func gbpsPerSocket(r *result.Result) (y, ci95 float64) {
	payload, _ := r.Spec["workload.payload"].(int)
	y = r.Throughput / 2 * float64(payload) * 8 / 1e9
	return y, y * r.ThroughputCI95
}

// nvmPayloads are those of figures 2-8 to 2-11; the thesis names 16, 256 and 2048.
var nvmPayloads = []int{16, 64, 256, 1024, 2048}

// payloadPlan has a line for each kind of memory over the payload.
func payloadPlan(scale string, base experiment.Knobs, read func(*result.Result) (float64, float64), lines ...figure.Setting) figure.Plan {
	p := figure.Plan{Base: experiment.Spec{Set: base}, Gap: figure.GapPoint{Series: lines[0].Name, X: 16}}
	for _, l := range lines {
		s := figure.PlannedSeries{Name: l.Name}
		for _, n := range nvmPayloads {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(l.Set, atPayload(scale, n)), Read: read})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// atPayload is a point: large requests are few and need longer.
func atPayload(scale string, n int) experiment.Knobs {
	k := experiment.Knobs{"workload.payload": n}
	if n >= 1024 && scale == figure.Quick { // some hundred microseconds each, the first ones repeated
		k["warmup_ns"], k["duration_ns"] = 2_000_000, 5_000_000
	}
	return k
}

// panels are a figure's throughput and bandwidth, from the same runs.
func panels(id, title, section string, lines func(scale string) figure.Plan, claims func(f *figure.Figure) []figure.Claim) []*figure.Definition {
	x := figure.Axis{Label: "Payload", Unit: "bytes", Log: true}
	none := func(*figure.Figure) []figure.Claim { return nil }
	a := &figure.Definition{ID: id + "a", Title: title + ", throughput", Chapter: 2, Section: section, Scope: "socket", X: x,
		Y: figure.Axis{Label: "Throughput per socket", Unit: "Mreq/s"}, Plan: lines, Claims: claims}
	b := &figure.Definition{ID: id + "b", Title: title + ", bandwidth", Chapter: 2, Section: section, Scope: "socket", X: x,
		Y: figure.Axis{Label: "Bandwidth per socket", Unit: "Gbps"}, Claims: none,
		Plan: func(scale string) figure.Plan {
			p := lines(scale)
			for i := range p.Series {
				for j := range p.Series[i].Points {
					p.Series[i].Points[j].Read = gbpsPerSocket
				}
			}
			return p
		}}
	return []*figure.Definition{a, b}
}

var nvmFigures = append(append(append(
	panels("2-8", "One-sided READ on DRAM and NVM", "2.3.3", func(scale string) figure.Plan {
		return payloadPlan(scale, remote(scale, "micro-read", "one-sided"), perSocket, figure.Setting{Name: onDRAM, Set: inDRAM}, figure.Setting{Name: onNVM, Set: inNVM})
	}, claimsReadNVM),
	panels("2-9", "Two-sided read on DRAM and NVM", "2.3.3", func(scale string) figure.Plan {
		// The server's LLC holds more and more of the NVM, until it is full: so many keys that this is little
		// of them, at both scales.
		copied, full := experiment.Knobs{"workload.copy": "store", "workload.keys": 4_000_000}, experiment.Knobs{"warmup_ns": 12_000_000}
		return payloadPlan(scale, remote(scale, "micro-read", "two-sided"), perSocket, figure.Setting{Name: onDRAM, Set: figure.With(inDRAM, copied)}, figure.Setting{Name: onNVM, Set: figure.With(inNVM, copied, full)},
			figure.Setting{Name: theLimit, Set: figure.With(inDRAM, experiment.Knobs{"workload.copy": "none"})})
	}, claimsTwoSidedReadNVM)...),
	panels("2-10", "One-sided WRITE on DRAM and NVM", "2.3.3", func(scale string) figure.Plan {
		return payloadPlan(scale, remote(scale, "micro-write", "one-sided"), perSocket, figure.Setting{Name: onDRAM, Set: inDRAM}, figure.Setting{Name: onNVM, Set: plainWrite}, figure.Setting{Name: nvmOpt, Set: oneHints})
	}, claimsWriteNVM)...),
	panels("2-11", "Two-sided write on DRAM and NVM", "2.3.3", func(scale string) figure.Plan {
		copied := experiment.Knobs{"workload.copy": "store"}
		return payloadPlan(scale, remote(scale, "micro-write", "two-sided"), perSocket, figure.Setting{Name: onDRAM, Set: figure.With(inDRAM, copied)}, figure.Setting{Name: onNVM, Set: figure.With(plainWrite, copied)},
			figure.Setting{Name: nvmOpt, Set: figure.With(twoHints, copied)}, figure.Setting{Name: theLimit, Set: figure.With(inDRAM, experiment.Knobs{"workload.copy": "none"})})
	}, claimsTwoSidedWriteNVM)...)

// share is a claim about one line as a share of another at one payload, or of a
// number where below is "".
func share(f *figure.Figure, id, text string, x float64, above, below string, of, reference float64) figure.Claim {
	c := figure.Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: "%"}
	a, ok := f.Line(above).At(x)
	if !ok {
		return figure.NoRuns(c)
	}
	value, half := 100*a.Y/of, 100*a.CI95/of
	why := fmt.Sprintf("%s %.4g %s, %s", above, a.Y, f.Y.Unit, figure.LimitOf(f.Runs[a.Run]))
	if below != "" {
		b, ok := f.Line(below).At(x)
		if !ok || b.Y <= 0 {
			return figure.NoRuns(c)
		}
		r := figure.Divide(figure.Pair{Above: above, Below: below}, a, b)
		value, half, why = 100*r.Value, 100*r.Half, f.Because(r)
	}
	c.Measured, c.Why = &value, why
	c.Status = figure.Near(value, half, reference)
	return c
}

func claimsReadNVM(f *figure.Figure) []figure.Claim {
	small := share(f, "f2-8-read16-order", "small one-sided READs of NVM are about as fast as of DRAM", 16, onNVM, onDRAM, 0, 100)
	return []figure.Claim{
		share(f, "f2-8-read2048-one", "one-sided READs of 2,048 bytes reach 99 % of DRAM's rate", 2048, onNVM, onDRAM, 0, 99), small,
	}
}

func claimsTwoSidedReadNVM(f *figure.Figure) []figure.Claim {
	return []figure.Claim{
		share(f, "f2-9-read2048-two", "two-sided reads of 2,048 bytes reach 90 % of DRAM's rate", 2048, onNVM, onDRAM, 0, 90),
		share(f, "f2-9-read16-two", "two-sided reads of 16 bytes reach 59 % of DRAM's rate", 16, onNVM, onDRAM, 0, 59),
	}
}

func claimsWriteNVM(f *figure.Figure) []figure.Claim {
	large := nvmWriteGbps * 1e9 / 8 / 2048 / 1e6 // requests of 2,048 bytes at the NVM's bandwidth
	return []figure.Claim{
		f.Value("f2-10-write16-nvm", "16-byte WRITEs to NVM reach 15 M requests/s", onNVM, 16, 15),
		share(f, "f2-10-write16-frac", "that is 29 % of what the NVM can take", 16, onNVM, "", nvmWriteMreqs, 29),
		share(f, "f2-10-write2048-frac", "2,048-byte WRITEs reach 38 % of the NVM's bandwidth", 2048, onNVM, "", large, 38),
		f.Value("f2-10-opt16", "with all hints, 16-byte WRITEs reach 45 M requests/s", nvmOpt, 16, 45),
		share(f, "f2-10-opt16-frac", "that is 87 % of what the NVM can take", 16, nvmOpt, "", nvmWriteMreqs, 87),
		f.Value("f2-10-dram256", "256-byte WRITEs to DRAM reach 37 M requests/s", onDRAM, 256, 37),
		hinted(f, "f2-10-order"),
		share(f, "f2-10-opt2048-frac", "with all hints, 2,048-byte WRITEs come close to the NVM's bandwidth", 2048, nvmOpt, "", large, 100),
	}
}

func claimsTwoSidedWriteNVM(f *figure.Figure) []figure.Claim {
	large := nvmWriteGbps * 1e9 / 8 / 2048 / 1e6
	return []figure.Claim{
		share(f, "f2-11-write2048-frac", "two-sided writes of 2,048 bytes reach 12.5 % of the NVM's bandwidth", 2048, onNVM, "", large, 12.5),
		hinted(f, "f2-11-order"),
		share(f, "f2-11-opt2048-frac", "with all hints, they come close to the NVM's bandwidth", 2048, nvmOpt, "", large, 100),
	}
}

// hinted is the order of the lines of figures 2-10 and 2-11 at the payloads that are named.
// How close to its limit the NVM comes with hints are claims of their own.
func hinted(f *figure.Figure, id string) figure.Claim {
	return f.Above(id, "writes to NVM are slower than to DRAM, and hints make them faster", func(x float64) bool { return x == 16 || x == 2048 },
		figure.Pair{Above: onDRAM, Below: onNVM}, figure.Pair{Above: nvmOpt, Below: onNVM})
}
