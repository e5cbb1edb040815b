package batch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/result"
)

// Causes say what limits a system, measured as only a simulator can: with the same random streams
// the system runs with one part of what takes time a tenth faster, and everything else as it is.
// One part is measured the other way round: transactions keep their locks for longer than they
// need them, which delays only transactions that wait for the locks, and the transaction itself.
//
// An elasticity is the change of a result relative to the change of a part, in logarithms: where a
// part's elasticity of throughput is 0.7, one per cent less of its time gives 0.7 % more
// throughput. Scaling every duration alike only changes the unit of time, so everything at once has
// an elasticity of 1, and those of all parts sum up to about 1; what Everything lacks is time that
// no part has. Of open clients the throughput is what arrives, whatever the system's speed.
type Causes struct {
	result.Verdict
	Throughput float64            `json:"throughput"` // of the system as it is, mean over the seeds
	P50US      float64            `json:"p50_us"`
	P99US      float64            `json:"p99_us,omitempty"`
	Seeds      int                `json:"seeds"` // pairs of runs that the intervals rest on
	WarmupNS   int64              `json:"warmup_ns"`
	DurationNS int64              `json:"duration_ns"` // measured in each run
	Faster     float64            `json:"faster"`      // durations are multiplied by it
	Causes     []Elasticity       `json:"elasticities"`
	Everything *Elasticity        `json:"everything,omitempty"` // all parts at once: 1 where no time is missing
	Sum        *Elasticity        `json:"sum,omitempty"`        // of the groups that do not overlap
	Total      string             `json:"total,omitempty"`      // what both mean for a reader, see total
	Hot        []result.HotRecord `json:"hot"`
	Partial    bool               `json:"partial,omitempty"` // interrupted: fewer seeds than were asked for
	Spec       experiment.Knobs   `json:"spec"`
	Code       string             `json:"code"`
}

// Elasticity is what one part is worth. Half-widths are those of 95 % intervals over the seeds.
type Elasticity struct {
	What       string   `json:"what"`
	Name       string   `json:"name"` // of the number or cost; of a group its id
	Group      string   `json:"group"`
	Throughput float64  `json:"throughput"`
	CI95       *float64 `json:"ci95,omitempty"` // absent with one seed
	P50        *float64 `json:"p50,omitempty"`
	P50CI95    *float64 `json:"p50_ci95,omitempty"`
	P99        *float64 `json:"p99,omitempty"` // only where its interval excludes 0
	P99CI95    *float64 `json:"p99_ci95,omitempty"`
	Overlaps   bool     `json:"overlaps,omitempty"` // with other groups: Sum leaves it out
}

// CausesOptions: the zero value measures groups with five seeds on every core.
type CausesOptions struct {
	Group    string // measure the members of this group; "": the groups
	Seeds    int    // pairs of runs; 0: 5
	Parallel int
	Progress func(done, total int) // in thousandths
}

const (
	faster       = 0.9
	CauseSeeds   = 5
	causeCommits = 6_000   // in a run: its throughput is then good to about one per cent
	causeMeans   = 20      // mean latencies in a run
	causeWarmup  = 300_000 // ns at least; caches are warm from the start
	causeTails   = 10      // times p99 that a warm-up lasts at least
	causeLeast   = 500_000 // ns of a run
	causeRound   = 10_000  // ns: lengths that a person can read
	pilotShare   = 60      // thousandths of the progress
)

