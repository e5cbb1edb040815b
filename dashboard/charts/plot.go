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
	// From is where a Y axis begins. Quantities begin at zero; set it
	// where a change of a few percent is what one wants to see.
	From  float64
	To    float64 // where a Y axis ends, such as 1 for a share; 0: behind the largest value
	Whole bool    // an X axis of counts: nothing is marked between them
	// Names make an X axis one of choices: they stand at 0, 1, 2 and so on, and nothing is between.
	Names []string
	// Ticks are where an X axis is marked, in full: the values that were measured. nil:
	// where round numbers are.
	Ticks []float64
}

// Title is its name with the unit.
func (a Axis) Title() string {
	if a.Unit == "" {
		return a.Label
	}
	return a.Label + " (" + a.Unit + ")"
}

// from is the title of an axis that begins at v: a reader takes a length for a quantity, so an
// axis that does not begin at 0 says so.
// One that ends at hi begins at 0 as far as can be seen if less than a hundredth of it is left out.
func (a Axis) from(v, hi float64) string {
	switch {
	case a.Names != nil:
		return a.Title()
	case a.Log:
		return a.Title() + ", log scale"
	case v > hi/100:
		return a.Title() + ", axis from " + begin(v)
	}
	return a.Title()
}

// begin writes where an axis begins.
func begin(v float64) string {
	if v < 1 {
		return fmt.Sprintf("%.3g", v)
	}
	if v < 1000 {
		return Digits(v, 3)
	}
	return SI(v)
}

// Series is one line of a chart. X and Y have the same length. Where Y is NaN the
// line has a gap.
type Series struct {
	Name   string
	X, Y   []float64
	CI     []float64 // half-width of the 95 % interval of Y; nil: none
	Band   []Between // of each point, drawn in place of the intervals; nil: none
	Notes  []string  // shown at the points, e.g. the load; nil: none
	Labels []string  // written at the points, a few letters each; nil: none
	Dashed bool      // another's line: what would have been
	// System is the running system that it is of, "a" to "d": it has the system's colour
	// and marker. "": those of the design that its name is, else of its place.
	System string
	// Variant tells series of other experiments that are drawn over these apart: each
	// number has a dash of its own, and a hollow marker. 0: it is none. Of is the series
	// whose colour and marker it takes.
	Variant int
	Of      string
	// Dots draws the points without a line, Filled the ground below the line without points.
	Dots, Filled bool
	// Right says that Y is read on the right axis of the track.
	Right bool
}

// pieces are the parts of the line between its gaps.
func (s Series) pieces() []Series {
	var out []Series
	from := 0
	for i := 0; i <= len(s.X); i++ {
		if i < len(s.X) && !math.IsNaN(s.Y[i]) {
			continue
		}
		if from < i {
			p := s
			p.X, p.Y = s.X[from:i], s.Y[from:i]
			if p.CI != nil {
				p.CI = s.CI[min(from, len(s.CI)):min(i, len(s.CI))]
			}
			p.Band = s.Band[min(from, len(s.Band)):min(i, len(s.Band))]
			p.Labels = s.Labels[min(from, len(s.Labels)):min(i, len(s.Labels))]
			out = append(out, p)
		}
		from = i + 1
	}
	return out
}

// Reference is a published number that is drawn over what was measured.
type Reference struct {
	Text string // what stands at it; short
	// X is where it was measured. NaN: it is a line across.
	X float64
	// From and To are the number, or the ends of its range. NaN: the number is X, and
	// a line upright.
	From, To float64
}

// Mark is a vertical line: something happened at X.
type Mark struct {
	X     float64
	Text  string // all there is to say
	Label string // what stands at the line; "": as much of Text as there is room for
}

// label is what stands at the line.
func (m Mark) label() string {
	if m.Label != "" {
		return m.Label
	}
	if r := []rune(m.Text); len(r) > markText {
		return string(r[:markText-1]) + "…"
	}
	return m.Text
}

const markText = 24

// Track is one of the panels of a Timeline that share the X axis.
type Track struct {
	Y          Axis
	Series     []Series
	References []Reference
	Right      *Axis // of the series that are read on the right; nil: none
}

// Part names one part of stacked bars.
type Part struct {
	Name   string
	Colour string // #rrggbb; "": by its place
}

// Bars is one group of stacked parts.
type Bars struct {
	Name   string
	Values []float64 // one per part
	CI     float64   // half-width of the 95 % interval of their sum; 0: none
	// Low and High are the ends of the band of the sum, drawn in place of the interval; both 0: none.
	Low, High float64
	// Expected are published numbers of its parts.
	Expected []Expected
}

// Expected is a published number of a part of a bar: the part begins at From and would end at To.
type Expected struct {
	Text     string // what stands beside the bar; short
	From, To float64
}

