package figure

import (
	"fmt"
	"strings"

	"drtmx/dashboard/charts"
)

// A picture has the first of a ranking, the last, and the designs of Table 4-3.
const (
	firstBars = 16
	lastBars  = 2
)

// ranked are the points that a picture of a ranking shows.
// Below each is the same point of the others.
func (f *Figure) ranked(others ...*Figure) (title string, y charts.Axis, parts []charts.Part, bars []charts.Bars) {
	points := f.Series[0].Points
	for i, p := range points {
		if i < firstBars || i >= len(points)-lastBars || strings.HasSuffix(p.Name, ")") {
			bars = append(bars, charts.Bars{Name: fmt.Sprintf("%d. %s", i+1, p.Name), Values: []float64{p.Y}, CI: p.CI95})
			p.Band.add(&bars[len(bars)-1])
			for _, o := range others {
				for _, q := range o.Series[0].Points {
					if q.Name == p.Name {
						bars = append(bars, charts.Bars{Name: o.knobs(), Values: []float64{q.Y}, CI: q.CI95})
					}
				}
			}
		}
	}
	return f.pictured(), charts.Axis{Label: f.Y.Label, Unit: f.Y.Unit}, []charts.Part{{Name: f.Series[0].Name, Colour: charts.Colour(0)}}, bars
}

// ranking is the points as text, those of the picture.
func (f *Figure) ranking() string {
	var b strings.Builder
	points := f.Series[0].Points
	fmt.Fprintf(&b, "%4s  %-34s%14s%12s", "rank", "E V+V L C, R V (as Table 4-3)", f.Y.Unit, "median µs")
	for i, p := range points {
		if i < firstBars || i >= len(points)-lastBars || strings.HasSuffix(p.Name, ")") {
			fmt.Fprintf(&b, "\n%4d  %-34s%14s%12.4g", i+1, p.Name, fmt.Sprintf("%.1f ± %.1f", p.Y, p.CI95), p.LatencyUS)
		}
	}
	fmt.Fprintf(&b, "\n%d choices", len(points))
	return b.String()
}
