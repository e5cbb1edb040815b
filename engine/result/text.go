package result

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/metrics"
)

// String is a window in a line.
func (w Window) String() string {
	l := w.LatencyUS
	return fmt.Sprintf("%s to %s: %s/s%s%s", knob.Format("duration_ns", int(w.T0NS)), knob.Format("duration_ns", int(w.T1NS)), Number(w.Throughput),
		optional(", p50 %s µs", l.P50), optional(", p99 %s µs", l.P99))
}

// String is what limits a run, in a sentence.
func (v Verdict) String() string { return v.Text }

// String is a type of transaction in a line.
func (s TypeStat) String() string {
	return fmt.Sprintf("%d commits, %d aborts, %d rollbacks%s%s", s.Commits, s.Aborts, s.Rollbacks,
		optional(", p50 %s µs", s.LatencyUS.P50), optional(", p99 %s µs", s.LatencyUS.P99))
}

// String is the result for a terminal: headline numbers, phases, utilisation, checks.
func (r *Result) String() string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s %s\n", name, fmt.Sprintf(format, args...))
	}
	title := r.Name
	if title == "" {
		title = "run"
	}
	on := r.Profile
	if preset := fmt.Sprint(r.Spec["preset"]); r.protocol() {
		on = preset + ", " + on
		if cc, _ := r.Spec["cc"].(string); cc != "" && cc != experiment.Protocols[0].Name { // the default; of others a preset says the primitives only
			on = cc + " with the primitives of " + on
		}
	}
	row(title, "%v on %s, seed %v", r.Spec["workload"], on, r.Spec["seed"])
	if len(r.PresetDiff) > 0 {
		row("changed", "%s", listed(r.PresetDiff))
	}
	if r.ThroughputCI95 > 0 {
		row("throughput", "%s/s ± %.1f %%", Number(r.Throughput), 100*r.ThroughputCI95)
	} else {
		row("throughput", "%s/s", Number(r.Throughput))
	}
	l := r.LatencyUS
	if r.Commits > 0 || l.Mean > 0 {
		row("latency", "mean %s µs%s%s%s", Number(l.Mean), optional(", p50 %s", l.P50), optional(", p99 %s", l.P99), optional(", p99.9 %s", l.P999))
	}
	if r.Open != nil {
		row("open", "%s", r.Open.Text())
	}
	if text := r.Unknown(); text != "" {
		row("", "%s", text)
	}
	if text := r.Snapshots(); text != "" {
		row("snapshots", "%s", text)
	}
	row("commits", "%d in %s of virtual time, %.2f %% of attempts aborted, %d rolled back", r.Commits, knob.Format("duration_ns", int(r.VirtualNS)), 100*r.AbortRate, r.Rollbacks)
	for _, text := range r.FoundNothing() {
		row("", "%s", text)
	}
	if r.Failed > 0 || r.Lost > 0 {
		row("failed", "%d requests with an error, %d passive ones lost", r.Failed, r.Lost)
	}
	for _, p := range phaseOrder {
		if s, ok := r.Phases[p]; ok {
			fmt.Fprintf(&b, "  %-13s%8.3f µs %5.1f %%  %.2f round trips\n", p, s.MeanUS, 100*s.Share, s.RoundTrips)
		}
	}
	for _, p := range phaseOrder {
		if c, ok := r.Auto["phase."+p]; ok {
			row("auto", "%s is %s: %s", p, c.Primitive, c.Because)
		}
	}
	for _, name := range []string{"xstore.top", "xstore.submodels"} {
		if c, ok := r.Auto[name]; ok {
			row("auto", "%s is %s: %s", name, c.Primitive, c.Because)
		}
	}
	for _, part := range slices.Sorted(maps.Keys(r.Sections)) {
		for _, name := range slices.Sorted(maps.Keys(r.Sections[part])) {
			if text := r.Sections[part].Text(name); text != "" {
				row(strings.TrimSuffix(name, "_because"), "%s", text)
			}
		}
	}
	if r.Limit != nil {
		row("limit", "%s", r.Limit.Text)
	}
	if !r.Steady {
		row("not steady", "%s", r.Unsteady)
	}
	row("checks", "%s", r.ChecksText())
	if text := r.Checks.Shows(); text != "" {
		row("", "%s", text)
	}
	if h := r.History; h != nil {
		row("history", "%s", h)
	}
	row("digest", "%s", r.Digest)
	return b.String()
}

// FoundNothing says which of the commits found nothing to do, by type, and whether they are in the throughput; nil where all found
// something.
func (r *Result) FoundNothing() []string {
	if r.Empty == 0 {
		return nil
	}
	name, _ := r.Spec["workload"].(string)
	kind := experiment.Workloads.Named(name)
	lines := []string{fmt.Sprintf("%d of the commits found nothing to do", r.Empty)}
	for _, typ := range slices.Sorted(maps.Keys(r.ByType)) {
		x := r.ByType[typ]
		if x.Empty == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", x.Empty, typ)
		if kind != nil {
			if e, ok := kind.EmptyOf(typ); ok {
				text += ": " + e.When
			}
		}
		if x.Uncounted > 0 {
			text += "; not in the throughput"
		}
		lines = append(lines, text)
	}
	return lines
}

