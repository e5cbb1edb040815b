package cluster

import (
	"fmt"
	"strings"

	"drtmx/engine"
)

// Comparison puts two results side by side: what differs in the specs, and by
// how much in the numbers.
type Comparison struct {
	A, B *Result
	Raw  *engine.Comparison
}

// Compare compares two results.
func Compare(a, b *Result) *Comparison {
	return &Comparison{a, b, engine.Compare(a.Raw, b.Raw)}
}

func (c *Comparison) String() string {
	var b strings.Builder
	for i, d := range c.Raw.Spec {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %v -> %v", d.Knob, d.A, d.B)
	}
	if len(c.Raw.Spec) == 0 {
		b.WriteString("same knobs")
	}
	for _, d := range c.Raw.Metrics {
		fmt.Fprintf(&b, "\n%-24s %12s -> %12s  %s", d.Metric, trim(d.A), trim(d.B), diffText(d))
	}
	return b.String()
}

// diffText is a relative change with its interval, where there is one.
func diffText(d engine.Diff) string {
	if d.Change == nil {
		return ""
	}
	s := signed(*d.Change)
	if d.Half95 > 0 {
		s += fmt.Sprintf(" ± %.1f", 100*d.Half95)
	}
	return s
}
