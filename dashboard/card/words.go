package card

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"drtmx/dashboard/charts/palette"
	"drtmx/dashboard/windows"
	"drtmx/engine/metrics"
	"drtmx/engine/result"
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

// ofRivals are those of two systems by their names.
func ofRivals(base, other string) words {
	return words{
		up: "%s is %s %% higher", down: "%s is %s %% lower", from: "%s are %s %% in " + base + " and %s %% in " + other, nothing: "%s is 0 in " + base, ended: "%s is 0 in " + other + ", and not in " + base,
		same: "not measurably different", mover: "of the phases %s differs most, %s µs in " + base + " and %s µs in " + other,
		moved: base + " is %s, " + other + " is %s", still: "both are %s",
	}
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
	if c.Rival {
		say = ofRivals(strings.ReplaceAll(c.Before.Title, "%", "%%"), strings.ReplaceAll(c.After.Title, "%", "%%"))
	}
	var parts, same, drift, unsure []string
	for _, r := range c.Rows {
		if r.Drifts {
			drift = append(drift, r.Name)
		}
		switch {
		case r.Verdict == Undecided && !r.Drifts:
			unsure = append(unsure, r.Name)
		case r.Verdict == Undecided:
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
		parts = append(parts, result.And(same)+" "+say.same)
	}
	if len(parts) > 0 {
		parts = []string{strings.Join(parts, ", ")}
	}
	if len(drift) > 0 {
		parts = append(parts, result.And(drift)+" still "+map[bool]string{true: "drifts", false: "drift"}[len(drift) == 1 && singular(drift[0])])
	}
	if len(unsure) > 0 {
		parts = append(parts, "not enough windows yet to judge "+result.And(unsure))
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
	if c.Rival {
		return fmt.Sprintf("%s against %s: %s.", c.After.Title, c.Before.Title, s)
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// singular says that a row's name is, as throughput is and aborts are.
func singular(name string) bool { return !strings.HasSuffix(name, "s") }

// percentiles are those that take many requests.
var percentiles = []struct {
	name     string
	requests uint64 // in a window, or in neighbouring ones taken together
	of       func(m *windows.Moment) float64
}{{"p50", metrics.SamplesFor(0.5), func(m *windows.Moment) float64 { return m.P50 }}, {"p99", metrics.SamplesFor(0.99), func(m *windows.Moment) float64 { return m.P99 }}}

// absent says which percentiles have no row, although requests commit, and on which side there are too few;
// they are among what needs more windows.
func (c *Card) absent(before, after []windows.Moment) (says string, rows []Row) {
	sides := [2]string{"before it", "after it"}
	if c.Number == 0 {
		sides = [2]string{"of " + cmp.Or(c.Before.Title, "A"), "of " + cmp.Or(c.After.Title, "B")}
	}
	var out []string
	for _, p := range percentiles {
		var where []string
		takes := 0
		for i, ms := range [][]windows.Moment{before, after} {
			q := quantity{of: p.of}
			var commits uint64
			for i := range ms {
				commits += ms[i].Commits
			}
			if n := len(q.series(ms)); n < Least && commits > 0 {
				where = append(where, sides[i])
				each := (p.requests*uint64(len(ms)) + commits - 1) / commits // windows with so many requests
				takes = max(takes, int(Least*each+each))
			}
		}
		if len(where) > 0 {
			out = append(out, fmt.Sprintf("No %s yet: it takes %s requests in %d stretches of windows, and those %s have fewer: about %d windows do.", p.name, thousands(p.requests), Least, result.And(where), takes))
			rows = append(rows, Row{Name: p.name, Verdict: Undecided, Needs: takes})
		}
	}
	return strings.Join(out, " "), rows
}

// thousands writes 1,000.
func thousands(n uint64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
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