// MeasureCauses measures what limits the system of a spec. Where the spec leaves warm-up and
// interval open, a first run finds how long they have to be; checks are off. When the context ends,
// what there is comes back beside its error.
func MeasureCauses(ctx context.Context, spec experiment.Spec, o CausesOptions) (*Causes, error) {
	if o.Seeds == 0 {
		o.Seeds = CauseSeeds
	}
	if o.Seeds < 1 || o.Seeds > experiment.MaxAxis {
		return nil, &experiment.SpecError{Field: "seeds", Value: fmt.Sprint(o.Seeds), Rule: fmt.Sprintf("must be from 1 to %d", experiment.MaxAxis), Next: "such as 5"}
	}
	plain, err := spec.With(experiment.Knobs{"check": "off"})
	if err != nil {
		return nil, err
	}
	plain.Hardware = spec.Hardware
	v, err := experiment.Resolve(plain)
	if err != nil {
		return nil, err
	}
	parts, err := causeParts(plain.Profile(v), v, o.Group)
	if err != nil {
		return nil, err
	}
	report := o.Progress
	if report == nil {
		report = func(int, int) {}
	}
	pilot, err := engine.Run(ctx, plain, func(done, total int) { report(done*pilotShare/total, engine.ProgressTotal) })
	if err != nil {
		return nil, err
	}
	if pilot.Commits == 0 {
		return nil, &experiment.SpecError{Field: "workload", Value: v.Text("workload"), Rule: "commits nothing, so nothing can be said to limit it", Next: "try `drtmx run` with the same knobs"}
	}
	m := measurement{parts: parts, runs: make([][]*result.Result, len(parts)+1)}
	m.lengths(pilot, v)
	jobs, err := m.jobs(plain, o.Seeds)
	if err != nil {
		return nil, err
	}
	var first error
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	err = runJobs(inner, jobs, SweepOptions{Parallel: o.Parallel, Share: func(done, total int) {
		report(pilotShare+(engine.ProgressTotal-pilotShare)*done/total, engine.ProgressTotal)
	}}, func(j job, r *result.Result, _ bool, err error) {
		if err != nil && first == nil {
			first = err
			cancel()
		}
		m.runs[j.point][j.run] = r
	})
	if ctx.Err() == nil && first != nil {
		return nil, first
	}
	return m.causes(pilot, o), err
}

// measurement is the runs of the system as it is, first, and of each part.
type measurement struct {
	parts            []speedup
	runs             [][]*result.Result // by part, by seed; nil: not done
	warmup, duration int64
}

// lengths are those of the spec or follow from the pilot.
func (m *measurement) lengths(pilot *result.Result, v experiment.Knobs) {
	m.warmup, m.duration = int64(v.Int("warmup_ns")), int64(v.Int("duration_ns"))
	if m.warmup == 0 {
		m.warmup = min(pilot.FromNS, max(causeWarmup, int64(causeTails*pilot.LatencyUS.P99)*1000))
	}
	if m.duration == 0 {
		need := max(causeCommits/pilot.Throughput*1e9, causeMeans*pilot.LatencyUS.Mean*1e3, causeLeast)
		m.duration = min((int64(need)/causeRound+1)*causeRound, experiment.MaxAutomatic)
	}
}

