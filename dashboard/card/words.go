package card

import (
	"fmt"
	"math"
	"strings"

	"drtmx/dashboard/charts/palette"
	"drtmx/dashboard/windows"
)

// words are how a card speaks: of a change over time, or of a system and its
// ghost.
type words struct {
	up, down string // quantity, percent
	from     string // quantity, before, after
	nothing  string // quantity, not 0 after
	ended    string // quantity, 0 after
	same     string
	mover    string // phase, before, after
	moved    string // limit before, after
	still    string // limit
}

var ofChange = words{
	up: "%s rose by %s %%", down: "%s fell by %s %%", from: "%s went from %s to %s %%", nothing: "%s is no longer 0", ended: "%s fell to 0", same: "did not change measurably",
	mover: "of the phases %s moved most, %s → %s µs",
	moved: "it was %s and is %s", still: "it is still %s",
}

var ofGhost = words{
	up: "%s is %s %% above the ghost's", down: "%s is %s %% below the ghost's", from: "%s are %s %% in the ghost and %s %% here", nothing: "%s is 0 in the ghost", ended: "%s is 0 here, and not in the ghost", same: "not measurably different",
	mover: "of the phases %s differs most, %s µs in the ghost and %s µs here",
	moved: "the ghost is %s, here it is %s", still: "both are %s",
}

// abortsWorth is the change of the abort rate, in percent of attempts, or of
// failures, that the sentence tells of.
const abortsWorth = 0.5

// sentence says the card in words.
func (c *Card) sentence() string {
	say := ofChange
	if c.Number == 0 {
		say = ofGhost
	}
	var parts, same, drift, unsure []string
	for _, r := range c.Rows {
		switch {
		case r.Drifts:
			drift = append(drift, r.Name)
		case r.Verdict == Undecided:
			unsure = append(unsure, r.Name)
		case r.Name == "round trips":
		case r.Name == "aborts" || r.Name == "failures":
			if r.moved() && math.Abs(r.Diff) >= abortsWorth {
				parts = append(parts, fmt.Sprintf(say.from, r.Name, Short(r.Before), Short(r.After)))
			}
		case r.Verdict == "same":
			same = append(same, r.Name)
		case r.Ended:
			parts = append(parts, fmt.Sprintf(say.ended, r.Name))
		case r.Before == 0 && r.Percent == 0: // of nothing
			parts = append(parts, fmt.Sprintf(say.nothing, r.Name))
		case r.Diff > 0:
			parts = append(parts, fmt.Sprintf(say.up, r.Name, Short(r.Percent)))
		default:
			parts = append(parts, fmt.Sprintf(say.down, r.Name, Short(-r.Percent)))
		}
	}
	if len(same) > 0 {
		parts = append(parts, list(same)+" "+say.same)
	}
	if len(parts) > 0 {
		parts = []string{strings.Join(parts, ", ")}
	}
	if len(drift) > 0 {
		parts = append(parts, list(drift)+" still "+map[bool]string{true: "drifts", false: "drift"}[len(drift) == 1 && singular(drift[0])])
	}
	if len(unsure) > 0 {
		parts = append(parts, "too few independent windows to judge "+list(unsure))
	}
	if r, ok := c.mover(); ok {
		parts = append(parts, fmt.Sprintf(say.mover, PhaseName(r.Name), Short(r.Before), Short(r.After)))
	}
	if a, b := c.Before.Limit, c.After.Limit; a != "" && b != "" {
		if a != b {
			parts = append(parts, fmt.Sprintf(say.moved, a, b))
		} else {
			parts = append(parts, fmt.Sprintf(say.still, b))
		}
	}
	s := strings.Join(parts, "; ")
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// list writes names as in a sentence.
func list(names []string) string {
	if n := len(names); n > 2 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, " and ")
}

// singular says that a row's name is, as throughput is and aborts are.
func singular(name string) bool { return !strings.HasSuffix(name, "s") }

// absent says which percentiles have no row, although requests commit, and on which side windows
// have too few of them.
func (c *Card) absent(before, after []windows.Moment) string {
	sides := [2]string{"before it", "after it"}
	if c.Number == 0 {
		sides = [2]string{"of the ghost", "here"}
	}
	var out []string
	for _, p := range []struct {
		name, takes string // requests in a window
		of          func(m *windows.Moment) float64
	}{{"p50", "20", func(m *windows.Moment) float64 { return m.P50 }}, {"p99", "1,000", func(m *windows.Moment) float64 { return m.P99 }}} {
		var where []string
		for i, ms := range [][]windows.Moment{before, after} {
			q, t := quantity{of: p.of}, quantity{of: func(m *windows.Moment) float64 { return m.Throughput }}
			if len(q.series(ms)) < Least && mean(t.series(ms)) > 0 {
				where = append(where, sides[i])
			}
		}
		if len(where) > 0 {
			out = append(out, fmt.Sprintf("No %s: it takes %s requests in a window, and the windows %s have fewer.", p.name, p.takes, list(where)))
		}
	}
	return strings.Join(out, " ")
}

// Short writes two or three significant digits, never an exponent.
func Short(v float64) string {
	switch a := math.Abs(v); {
	case a >= 10:
		return fmt.Sprintf("%.0f", v)
	case a >= 0.1 || a == 0:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// mover is the phase whose mean changed most, if one did measurably.
func (c *Card) mover() (best Row, ok bool) {
	for _, r := range c.Phases {
		if r.moved() && math.Abs(r.Diff) > math.Abs(best.Diff) && math.Abs(r.Diff) >= 0.05 {
			best, ok = r, true
		}
	}
	return best, ok
}

// PhaseName is that of people.
func PhaseName(name string) string {
	l, _ := palette.Phases.Of(name)
	return l.Label
}
