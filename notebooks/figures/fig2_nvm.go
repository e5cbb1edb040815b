package figures

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
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
	if scale == Paper {
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

func with(sets ...experiment.Knobs) experiment.Knobs {
	out := experiment.Knobs{}
	for _, s := range sets {
		for name, v := range s { // order-free: fills a map
			out[name] = v
		}
	}
	return out
}

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

// payloads23 are those of figures 2-8 to 2-11; the thesis names 16, 256 and 2048.
var payloads23 = []int{16, 64, 256, 1024, 2048}

type nvmLine struct {
	name string
	set  experiment.Knobs
}

// payloadPlan has a line for each kind of memory over the payload.
func payloadPlan(scale string, base experiment.Knobs, read func(*result.Result) (float64, float64), lines ...nvmLine) plan {
	p := plan{base: experiment.Spec{Set: base}, gap: gapPoint{lines[0].name, 16}}
	for _, l := range lines {
		s := plannedSeries{name: l.name}
		for _, n := range payloads23 {
			s.points = append(s.points, plannedPoint{x: float64(n), set: with(l.set, atPayload(scale, n)), read: read})
		}
		p.series = append(p.series, s)
	}
	return p
}

// atPayload is a point: large requests are few and need longer.
func atPayload(scale string, n int) experiment.Knobs {
	k := experiment.Knobs{"workload.payload": n}
	if n >= 1024 && scale == Quick { // some hundred microseconds each, the first ones repeated
		k["warmup_ns"], k["duration_ns"] = 2_000_000, 5_000_000
	}
	return k
}

// panels are a figure's throughput and bandwidth, from the same runs.
func panels(id, title, section string, lines func(scale string) plan, claims func(f *Figure) []Claim) []*definition {
	x := Axis{Label: "Payload", Unit: "bytes", Log: true}
	none := func(*Figure) []Claim { return nil }
	a := &definition{id: id + "a", title: title + ", throughput", chapter: 2, section: section, scope: "socket", x: x,
		y: Axis{Label: "Throughput per socket", Unit: "Mreq/s"}, plan: lines, claims: claims}
	b := &definition{id: id + "b", title: title + ", bandwidth", chapter: 2, section: section, scope: "socket", x: x,
		y: Axis{Label: "Bandwidth per socket", Unit: "Gbps"}, claims: none,
		plan: func(scale string) plan {
			p := lines(scale)
			for i := range p.series {
				for j := range p.series[i].points {
					p.series[i].points[j].read = gbpsPerSocket
				}
			}
			return p
		}}
	return []*definition{a, b}
}

var figures28to11 = append(append(append(
	panels("2-8", "One-sided READ on DRAM and NVM", "2.3.3", func(scale string) plan {
		return payloadPlan(scale, remote(scale, "micro-read", "one-sided"), perSocket, nvmLine{onDRAM, inDRAM}, nvmLine{onNVM, inNVM})
	}, claims28),
	panels("2-9", "Two-sided read on DRAM and NVM", "2.3.3", func(scale string) plan {
		// The server's LLC holds more and more of the NVM, until it is full: so many keys that this is little
		// of them, at both scales.
		copied, full := experiment.Knobs{"workload.copy": "store", "workload.keys": 4_000_000}, experiment.Knobs{"warmup_ns": 12_000_000}
		return payloadPlan(scale, remote(scale, "micro-read", "two-sided"), perSocket, nvmLine{onDRAM, with(inDRAM, copied)}, nvmLine{onNVM, with(inNVM, copied, full)},
			nvmLine{theLimit, with(inDRAM, experiment.Knobs{"workload.copy": "none"})})
	}, claims29)...),
	panels("2-10", "One-sided WRITE on DRAM and NVM", "2.3.3", func(scale string) plan {
		return payloadPlan(scale, remote(scale, "micro-write", "one-sided"), perSocket, nvmLine{onDRAM, inDRAM}, nvmLine{onNVM, plainWrite}, nvmLine{nvmOpt, oneHints})
	}, claims210)...),
	panels("2-11", "Two-sided write on DRAM and NVM", "2.3.3", func(scale string) plan {
		copied := experiment.Knobs{"workload.copy": "store"}
		return payloadPlan(scale, remote(scale, "micro-write", "two-sided"), perSocket, nvmLine{onDRAM, with(inDRAM, copied)}, nvmLine{onNVM, with(plainWrite, copied)},
			nvmLine{nvmOpt, with(twoHints, copied)}, nvmLine{theLimit, with(inDRAM, experiment.Knobs{"workload.copy": "none"})})
	}, claims211)...)

// share is a claim about one line as a share of another at one payload, or of a
// number where below is "".
func (f *Figure) share(id, text string, x float64, above, below string, of, reference float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: "%"}
	a, ok := f.series(above).at(x)
	if !ok {
		return noRuns(c)
	}
	value, half := 100*a.Y/of, 100*a.CI95/of
	why := fmt.Sprintf("%s %.4g %s, %s", above, a.Y, f.Y.Unit, limit(f.Runs[a.Run]))
	if below != "" {
		b, ok := f.series(below).at(x)
		if !ok || b.Y <= 0 {
			return noRuns(c)
		}
		r := divide(pair{above, below}, a, b)
		value, half, why = 100*r.value, 100*r.half, f.because(r)
	}
	c.Measured, c.Why = &value, why
	c.Status = near(value, half, reference)
	return c
}