// interval is what is drawn across the end of a bar: its band, or its interval.
func (b *Bars) interval() (low, high float64, ok bool) {
	if b.Low != 0 || b.High != 0 {
		return min(b.Low, b.High), max(b.Low, b.High), finite(b.Low, b.High)
	}
	end := b.sum()
	return max(0, end-b.CI), end + b.CI, finite(end, b.CI) && b.CI > 0
}

// sum is where the bar ends.
func (b Bars) sum() (sum float64) {
	for _, v := range b.Values {
		sum += v
	}
	return sum
}

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
		if math.Abs(v) >= p.of*0.9995 { // which three digits round up to it
			return fmt.Sprintf("%.3g%s", v/p.of, p.name)
		}
	}
	return fmt.Sprintf("%.3g", v)
}

// Digits writes a number with so many significant digits, and all of those before the point: where
// no prefix shortens it 1,100 is 1100 and not 1.1e+03.
func Digits(v float64, significant int) string {
	if a := math.Abs(v); a >= math.Pow10(significant)-0.5 && a < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.*g", significant, v)
}

// Bytes writes a size: powers of two with a binary prefix.
func Bytes(v float64) string {
	if k := math.Log2(v); v >= 1 && k == math.Trunc(k) {
		return binaryBytes(int(k))
	}
	return fmt.Sprintf("%g", v)
}

// Size of a picture in CSS pixels; a zero takes what suits the chart.
type Size struct{ Width, Height int }

func (s Size) or(width, height int) Size {
	if s.Width <= 0 {
		s.Width = width
	}
	if s.Height <= 0 {
		s.Height = height
	}
	return Size{min(max(s.Width, 240), 4000), min(max(s.Height, 100), 4000)}
}

// Lines draws series over a common X axis: a sweep, a figure, a throughput
// against latency curve.
func Lines(title string, x, y Axis, series []Series) *Chart {
	return LinesSized(Size{}, title, x, y, series, nil)
}

// LinesSized is Lines for a place of a known size, with published numbers over them.
func LinesSized(size Size, title string, x, y Axis, series []Series, refs []Reference) *Chart {
	return tracksChart(size.or(defaultWidth, defaultHeight), title, x, []Track{{Y: y, Series: series, References: refs}}, nil)
}

// Timeline draws tracks one above the other on one time axis, with marks
// through all of them.
func Timeline(title string, x Axis, tracks []Track, marks []Mark) *Chart {
	return TimelineSized(Size{}, title, x, tracks, marks)
}

// TimelineSized is Timeline for a place of a known size.
func TimelineSized(size Size, title string, x Axis, tracks []Track, marks []Mark) *Chart {
	return tracksChart(size.or(defaultWidth, 60+trackHeight*len(tracks)), title, x, tracks, marks)
}

func tracksChart(size Size, title string, x Axis, tracks []Track, marks []Mark) *Chart {
	c := New(title, interactiveTimeline(title, x, tracks, marks, size), drawTracks(title, x, tracks, marks, size))
	c.x = x
	return c
}

// Stacked draws bars of parts: where the time of a transaction goes, in one or
// several runs. parts names the values of each bar.
func Stacked(title string, y Axis, parts []string, bars []Bars) *Chart {
	named := make([]Part, len(parts))
	for i, n := range parts {
		named[i].Name = n
	}
	return StackedSized(Size{}, title, y, named, bars)
}

// StackedSized is Stacked with colours, for a place of a known size.
func StackedSized(size Size, title string, y Axis, parts []Part, bars []Bars) *Chart {
	coloured := make([]Part, len(parts))
	for i, p := range parts {
		if p.Colour == "" {
			p.Colour = Colour(i)
		}
		coloured[i] = p
	}
	size = size.or(defaultWidth, StackedHeight(len(bars)))
	return New(title, interactiveStacked(title, y, coloured, bars, size), drawStacked(title, y, coloured, bars, size))
}

// StackedHeight is what suits so many bars: their own, the axis' and the legend's.
func StackedHeight(bars int) int { return 82 + 42*max(bars, 1) }

// Ranking is Stacked for many bars, each thinner, in their order from the top.
func Ranking(title string, y Axis, parts []Part, bars []Bars) *Chart {
	return RankingSized(Size{}, title, y, parts, bars)
}

// RankingSized is Ranking for a place of a known width; its height follows.
func RankingSized(size Size, title string, y Axis, parts []Part, bars []Bars) *Chart {
	return StackedSized(Size{Width: size.Width, Height: rankingSize(len(bars)).Height}, title, y, parts, bars)
}

func rankingSize(bars int) Size { return Size{defaultWidth, 82 + 26*max(bars, 1)} }

// Table draws cells as text, of which the first row and the first column are heads.
func Table(title string, rows [][]string) *Chart {
	return New(title, nil, svg(tablePicture(title, rows, Style{})))
}
