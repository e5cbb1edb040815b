package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/sim/cputime"
)

// measurement is one system that runs for some virtual time.
type measurement struct {
	name   string
	spec   experiment.Spec
	warmNS int64 // caches, and the host's pages, are filled by then
	spanNS int64
	what   string // of the row

	// What is run if it is no system.
	instead func() (map[string]float64, error)

	// Instead of its rate the table has how many times the CPU time of another
	// measurement a request takes.
	against string
	ratio   string // what that is: the end of the row
	atMost  float64

	// Of a large system that takes long, and is measured once, the table has the
	// largest resident memory, and the seconds that all of it took.
	once        bool
	memoryBelow float64 // bytes
}

// measurements are the systems of the requirements: 16 machines of 24 threads.
// SmallBank has a hundredth of the thesis's accounts.
var measurements = []measurement{
	{name: "bare", what: "READ without hardware: six events, a wait and a copy", instead: runBare},
	smallbank("full"),
	writes("DRAM", "", 0, experiment.Knobs{"nvm.enabled": false}),
	writes("NVM", "DRAM", 1.6, experiment.Knobs{}),
	writes("NVM, DDIO off", "DRAM", 1.6, experiment.Knobs{"ddio": false}),
	nodes(4),
	nodes(64),
	{
		name: "warehouses", what: "TPC-C new-order, DrTM+H, 16 x 24 x 16, 384 warehouses of full size",
		spec: experiment.Spec{Preset: "drtm+h", Workload: "tpcc-no", Set: experiment.Knobs{
			"nodes": 16, "threads": 24, "coroutines": 16, "check": "sampled",
		}},
		warmNS: 1_000_000, spanNS: 1_000_000, once: true, memoryBelow: 12e9,
	},
}

// nodes is SmallBank on so many machines of 24 threads: a simulator that looks at
// all of them for each event takes more time for a transaction the more they are.
func nodes(n int) measurement {
	m := smallbank("sampled")
	m.name, m.once = fmt.Sprintf("smallbank-%d", n), true
	m.what = fmt.Sprintf("SmallBank, DrTM+H, %d x 24 x 8, check: sampled", n)
	m.warmNS, m.spanNS = 1_000_000, 500_000
	m.spec.Set["nodes"] = n
	if n > 4 {
		m.against, m.ratio, m.atMost = "smallbank-4", "CPU time of a commit / on 4 machines", 2
	}
	return m
}

// writes are remote writes as in section 2.3.3, to one kind of memory.
func writes(to, against string, atMost float64, set experiment.Knobs) measurement {
	m := measurement{
		name: "write to " + to, against: against, atMost: atMost,
		what: "WRITE of 64 bytes to " + to + ", 6 x 24 x 12 on one server", ratio: "CPU time of a verb / to DRAM",
		spec: experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{
			"profile": "r74v", "servers": 1, "clients": 6, "server.threads": 20, "client.threads": 24, "coroutines": 12,
			"workload.payload": 64, "workload.keys": 1_000_000, "check": "off",
		}},
		warmNS: 600_000, spanNS: 3_000_000,
	}
	if against != "" {
		m.against = "write to " + against
	}
	for name, v := range set { // order-free: fills a map
		m.spec.Set[name] = v
	}
	return m
}

func smallbank(check string) measurement {
	return measurement{
		name: "smallbank-" + check,
		what: "SmallBank, DrTM+H, 16 x 24 x 8, check: " + check + ", commits per CPU second",
		spec: experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{
			"nodes": 16, "threads": 24, "coroutines": 8, "workload.scale": 0.01, "check": check,
		}},
		warmNS: 1_000_000, spanNS: 500_000,
	}
}

func names() string {
	var out []string
	for _, m := range measurements {
		out = append(out, m.name)
	}
	return strings.Join(out, ", ")
}

// printOne measures in this process.
func printOne(name, profile string) error {
	for _, m := range measurements {
		if m.name != name {
			continue
		}
		values, err := m.run(profile)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(values)
	}
	return fmt.Errorf("%s: no such measurement; there is %s", name, names())
}

// run measures after the warm-up: what a system does before is the business of
// other numbers.
func (m *measurement) run(profile string) (map[string]float64, error) {
	if m.instead != nil {
		return m.instead()
	}
	s, err := engine.Open(m.spec)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.Advance(m.warmNS); err != nil {
		return nil, err
	}
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		defer pprof.StopCPUProfile()
	}
	s.Mark()
	rate, err := inSlices(m.name, func(n int64) error { return s.Advance(m.spanNS / n) }, func() uint64 { return s.Result().Commits })
	if err != nil {
		return nil, err
	}
	r := s.Result()
	verbs := 0.0
	for _, n := range r.Verbs {
		verbs += float64(n)
	}
	if r.Commits == 0 || verbs == 0 {
		return nil, fmt.Errorf("%s: %d requests with %g verbs", m.name, r.Commits, verbs)
	}
	return map[string]float64{
		"rate":   rate,
		"events": float64(r.Events) / float64(r.Commits),
	}, nil
}

// inSlices is the median rate over the slices of the measured time, for a burst of a
// neighbour hits some of them only. advance goes the n-th part of the way, done counts requests.
func inSlices(name string, advance func(n int64) error, done func() uint64) (rate float64, err error) {
	const n = 20
	var rates []float64
	before := done()
	for range n {
		from := cputime.Now()
		if err := advance(n); err != nil {
			return 0, err
		}
		spent := cputime.Now() - from
		now := done()
		if spent > 0 {
			rates = append(rates, float64(now-before)/spent.Seconds())
		}
		before = now
	}
	if len(rates) == 0 {
		return 0, fmt.Errorf("%s: no CPU time is counted here", name)
	}
	return median(rates), nil
}

// rows are what the table says about it.
func (m *measurement) rows(all map[string]sample) []row {
	s := all[m.name]
	rate := s.median("rate")
	if m.against != "" {
		x := all[m.against].median("rate") / rate
		return append([]row{{what: m.what + ": " + m.ratio, value: x, text: fmt.Sprintf("%.2f", x), required: fmt.Sprintf("at most %.2f", m.atMost), ok: x <= m.atMost}}, m.large(s)...)
	}
	if m.once {
		return m.large(s)
	}
	what := m.what
	if m.spec.Workload != "smallbank" {
		what += ", verbs per CPU second"
	}
	return []row{{what: what, value: rate, text: si(rate), ok: true}}
}

// large are the rows of a system that is measured once.
func (m *measurement) large(s sample) []row {
	if !m.once {
		return nil
	}
	out := []row{{what: m.what + ": seconds from start to end", value: s.median("seconds"), text: fmt.Sprintf("%.0f", s.median("seconds")), ok: true}}
	x := s.median("memory")
	if x == 0 {
		return out // not counted here
	}
	r := row{what: m.what + ": largest resident memory", value: x, text: fmt.Sprintf("%.1f GB", x/1e9), ok: m.memoryBelow == 0 || x < m.memoryBelow}
	if m.memoryBelow > 0 {
		r.required = fmt.Sprintf("below %g GB", m.memoryBelow/1e9)
	}
	return append(out, r)
}

// si writes a rate with three digits.
func si(x float64) string {
	switch {
	case x >= 1e6:
		return fmt.Sprintf("%.2f M", x/1e6)
	case x >= 1e3:
		return fmt.Sprintf("%.3g k", x/1e3)
	}
	return fmt.Sprintf("%.3g", x)
}