// jobs are in the order of the seeds, so that an interrupted measurement knows of every part.
func (m *measurement) jobs(plain experiment.Spec, seeds int) ([]job, error) {
	fixed, err := plain.With(experiment.Knobs{"warmup_ns": int(m.warmup), "duration_ns": int(m.duration)})
	if err != nil {
		return nil, err
	}
	base, err := (&SweepOptions{}).pointJobs(fixed, nil, 0, seeds)
	if err != nil {
		return nil, err
	}
	var jobs []job
	for i := range m.runs {
		m.runs[i] = make([]*result.Result, seeds)
	}
	for _, b := range base {
		for i := range m.runs {
			j := b
			j.point, j.spec.Hardware = i, plain.Hardware
			if i > 0 {
				j.spec.Scaling = m.parts[i-1].scaling()
			}
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// causes is what the runs say.
func (m *measurement) causes(pilot *result.Result, o CausesOptions) *Causes {
	out := &Causes{Causes: []Elasticity{}, Hot: []result.HotRecord{}, Faster: faster, WarmupNS: m.warmup, DurationNS: m.duration, Spec: pilot.Spec, Code: pilot.Code}
	out.Spec["warmup_ns"], out.Spec["duration_ns"] = int(m.warmup), int(m.duration)
	if pilot.Limit != nil {
		out.Verdict = *pilot.Limit
	}
	if pilot.Contention != nil {
		out.Hot = pilot.Contention.Hot
	}
	base := present(m.runs[0])
	for _, r := range base {
		out.Throughput += r.Throughput / float64(len(base))
		out.P50US += r.LatencyUS.P50 / float64(len(base))
		out.P99US += r.LatencyUS.P99 / float64(len(base))
	}
	out.Seeds = len(base)
	for i := range m.parts {
		p := &m.parts[i]
		e, pairs := m.elasticity(p, i+1)
		out.Partial = out.Partial || pairs < o.Seeds
		switch {
		case pairs == 0:
		case p.group == everything:
			out.Everything = &e
		default:
			out.Causes = append(out.Causes, e)
		}
	}
	if o.Group == "" {
		out.Sum = m.sum()
		out.Total = total(out.Sum, out.Everything)
	}
	open := experiment.OpenRate(pilot.Spec) > 0
	slices.SortStableFunc(out.Causes, func(a, b Elasticity) int { return cmp.Compare(b.rank(open), a.rank(open)) })
	return out
}

// rank orders causes: by what they do to throughput, or where clients are open, to the median.
func (e *Elasticity) rank(open bool) float64 {
	if open && e.P50 != nil {
		return math.Abs(*e.P50)
	}
	return math.Abs(e.Throughput)
}

// pairs are the logarithms of the ratios of a quantity in a part's runs to that in the runs of the
// system as it is, seed by seed, as elasticities.
func (m *measurement) pairs(at int, of func(*result.Result) float64, sign float64) []float64 {
	var out []float64
	for seed, base := range m.runs[0] {
		if r := m.runs[at][seed]; base != nil && r != nil && of(base) > 0 && of(r) > 0 {
			out = append(out, sign*math.Log(of(r)/of(base))/math.Log(m.parts[at-1].factor()))
		}
	}
	return out
}

func throughputOf(r *result.Result) float64 { return r.Throughput }
func p50Of(r *result.Result) float64        { return r.LatencyUS.P50 }
func p99Of(r *result.Result) float64        { return r.LatencyUS.P99 }

// elasticity is that of one part; pairs is how many seeds it rests on.
func (m *measurement) elasticity(p *speedup, at int) (e Elasticity, pairs int) {
	x := m.pairs(at, throughputOf, -1)
	e = elasticityOf(x, m.pairs(at, p50Of, 1), m.pairs(at, p99Of, 1))
	e.What, e.Name, e.Group, e.Overlaps = p.what, p.name, p.group, p.overlaps && p.group != everything
	return e, len(x)
}

func elasticityOf(throughput, p50, p99 []float64) Elasticity {
	x, m, h := metrics.Mean95(throughput), metrics.Mean95(p50), metrics.Mean95(p99)
	e := Elasticity{Throughput: x.Mean, CI95: known95(x)}
	if len(p50) == len(throughput) && len(p50) > 0 {
		e.P50, e.P50CI95 = &m.Mean, known95(m)
	}
	if len(p99) == len(throughput) && len(p99) > 1 && math.Abs(h.Mean) > h.Half95 {
		e.P99, e.P99CI95 = &h.Mean, &h.Half95
	}
	return e
}

func known95(x metrics.Interval) *float64 {
	if math.IsInf(x.Half95, 0) {
		return nil
	}
	return &x.Half95
}

// sum adds the groups that do not overlap, seed by seed.
func (m *measurement) sum() *Elasticity {
	var sums [3][]float64
	for k, of := range []func(*result.Result) float64{throughputOf, p50Of, p99Of} {
		for i := range m.parts {
			if m.parts[i].overlaps {
				continue
			}
			x := m.pairs(i+1, of, map[bool]float64{true: -1, false: 1}[k == 0])
			if sums[k] == nil {
				sums[k] = make([]float64, len(x))
			}
			for s := range min(len(x), len(sums[k])) {
				sums[k][s] += x[s]
			}
			sums[k] = sums[k][:min(len(x), len(sums[k]))]
		}
	}
	if len(sums[0]) == 0 {
		return nil
	}
	e := elasticityOf(sums[0], sums[1], sums[2])
	e.What, e.Name, e.Group = "sum of the groups", "sum", "sum"
	return &e
}

// total says whether the gains of the groups can be added, and whether the runs were long enough: scaling every duration alike is
// only another unit of time, so everything at once brings exactly 1 % for 1 %.
func total(sum, all *Elasticity) string {
	if sum == nil || all == nil {
		return ""
	}
	const visible, blurred = 0.1, 0.5 // a smaller difference changes no decision; a wider interval tells nothing
	half := func(e *Elasticity) float64 {
		if e.CI95 == nil {
			return 0
		}
		return *e.CI95
	}
	diff, chance := sum.Throughput-all.Throughput, math.Hypot(half(sum), half(all))
	switch {
	case chance > blurred:
		return fmt.Sprintf("The groups sum up to %.2f ± %.2f %%, everything at once brings %.2f ± %.2f %%: chance is larger than what these runs tell. Take a longer duration_ns, or more seeds.", sum.Throughput, half(sum), all.Throughput, half(all))
	case math.Abs(all.Throughput-1) > max(visible, half(all)):
		return fmt.Sprintf("Everything at once brings %.2f %% for 1 %%, where 1 is exact: these runs are too short or too few to rank causes by. Take a longer duration_ns, or more seeds.", all.Throughput)
	case diff > max(visible, chance):
		return fmt.Sprintf("The gains of the groups overlap: one by one they sum up to %.2f %%, everything at once brings %.2f %%. Do not add them; what two groups bring together is less than their sum.", sum.Throughput, all.Throughput)
	case -diff > max(visible, chance):
		return fmt.Sprintf("One by one the groups sum up to %.2f %%, everything at once brings %.2f %%: the rest takes two groups that become faster together.", sum.Throughput, all.Throughput)
	}
	return fmt.Sprintf("The gains of the groups can be added: they sum up to %.2f %%, and everything at once brings %.2f %%.", sum.Throughput, all.Throughput)
}

// String is a table for a terminal.
func (c *Causes) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", c.Text)
	fmt.Fprintf(&b, "Elasticities: %% more throughput, %% less p50 and p99, for 1 %% less of each time (seeds: %d, %s each)\n", c.Seeds, knob.Format("duration_ns", int(c.DurationNS)))
	width := len("everything at once")
	for _, e := range c.Causes {
		width = max(width, len([]rune(e.What)))
	}
	width = min(width, 76)
	row := func(what string, group string, cells ...string) {
		if r := []rune(what); len(r) > width {
			what = string(r[:width-3]) + "..."
		}
		fmt.Fprintf(&b, "  %-*s  %-12s %14s %14s %14s\n", width, what, group, cells[0], cells[1], cells[2])
	}
	row("", "group", "throughput", "p50", "p99")
	line := func(e *Elasticity) {
		group := e.Group
		if group == everything || group == "sum" {
			group = ""
		}
		row(e.What, group, elastic(&e.Throughput, e.CI95), elastic(e.P50, e.P50CI95), elastic(e.P99, e.P99CI95))
	}
	for i := range c.Causes {
		line(&c.Causes[i])
	}
	for _, e := range []*Elasticity{c.Sum, c.Everything} {
		if e != nil {
			line(e)
		}
	}
	if slices.ContainsFunc(c.Causes, func(e Elasticity) bool { return e.Group == groupLocks }) {
		b.WriteString("  Time while locks are held is also time of the other groups: the sum leaves it out. It is measured by making it longer, with the core free meanwhile.\n")
	}
	if c.Total != "" {
		b.WriteString("  " + c.Total + "\n")
	}
	if c.Partial {
		b.WriteString("  Interrupted: intervals rest on the seeds that were finished.\n")
	}
	if slices.ContainsFunc(c.Causes, func(e Elasticity) bool { return e.P99 == nil }) {
		b.WriteString("  -: too few commits or seeds, or its interval does not tell it from 0.\n")
	}
	b.WriteString(result.HotText(c.Hot))
	return strings.TrimSuffix(b.String(), "\n")
}

// elastic writes a value with its interval; "-" where the interval does not tell it from 0.
func elastic(x, half *float64) string {
	switch {
	case x == nil:
		return "-"
	case half == nil:
		return hundredths(*x)
	}
	return fmt.Sprintf("%s ± %.2f", hundredths(*x), *half)
}

// hundredths knows no -0.00.
func hundredths(x float64) string { return fmt.Sprintf("%.2f", math.Round(100*x)/100+0) }
