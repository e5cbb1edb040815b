package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"drtmx/dashboard/charts/palette"
)

// Sketch is a picture so small that it has no words: what a gallery shows of a figure.
// It is written by hand, a few hundred bytes where a plot library writes tens of
// thousands of axes and letters that would be unreadable. One of its forms is drawn.
type Sketch struct {
	X, Y       Axis // whether they are logarithmic
	Series     []Series
	References []Reference
	Bars       []Bars
	Parts      []Part
	// Ratios are ranges around 1, where nothing is measured yet and what is published
	// compares two lines.
	Ratios [][2]float64
	Cells  [][]bool // of a table
}

// The size of a sketch and the room around what it shows, in pixels of its own.
const (
	sketchWidth  = 220.0
	sketchHeight = 124.0
	sketchRim    = 9.0

	sketchGrey = palette.Thesis
	sketchAxis = palette.Mark
)

// SVG is the picture.
func (s Sketch) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%[1]g" height="%g">`, sketchWidth, sketchHeight)
	switch {
	case s.Cells != nil:
		s.cells(&b)
	case s.Bars != nil:
		s.bars(&b)
	case s.Ratios != nil:
		s.ratios(&b)
	default:
		s.lines(&b)
	}
	b.WriteString("</svg>")
	return b.String()
}

// along is where a value is between two ends, from 0 to 1.
func along(v, lo, hi float64, log bool) float64 {
	if log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	if hi <= lo {
		return 0.5
	}
	return (v - lo) / (hi - lo)
}

