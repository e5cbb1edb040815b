package palette

import (
	"fmt"
	"strings"
)

// Marker is the sign at the points of a line.
type Marker string

// The markers, in the order in which series without a name of their own get them.
// Diamond is that of published numbers.
const (
	Circle   Marker = "circle"
	Square   Marker = "square"
	Triangle Marker = "triangle"
	Down     Marker = "down"
	Plus     Marker = "plus"
	Cross    Marker = "cross"
	Right    Marker = "right"
	Left     Marker = "left"
	Diamond  Marker = "diamond"
)

// outlines are the corners of markers in a square from -1 to 1 whose Y goes up; a circle
// has none.
var outlines = map[Marker][][2]float64{
	Square:   {{-0.85, -0.85}, {0.85, -0.85}, {0.85, 0.85}, {-0.85, 0.85}},
	Triangle: {{-1, -0.8}, {1, -0.8}, {0, 1}},
	Down:     {{-1, 0.8}, {1, 0.8}, {0, -1}},
	Plus:     {{-0.35, -1}, {0.35, -1}, {0.35, -0.35}, {1, -0.35}, {1, 0.35}, {0.35, 0.35}, {0.35, 1}, {-0.35, 1}, {-0.35, 0.35}, {-1, 0.35}, {-1, -0.35}, {-0.35, -0.35}},
	Cross:    {{-1, -0.5}, {-0.5, -1}, {0, -0.5}, {0.5, -1}, {1, -0.5}, {0.5, 0}, {1, 0.5}, {0.5, 1}, {0, 0.5}, {-0.5, 1}, {-1, 0.5}, {-0.5, 0}},
	Right:    {{-0.8, -1}, {1, 0}, {-0.8, 1}},
	Left:     {{0.8, -1}, {-1, 0}, {0.8, 1}},
	Diamond:  {{0, 1}, {1, 0}, {0, -1}, {-1, 0}},
}

// Outline returns the corners of a marker in a square from -1 to 1 whose Y goes up, nil
// for a circle.
func (m Marker) Outline() [][2]float64 { return outlines[m] }

// Symbol is the marker as echarts names it; a hollow one shows the ground through it.
func (m Marker) Symbol(hollow bool) string {
	s := "circle"
	if corners := outlines[m]; corners != nil {
		var b strings.Builder
		for i, c := range corners {
			fmt.Fprintf(&b, "%c%g %g", "ML"[min(i, 1)], 10+10*c[0], 10-10*c[1])
		}
		s = "path://" + b.String() + "Z"
	}
	if hollow {
		return "empty" + strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

// Sign is the marker as a character, for a page's text.
func (m Marker) Sign() string {
	return map[Marker]string{Circle: "●", Square: "■", Triangle: "▲", Down: "▼", Plus: "✚", Cross: "✖", Right: "▶", Left: "◀", Diamond: "◇"}[m]
}

// Dash is how a line is drawn: Pattern are the lengths of strokes and gaps in points, nil
// for a solid line, and Type is what echarts calls it.
type Dash struct {
	Type    string
	Pattern []float64
}

// Dashes by number: a ghost's line has the first that is not solid, and so has the first
// series that is drawn over another of its look.
var Dashes = [...]Dash{{"solid", nil}, {"dashed", []float64{5, 3}}, {"dotted", []float64{1.5, 2.5}}, {"dashed", []float64{8, 3, 1.5, 3}}}
