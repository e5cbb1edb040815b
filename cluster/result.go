package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/result"
)

// Result is what a run measured. As last value of a cell it draws itself.
type Result struct {
	Throughput float64        // requests committed per virtual second
	LatencyUS  result.Latency // in microseconds; 0 where there are too few samples
	AbortRate  float64
	RoundTrips float64 // per transaction
	Digest     string
	Raw        *result.Result  // everything
	Windows    []result.Window // of the measured time
}

func newResult(r *result.Result, ws []result.Window) *Result {
	return &Result{Throughput: r.Throughput, LatencyUS: r.LatencyUS, AbortRate: r.AbortRate,
		RoundTrips: r.RoundTripsPerTxn, Digest: r.Digest, Raw: r, Windows: ws}
}

// Metric reads a number by its path in the JSON, as "latency_us.p50".
func (r *Result) Metric(path string) float64 {
	x, ok := r.Raw.Metric(path)
	if !ok {
		must(&experiment.SpecError{Field: path, Rule: "no such number in this result" + knob.DidYouMean(path, r.Raw.Metrics()), Next: "JSON() shows what there is"})
	}
	return x
}

// JSON is the result as the command prints it.
func (r *Result) JSON() string {
	b, err := json.MarshalIndent(r.Raw, "", "  ")
	must(err)
	return string(b)
}

// MarshalJSON is that of the engine's result.
func (r *Result) MarshalJSON() ([]byte, error) { return json.Marshal(r.Raw) }

// Checks is the verdict on correctness.
func (r *Result) Checks() *Checks { return &Checks{r.Raw.Checks} }

// Checks is the verdict of a result on its own correctness.
type Checks struct{ Raw *result.Checks }

// OK is false if anything was found; a run without checks, or one of which nothing was judged, is
// not OK either.
func (c *Checks) OK() bool { return c.Raw.Passed() }

func (c *Checks) String() string {
	k := c.Raw
	if k == nil || k.Mode == "off" && !k.Failed() {
		return "not checked (knob check is off)"
	}
	later := ""
	if k.AtDrain {
		which := ""
		if len(k.Invariants) > 0 {
			which = "other "
		}
		later = "; " + which + "invariants are checked when the cluster is at rest: by Finish, or at the end of a batch run"
	}
	if text := k.Unused(); text != "" {
		return text + later
	}
	var b strings.Builder
	wait := k.Seen - k.Transactions
	switch {
	case !k.Judged():
		fmt.Fprintf(&b, "undecided: %s", k.Why())
	case k.Claimed == "":
		b.WriteString("no transactions")
	case k.Passed():
		fmt.Fprintf(&b, "%s holds over %d transactions (%s)", k.Claimed, k.Transactions, k.Mode)
	default:
		fmt.Fprintf(&b, "%s VIOLATED over %d transactions (%s)", k.Claimed, k.Transactions, k.Mode)
	}
	if k.Transactions > 0 && k.Mode == "full" && wait > 0 {
		fmt.Fprintf(&b, "; %d more were not judged", wait)
	}
	for _, name := range sortedBools(k.Invariants) {
		word := "holds"
		if !k.Invariants[name] {
			word = "VIOLATED"
		}
		fmt.Fprintf(&b, "; %s %s", name, word)
	}
	b.WriteString(k.Unchecked() + later)
	if text := k.Shows(); text != "" {
		b.WriteString("; " + text)
	}
	for _, name := range slices.Sorted(maps.Keys(k.Violated)) {
		fmt.Fprintf(&b, "\n%s: %s", name, words.OneLine(k.Violated[name]))
	}
	for _, a := range k.Anomalies {
		fmt.Fprintf(&b, "\n%s: %s", a.Kind, words.OneLine(a.Text))
	}
	return b.String()
}

func (r *Result) String() string {
	x := r.Raw
	var b strings.Builder
	fmt.Fprintf(&b, "%s committed over %s of virtual time", words.Rate(x.Throughput), words.NS(x.VirtualNS))
	if x.ThroughputCI95 > 0 {
		fmt.Fprintf(&b, " (± %s)", words.Percent(x.ThroughputCI95))
	}
	l := x.LatencyUS
	fmt.Fprintf(&b, "\nlatency p50 %s, p99 %s, mean %s; aborts %s; %s round trips per transaction",
		words.Micros(l.P50), words.Micros(l.P99), words.Micros(l.Mean), words.Percent(x.AbortRate), charts.Digits(x.RoundTripsPerTxn, 2))
	if text := x.Unknown(); text != "" {
		b.WriteString("\n" + text)
	}
	if x.Limit != nil {
		b.WriteString("\n" + x.Limit.Text)
	}
	if text := x.Uncommitted(); text != "" {
		fmt.Fprintf(&b, "\n%s", text)
	}
	fmt.Fprintf(&b, "\n%s\ndigest %s", r.Checks(), x.Digest)
	return b.String()
}

func sortedBools(m map[string]bool) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
