package explore

import (
	"cmp"
	"fmt"
	"strings"

	"drtmx/engine/experiment"
)

// String tells what was tried and what was found.
func (r *Report) String() string {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s %s\n", label, fmt.Sprintf(format, args...))
	}
	line("explored", "%s on %s, %d messages without delays", r.Spec.Text("workload"), r.subject(), r.Messages)
	line("lists", "of up to %d delays, of 1 to %d units of %d ns", r.Bound, r.Steps, r.UnitNS)
	var by []string
	for delays, n := range r.ByDelays {
		if n > 0 {
			by = append(by, fmt.Sprintf("%d with %d", n, delays))
		}
	}
	line("runs", "%d (%s delays)", r.Runs, strings.Join(by, ", "))
	line("orders", "%d different; %d lists not extended, for their order had been seen", r.Orders, r.Pruned)
	for _, x := range r.Found {
		line("found", "%s with explore.delays=%s", x.Kind, x.Delays)
		line("", "%s", x.Text)
		for _, text := range x.More {
			line("", "%s", text)
		}
		b.WriteString("\n" + x.Spec.Working().YAML() + "\n")
	}
	if len(r.Found) == 0 {
		line("found", "nothing")
	}
	if r.Cursor != "" {
		line("goes on with", "--resume %s", r.Cursor)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// subject is the part under test: the protocol of transactions, or the store of other requests.
func (r *Report) subject() string {
	if experiment.Workloads.Of(r.Spec).Ordered {
		return r.Spec.Text("store.ordered")
	}
	return cmp.Or(r.Spec.Text("cc"), r.Spec.Text("preset"))
}