func claims28(f *Figure) []Claim {
	small := f.share("f2-8-read16-order", "small one-sided READs of NVM are about as fast as of DRAM", 16, onNVM, onDRAM, 0, 100)
	return []Claim{
		f.share("f2-8-read2048-one", "one-sided READs of 2,048 bytes reach 99 % of DRAM's rate", 2048, onNVM, onDRAM, 0, 99), small,
	}
}

func claims29(f *Figure) []Claim {
	return []Claim{
		f.share("f2-9-read2048-two", "two-sided reads of 2,048 bytes reach 90 % of DRAM's rate", 2048, onNVM, onDRAM, 0, 90),
		f.share("f2-9-read16-two", "two-sided reads of 16 bytes reach 59 % of DRAM's rate", 16, onNVM, onDRAM, 0, 59),
	}
}

func claims210(f *Figure) []Claim {
	large := nvmWriteGbps * 1e9 / 8 / 2048 / 1e6 // requests of 2,048 bytes at the NVM's bandwidth
	return []Claim{
		f.value("f2-10-write16-nvm", "16-byte WRITEs to NVM reach 15 M requests/s", onNVM, 16, 15),
		f.share("f2-10-write16-frac", "that is 29 % of what the NVM can take", 16, onNVM, "", nvmWriteMreqs, 29),
		f.share("f2-10-write2048-frac", "2,048-byte WRITEs reach 38 % of the NVM's bandwidth", 2048, onNVM, "", large, 38),
		f.value("f2-10-opt16", "with all hints, 16-byte WRITEs reach 45 M requests/s", nvmOpt, 16, 45),
		f.share("f2-10-opt16-frac", "that is 87 % of what the NVM can take", 16, nvmOpt, "", nvmWriteMreqs, 87),
		f.value("f2-10-dram256", "256-byte WRITEs to DRAM reach 37 M requests/s", onDRAM, 256, 37),
		f.hinted("f2-10-order"),
		f.share("f2-10-opt2048-frac", "with all hints, 2,048-byte WRITEs come close to the NVM's bandwidth", 2048, nvmOpt, "", large, 100),
	}
}

func claims211(f *Figure) []Claim {
	large := nvmWriteGbps * 1e9 / 8 / 2048 / 1e6
	return []Claim{
		f.share("f2-11-write2048-frac", "two-sided writes of 2,048 bytes reach 12.5 % of the NVM's bandwidth", 2048, onNVM, "", large, 12.5),
		f.hinted("f2-11-order"),
		f.share("f2-11-opt2048-frac", "with all hints, they come close to the NVM's bandwidth", 2048, nvmOpt, "", large, 100),
	}
}

// hinted is the order of the lines of figures 2-10 and 2-11 at the payloads that are named.
// How close to its limit the NVM comes with hints are claims of their own.
func (f *Figure) hinted(id string) Claim {
	return f.above(id, "writes to NVM are slower than to DRAM, and hints make them faster", func(x float64) bool { return x == 16 || x == 2048 },
		pair{onDRAM, onNVM}, pair{nvmOpt, onNVM})
}
