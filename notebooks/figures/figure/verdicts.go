package figure

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"drtmx/dashboard/charts"
)

// How a claim and its verdicts are written.

// MeasuredText is the number of a claim as text.
func (c *Claim) MeasuredText() string {
	if c.Measured == nil {
		return "–"
	}
	return strings.TrimSpace(charts.Digits(*c.Measured, 3) + " " + c.Unit)
}

// Mark is a verdict with a sign that is told apart without colour.
func Mark(status string) string {
	switch status {
	case Holds:
		return "✓ holds"
	case Contradicted:
		return "✗ contradicted"
	}
	return "? undecided"
}

// Split says that claims have two states.
func (f *Figure) Split() bool {
	return slices.ContainsFunc(f.Claims, func(c Claim) bool { return len(c.States) > 0 })
}

// verdictWidth is that of a verdict in text.
const verdictWidth = 16

// writeClaim writes a claim: its verdicts side by side, what both say, and why unless it holds.
func (f *Figure) writeClaim(b *strings.Builder, c *Claim) {
	b.WriteByte('\n')
	for _, s := range c.AllStates() {
		fmt.Fprintf(b, "%-*s", verdictWidth, Mark(s.Status))
	}
	for n := len(c.AllStates()); f.Split() && n < 2; n++ {
		fmt.Fprintf(b, "%-*s", verdictWidth, "")
	}
	fmt.Fprintf(b, "%s: %s", c.Claim, cmp.Or(c.Says, c.MeasuredText()))
	if s := c.States; len(s) > 1 && s[1].Says != "" {
		fmt.Fprintf(b, " (%s: %s)", s[1].Name, s[1].Own())
	}
	b.WriteString(c.BandText())
	if c.First != "" {
		fmt.Fprintf(b, "; predicted blind as %s", c.First)
	}
	if !slices.ContainsFunc(c.AllStates(), func(s State) bool { return s.Status != Holds }) {
		return
	}
	wrap(b, c.Why)
}

// Own is the simulator's part of what is said of a state, "" if there is no number.
func (s *State) Own() string {
	if _, own, ok := strings.Cut(s.Says, ", the simulator "); ok {
		return own
	}
	if own, _, ok := strings.Cut(s.Says, "; the thesis says"); ok {
		return own
	}
	if s.Says != "" && s.Measured == nil {
		return "not measured"
	}
	return ""
}

// AllStates are those of the claim, or the claim itself.
func (c *Claim) AllStates() []State {
	if len(c.States) > 0 {
		return c.States
	}
	return []State{c.state("")}
}

// heads are what stands over the verdicts in text, "" if there is one alone.
func (f *Figure) heads() string {
	if !f.Split() {
		return ""
	}
	return strings.TrimRight(fmt.Sprintf("\n%-*s%s", verdictWidth, StateIgnored, StateCorrect), " ")
}

// claimTable is the claims as a table, with a column for each state.
func (f *Figure) claimTable() string {
	const left = `style="text-align:left;vertical-align:top;padding-right:8px"`
	esc := html.EscapeString
	var b strings.Builder
	b.WriteString(`<table style="border-collapse:collapse"><tr><th ` + left + `>claim</th><th ` + left + `>numbers</th>`)
	columns := []string{"verdict"}
	if f.Split() {
		columns = []string{StateIgnored, StateCorrect}
	}
	for _, name := range columns {
		fmt.Fprintf(&b, `<th %s>%s</th>`, left, name)
	}
	fmt.Fprintf(&b, `<th %s>because</th></tr>`, left)
	for i := range f.Claims {
		c := &f.Claims[i]
		numbers := cmp.Or(c.Says, c.MeasuredText()) + c.BandText()
		if c.First != "" {
			numbers += "; predicted blind as " + c.First
		}
		fmt.Fprintf(&b, `<tr><td %s>%s</td><td %s>%s</td>`, left, esc(c.Claim), left, esc(numbers))
		states := c.AllStates()
		for _, s := range states {
			own := ""
			if len(states) > 1 && s.Own() != "" {
				own = "<br><small>" + esc(s.Own()) + "</small>"
			}
			fmt.Fprintf(&b, `<td colspan="%d" style="vertical-align:top;padding-right:8px"><span style="white-space:nowrap">%s</span>%s</td>`, len(columns)/len(states), Mark(s.Status), own)
		}
		fmt.Fprintf(&b, `<td %s>%s</td></tr>`, left, esc(c.Why))
	}
	b.WriteString("</table>")
	return b.String()
}