// ends are those of an axis: linear quantities begin at 0 where from0 says so.
func ends(log, from0 bool, vs []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range vs {
		if finite(v, 0) && (!log || v > 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		return 1, 2
	}
	if from0 && !log {
		lo = min(lo, 0)
	}
	return lo, hi
}

// bounds are the ends of both axes over all that is shown.
func (s Sketch) bounds() (x0, x1, y0, y1 float64) {
	var xs, ys []float64
	for _, l := range s.Series {
		xs, ys = append(xs, l.X...), append(ys, l.Y...)
	}
	for _, r := range s.References {
		xs, ys = append(xs, r.X), append(ys, r.From, r.To)
	}
	x0, x1 = ends(s.X.Log, false, xs)
	y0, y1 = ends(s.Y.Log, true, ys)
	return x0, x1, y0, y1
}

func (s Sketch) lines(b *strings.Builder) {
	if len(s.Series)+len(s.References) == 0 {
		fmt.Fprintf(b, `<text x="%g" y="%g" text-anchor="middle" font-family="sans-serif" font-size="12" fill="%s">no published numbers</text>`, sketchWidth/2, sketchHeight/2, sketchGrey)
	}
	x0, x1, y0, y1 := s.bounds()
	at := func(x, y float64) (float64, float64) {
		return sketchRim + along(x, x0, x1, s.X.Log)*(sketchWidth-2*sketchRim), sketchHeight - sketchRim - along(y, y0, y1, s.Y.Log)*(sketchHeight-2*sketchRim)
	}
	fmt.Fprintf(b, `<path d="M4 %g V%g H%g" fill="none" stroke="%s"/>`, sketchRim/2, sketchHeight-4, sketchWidth-4, sketchAxis)
	looks := looksOf([]Track{{Series: s.Series}})
	for _, l := range s.Series {
		c := looks[l.Name].colour
		dash := ""
		if l.Variant > 0 {
			dash = ` stroke-dasharray="5 3"`
		}
		var path, dots strings.Builder
		pen := "M"
		for i, x := range l.X {
			if !l.drawn(i, s) {
				pen = "M"
				continue
			}
			px, py := at(x, l.Y[i])
			fmt.Fprintf(&path, "%s%.1f %.1f", pen, px, py)
			fmt.Fprintf(&dots, `<circle cx="%.1f" cy="%.1f" r="2.2" fill="%s"/>`, px, py, c)
			pen = "L"
		}
		fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="1.8"%s/>%s`, path.String(), c, dash, dots.String())
	}
	for _, r := range s.References {
		switch {
		case r.upright():
			x, _ := at(r.X, y1)
			fmt.Fprintf(b, `<path d="M%.1f %g V%g" stroke="%s" stroke-dasharray="3 2"/>`, x, sketchRim, sketchHeight-4, sketchGrey)
		case r.across():
			for _, v := range []float64{r.From, r.To} {
				_, y := at(x0, v)
				fmt.Fprintf(b, `<path d="M4 %.1f H%g" stroke="%s" stroke-dasharray="3 2"/>`, y, sketchWidth-4, sketchGrey)
			}
		default:
			x, y := at(r.X, r.To)
			_, from := at(r.X, r.From)
			fmt.Fprintf(b, `<path d="M%.1f %.1f V%.1f" stroke="%s"/>`, x, from, y, sketchGrey)
			sketchDiamond(b, x, (y+from)/2)
		}
	}
}

// drawn says that a point has a place.
func (l Series) drawn(i int, s Sketch) bool {
	return finite(l.X[i], l.Y[i]) && (!s.X.Log || l.X[i] > 0) && (!s.Y.Log || l.Y[i] > 0)
}

func sketchDiamond(b *strings.Builder, x, y float64) {
	fmt.Fprintf(b, `<path d="M%.1f %.1f l4 4 -4 4 -4 -4z" fill="none" stroke="%s" stroke-width="1.3"/>`, x, y-4, sketchGrey)
}

// bars are rows, the first on top.
func (s Sketch) bars(b *strings.Builder) {
	row := (sketchHeight - sketchRim) / float64(len(s.Bars))
	for i, bar := range s.Bars {
		x := 4.0
		for k, v := range bar.Values {
			w := v / longest(s.Bars) * (sketchWidth - sketchRim)
			if w > 0 && finite(w, 0) {
				fmt.Fprintf(b, `<path d="M%.1f %.1f h%.1f v%.1f h-%.1[3]fz" fill="%[5]s"/>`, x, sketchRim/2+row*float64(i), w, 0.76*row, s.Parts[k].Colour)
				x += w
			}
		}
	}
}

// ratios are ranges on a logarithmic axis, with 1 upright among them.
func (s Sketch) ratios(b *strings.Builder) {
	list := slices.Clone(s.Ratios)
	list = slices.DeleteFunc(list, func(r [2]float64) bool { return !finite(r[0], r[1]) || r[0] <= 0 || r[1] <= 0 }) // a logarithm has no 0
	lo, hi := 1.0, 1.0
	for _, r := range list {
		lo, hi = min(lo, r[0], r[1]), max(hi, r[0], r[1])
	}
	lo, hi = lo/1.1, hi*1.1
	x := func(v float64) float64 { return sketchRim + along(v, lo, hi, true)*(sketchWidth-2*sketchRim) }
	fmt.Fprintf(b, `<path d="M%.1f 4 V%g" stroke="%s" stroke-dasharray="3 2"/>`, x(1), sketchHeight-4, sketchAxis)
	row := (sketchHeight - sketchRim) / float64(len(s.Ratios))
	for i, r := range list {
		y := sketchRim/2 + row*(float64(i)+0.5)
		fmt.Fprintf(b, `<path d="M%.1f %.1f H%.1f" stroke="%s" stroke-width="1.6"/>`, x(r[0]), y, x(r[1]), sketchGrey)
		sketchDiamond(b, x(r[1]), y)
		if r[0] != r[1] {
			sketchDiamond(b, x(r[0]), y)
		}
	}
}

// cells are those of a table, filled where they say yes.
func (s Sketch) cells(b *strings.Builder) {
	row := (sketchHeight - sketchRim) / float64(max(1, len(s.Cells)))
	for i, cells := range s.Cells {
		column := (sketchWidth - sketchRim) / float64(max(1, len(cells)))
		for k, yes := range cells {
			fill := "none"
			if yes {
				fill = sketchAxis
			}
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" stroke="%s"/>`, 4+column*float64(k), sketchRim/2+row*float64(i), column-3, row-3, fill, sketchAxis)
		}
	}
}
