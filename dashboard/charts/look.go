package charts

import (
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"drtmx/dashboard/charts/palette"
)

// Colour is that of the i-th name.
func Colour(i int) string { return palette.Place(i).Colour }

// PhaseParts are phases as parts of a bar, with the colours that they have everywhere.
func PhaseParts(names []string) []Part {
	out := make([]Part, len(names))
	for i, n := range names {
		l, _ := palette.Phases.Of(n)
		out[i] = Part{Name: l.Label, Colour: l.Colour}
	}
	return out
}

// look is how a line is drawn.
type look struct {
	colour string
	marker palette.Marker
	hollow bool
	dash   palette.Dash
}

// looksOf gives each name its look, the same in every track: that of the running system
// or of the design that it is, that of the series that it belongs to, or the next place
// that no other has. When all places are taken they come again, dashed.
func looksOf(tracks []Track) map[string]look {
	base, taken := map[string]look{}, map[string]bool{}
	each := func(f func(s Series)) {
		for _, t := range tracks {
			for _, s := range t.Series {
				f(s)
			}
		}
	}
	each(func(s Series) {
		l, named := palette.Designs.Of(strings.ToLower(s.Name))
		if s.System != "" {
			l, named = palette.Systems.Of(s.System)
		}
		if named {
			base[s.Name], taken[l.Colour] = look{colour: l.Colour, marker: l.Marker}, true
		}
	})
	next := 0
	place := func(name string) {
		if _, has := base[name]; has {
			return
		}
		for n := next + palette.Places; next < n && taken[Colour(next)]; {
			next++
		}
		l := palette.Place(next)
		base[name] = look{colour: l.Colour, marker: l.Marker, dash: palette.Dashes[next/palette.Places%len(palette.Dashes)]}
		next++
	}
	each(func(s Series) {
		if s.Of == "" {
			place(s.Name)
		}
	})
	each(func(s Series) {
		if of, has := base[s.Of]; has && s.Of != "" {
			base[s.Name] = of
		}
		place(s.Name)
	})
	return base
}

// on is the look of one series among those of its name: another's line is dashed, and one
// of another experiment has a hollow marker too.
func (l look) on(s Series) look {
	switch last := len(palette.Dashes) - 1; {
	case s.Variant > 0:
		l.dash, l.hollow = palette.Dashes[1+(s.Variant-1)%last], s.Variant%last != 0
	case s.Dashed:
		l.dash = palette.Dashes[1]
	}
	return l
}

// glyph is the marker of a static picture.
func (l look) glyph() draw.GlyphDrawer { return glyph{l.marker.Outline(), l.hollow} }

// dashes of a static line, nil if it is solid.
func (l look) dashes() []vg.Length {
	var out []vg.Length
	for _, d := range l.dash.Pattern {
		out = append(out, vg.Length(d))
	}
	return out
}

// glyph draws a marker by its corners; without any it is a circle.
type glyph struct {
	corners [][2]float64
	hollow  bool
}

func (m glyph) DrawGlyph(c *draw.Canvas, g draw.GlyphStyle, at vg.Point) {
	var p vg.Path
	if m.corners == nil {
		p.Move(vg.Point{X: at.X + g.Radius, Y: at.Y})
		p.Arc(at, g.Radius, 0, 2*math.Pi)
	}
	for i, k := range m.corners {
		to := vg.Point{X: at.X + vg.Length(k[0])*g.Radius, Y: at.Y + vg.Length(k[1])*g.Radius}
		if i == 0 {
			p.Move(to)
		} else {
			p.Line(to)
		}
	}
	p.Close()
	if m.hollow {
		c.SetLineStyle(draw.LineStyle{Color: g.Color, Width: 1.2})
		c.Stroke(p)
		return
	}
	c.SetColor(g.Color)
	c.Fill(p)
}

// A line with more points than pointsMarked has a marker at some of them only, about
// markersPer along the axis.
const (
	pointsMarked = 30
	markersPer   = 8
)

// markedPoints are the points of a series that have a marker, the k-th of n in its track;
// the axis goes from lo to hi. Where they are depends on X alone, so markers move with
// their line when time goes on, and lines that cover each other have theirs at different
// places. A point with a gap on both sides always has one.
func markedPoints(s Series, k, n int, lo, hi float64) []int {
	var drawn []int
	for i := range s.X {
		if finite(s.X[i], s.Y[i]) {
			drawn = append(drawn, i)
		}
	}
	switch {
	case s.Filled:
		return nil
	case s.Dots || len(drawn) <= pointsMarked || hi <= lo:
		return drawn
	}
	step := math.Pow(2, math.Round(math.Log2((hi-lo)/markersPer)))
	cell := func(i int) float64 { return math.Floor(s.X[i]/step + float64(k)/float64(n)) }
	gap := func(i int) bool { return i < 0 || i >= len(s.X) || !finite(s.X[i], s.Y[i]) }
	var out []int
	for j, i := range drawn {
		if j > 0 && cell(i) != cell(drawn[j-1]) || gap(i-1) && gap(i+1) {
			out = append(out, i)
		}
	}
	return out
}