// Snapshots says how old what they read was, and how often a read had to wait; "" where none has read.
func (r *Result) Snapshots() string {
	s := r.StalenessNS
	if s == nil {
		return ""
	}
	text := fmt.Sprintf("%d reads, ", s.Reads)
	if s.P50 != nil {
		text += fmt.Sprintf("p50 of the staleness %s, ", age(*s.P50))
	}
	text += "largest " + age(s.Max)
	if s.Bound != nil {
		text += ", bound " + age(*s.Bound)
	} else {
		text += ", no bound"
	}
	if p, ok := r.Parts["snapshots"]; ok {
		text += fmt.Sprintf("; %.3g %% of the reads were blocked", p["blocked"])
		if wait := p["wait"]; wait > 0 {
			text += fmt.Sprintf(", for %s µs on average", Number(wait))
		}
	}
	return text
}

// age is a staleness in the unit that suits it.
func age(ns int64) string {
	switch {
	case ns >= 1_000_000:
		return Number(float64(ns)/1e6) + " ms"
	case ns >= 1000:
		return Number(float64(ns)/1e3) + " µs"
	case ns == 0:
		return "0"
	}
	return fmt.Sprintf("%d ns", ns)
}

// Uncommitted says of a result without commits what happened instead, and what to do; "" where there
// are any.
func (r *Result) Uncommitted() string {
	if r.Commits > 0 {
		return ""
	}
	var parts []string
	for _, x := range []struct {
		n    uint64
		what string
	}{{r.Aborts, "attempts were aborted"}, {r.Rollbacks, "requests rolled back"}, {r.Failed, "requests failed"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	next := "measure longer"
	switch {
	case r.Aborts > 0:
		next += ", or let fewer transactions meet: fewer coroutines, a larger workload.scale"
	case len(parts) > 0:
		next = "look at the workload and at faults"
	}
	if r.Little != nil {
		parts = append(parts, fmt.Sprintf("%s requests were under way on average", Number(r.Little.InFlight)))
	}
	return fmt.Sprintf("nothing was committed in %s: %s; %s", knob.Format("duration_ns", int(r.VirtualNS)), strings.Join(parts, ", "), next)
}

// Unknown says which percentile up to p99 the latency does not have, and how many samples are missing; ""
// where it has all of them, or nothing was committed.
func (r *Result) Unknown() string {
	for _, p := range []struct {
		name string
		q    float64
		us   float64
	}{{"p50", 0.5, r.LatencyUS.P50}, {"p90", 0.9, r.LatencyUS.P90}, {"p99", 0.99, r.LatencyUS.P99}} {
		if need := metrics.SamplesFor(p.q); p.us == 0 && 0 < r.Commits && r.Commits < need {
			return fmt.Sprintf("%s is not known: it takes %d commits, there are %d; %s", p.name, need, r.Commits, r.MeasureLonger(float64(need)/float64(r.Commits)))
		}
	}
	return ""
}

// MeasureLonger is the advice to measure so many times as long, with a tenth to spare, which says how long that is.
func (r *Result) MeasureLonger(times float64) string {
	const spare, fine, coarse = 1.1, 100_000, 1_000_000 // ns
	ns, step := spare*times*float64(r.VirtualNS), float64(fine)
	if ns > 5*coarse {
		step = coarse
	}
	if ns <= 0 || ns > 1e12 {
		return "measure longer"
	}
	return "measure longer, about " + knob.Format("duration_ns", int(math.Ceil(ns/step)*step))
}

// protocol says whether the preset plays a part: others than workloads of transactions have no phases.
func (r *Result) protocol() bool {
	name, _ := r.Spec["workload"].(string)
	w := experiment.Workloads.Named(name)
	return w != nil && w.Transactions
}

func (r *Result) ChecksText() string {
	c := r.Checks
	switch {
	case c == nil || c.Mode == "off" && !c.Failed():
		return "off"
	case !c.Judged():
		return "undecided: " + c.Why()
	case c.Unused() != "":
		return c.Unused()
	case c.Passed():
		text := fmt.Sprintf("ok: %s, %d transactions, %s", c.Claimed, c.Transactions, c.Mode)
		if c.Writers != "" {
			text += fmt.Sprintf("; read-write ones %s among one another", c.Writers)
		}
		if c.Stale > 0 {
			text += fmt.Sprintf("; %d snapshots lacked what had ended before they began, as they may", c.Stale)
		}
		return text + c.Allowed() + c.Unchecked()
	}
	found := c.Findings()
	if a := c.Breaking(); a != nil {
		found = slices.Insert(found, 0, a.Kind+": "+a.Text)
	}
	if c.Incomplete != "" {
		found = append(found, "incomplete: "+c.Incomplete)
	}
	return "FAILED: " + strings.Join(found, "; ")
}

// phaseOrder is the order in which a transaction passes its phases.
var phaseOrder = func() []string {
	var names []string
	for _, p := range metrics.Phases() {
		names = append(names, p.String())
	}
	return names
}()

func optional(format string, x float64) string {
	if x == 0 {
		return ""
	}
	return fmt.Sprintf(format, Number(x))
}

func listed(k experiment.Knobs) string {
	var parts []string
	for _, name := range experiment.SortedNames(k) {
		parts = append(parts, name+" = "+knob.Format(name, k[name]))
	}
	return strings.Join(parts, ", ")
}
