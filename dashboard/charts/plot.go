package charts

import (
	"fmt"
	"math"
)

// Axis names what is measured along an axis.
type Axis struct {
	Label string
	Unit  string // shown in brackets; SI prefixes are chosen for it
	Log   bool   // logarithmic (base 10)
}

func (a Axis) title() string {
	if a.Unit == "" {
		return a.Label
	}
	return a.Label + " (" + a.Unit + ")"
}

// Series is one line of a chart. X and Y have the same length.
type Series struct {
	Name   string
	X, Y   []float64
	CI     []float64 // half-width of the 95 % interval of Y; nil: none
	Notes  []string  // shown at the points, e.g. the load; nil: none
	Dashed bool      // another's line: what would have been
}

// Mark is a vertical line: something happened at X.
type Mark struct {
	X    float64
	Text string
}

// Track is one of the panels of a Timeline that share the X axis.
type Track struct {
	Y      Axis
	Series []Series
}

// Bars is one group of stacked parts.
type Bars struct {
	Name   string
	Values []float64 // one per part
}

// palette is Okabe and Ito's: told apart by the colour-blind, on light and
// dark ground.
var palette = [...]string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#7F7F7F"}

func colour(i int) string { return palette[i%len(palette)] }

// Width and height in CSS pixels of charts whose builder is not told.
const (
	defaultWidth  = 760
	trackHeight   = 220
	defaultHeight = 380
)

// finite says that a point can be drawn.
func finite(x, y float64) bool {
	return !math.IsNaN(x) && !math.IsInf(x, 0) && !math.IsNaN(y) && !math.IsInf(y, 0)
}

// SI writes a quantity with three significant digits and a prefix: 12.3 M.
func SI(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprintf("%g", v)
	}
	prefixes := []struct {
		of   float64
		name string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}, {1e-3, " m"}, {1e-6, " µ"}}
	for _, p := range prefixes {
		if math.Abs(v) >= p.of*0.99995 {
			return fmt.Sprintf("%.3g%s", v/p.of, p.name)
		}
	}
	return fmt.Sprintf("%.3g", v)
}

// Lines draws series over a common X axis: a sweep, a figure, a throughput
// against latency curve.
func Lines(title string, x, y Axis, series []Series) *Chart {
	return New(title, interactiveTimeline(title, x, []Track{{y, series}}, nil, defaultHeight),
		drawTracks(title, x, []Track{{y, series}}, nil, defaultHeight))
}

// Timeline draws tracks one above the other on one time axis, with marks
// through all of them.
func Timeline(title string, x Axis, tracks []Track, marks []Mark) *Chart {
	h := 60 + trackHeight*len(tracks)
	return New(title, interactiveTimeline(title, x, tracks, marks, h), drawTracks(title, x, tracks, marks, h))
}

// Stacked draws bars of parts: where the time of a transaction goes, in one or
// several runs. parts names the values of each bar.
func Stacked(title string, y Axis, parts []string, bars []Bars) *Chart {
	return New(title, interactiveStacked(title, y, parts, bars), drawStacked(title, y, parts, bars))
}
