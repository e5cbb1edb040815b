package charts

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"drtmx/dashboard/charts/palette"
)

// HeatCell is what was measured at one place of a heat map.
type HeatCell struct {
	Value float64 // NaN: nothing
	CI    float64 // half-width of the 95 % interval; 0: none
	Why   string  // why there is no value
	Doubt string  // why the value is not to be trusted, as "not steady"; "": nothing is known against it
}

// HeatPanel is one of the heat maps of a chart. Its cells are by the place on Y, then by that on X.
type HeatPanel struct {
	Name  string // what tells it from the others; "" for one alone
	Cells [][]HeatCell
}

// HeatMap draws a value over two axes of choices: x.Names and y.Names are what was set, the first
// at the lower left. All panels have the same colours for the same values.
func HeatMap(title string, x, y, z Axis, panels []HeatPanel) *Chart {
	return HeatMapSized(Size{}, title, x, y, z, panels)
}

// HeatMapSized is HeatMap for a place of a known size.
func HeatMapSized(size Size, title string, x, y, z Axis, panels []HeatPanel) *Chart {
	size = size.or(defaultWidth, 0)
	if size.Height <= 100 {
		size.Height = HeatMapHeight(size.Width, len(y.Names), len(panels))
	}
	m := &heatMap{title: title, x: x, y: y, z: z, panels: panels}
	m.measure()
	return New(title, m.interactive(size), svg(m.picture(sheet{Size: size})))
}

// HeatMapHeight is what suits so many rows in so many panels at a width.
func HeatMapHeight(width, rows, panels int) int {
	columns := heatColumns(width, panels)
	panel := min(max(38*rows, 120), 420) + heatHead + heatFoot
	return min(heatTop+heatBottom+panel*((panels+columns-1)/max(columns, 1)), 4000)
}

// heatMap is a chart on its way to either form.
type heatMap struct {
	title   string
	x, y, z Axis
	panels  []HeatPanel
	lo, hi  float64 // the ends of the colours
	doubts  bool    // some value is not to be trusted
	holes   bool    // some place has no value
}

// measure finds the ends of the colours, and what the legend has to explain.
func (m *heatMap) measure() {
	m.lo, m.hi = math.Inf(1), math.Inf(-1)
	for _, p := range m.panels {
		for _, row := range p.Cells {
			for _, c := range row {
				if !finite(c.Value, 0) {
					m.holes = true
					continue
				}
				m.lo, m.hi, m.doubts = min(m.lo, c.Value), max(m.hi, c.Value), m.doubts || c.Doubt != ""
			}
		}
	}
	if m.lo > m.hi {
		m.lo, m.hi = 0, 1
	}
}

// colour of a value, between those of the palette's scale.
func (m *heatMap) colour(v float64) string {
	scale, at := palette.Utilisation, 0.5
	if m.hi > m.lo {
		at = (v - m.lo) / (m.hi - m.lo)
	}
	at *= float64(len(scale) - 1)
	i := min(int(at), len(scale)-2)
	return palette.Between(scale[i], scale[i+1], at-float64(i))
}

// short is a value as it stands in a cell.
func (m *heatMap) short(v float64) string {
	if strings.HasSuffix(m.z.Unit, "/s") || m.z.Unit == "bytes" {
		return SI(v)
	}
	return Digits(v, 3)
}

// long is a value with its unit.
func (m *heatMap) long(v float64) string {
	if m.z.Unit == "1/s" {
		return SI(v) + "/s"
	}
	return strings.TrimSpace(m.short(v) + " " + m.z.Unit)
}

// words say all there is to say of a cell.
func (m *heatMap) words(p HeatPanel, row, column int) string {
	set := func(a Axis, i int) string {
		return strings.TrimSpace(fmt.Sprintf("%s = %s %s", a.Label, a.Names[i], a.Unit))
	}
	out := set(m.x, column) + ", " + set(m.y, row)
	if p.Name != "" {
		out += ", " + p.Name
	}
	return out + ": " + m.z.Label + " " + m.said(p.Cells[row][column])
}

// HeatText is a cell in words: its value with unit and interval and what is against it, or why there
// is none.
func HeatText(z Axis, c HeatCell) string { return (&heatMap{z: z}).said(c) }

func (m *heatMap) said(c HeatCell) string {
	if !finite(c.Value, 0) {
		if c.Why == "" {
			return "no value"
		}
		return "no value: " + c.Why
	}
	out := m.long(c.Value)
	if c.CI > 0 && finite(c.CI, 0) {
		out += " ± " + m.long(c.CI)
	}
	if c.Doubt != "" {
		out += ", " + c.Doubt
	}
	return out
}

// explained is what the legend says beside the colours.
func (m *heatMap) explained() string {
	var out []string
	if m.holes {
		out = append(out, "hatched: no value")
	}
	if m.doubts {
		out = append(out, "framed or ?: in doubt, as not steady")
	}
	return strings.Join(out, "; ")
}

// Pixels around the panels of a heat map.
const (
	heatTop    = 38 // the title and what the signs mean
	heatBottom = 40 // the colours
	heatHead   = 22 // the name of Y over a panel
	heatFoot   = 40 // ticks and the name of X
	heatPanel  = 320
)

// heatColumns is how many panels stand side by side.
func heatColumns(width, panels int) int { return min(max(width/heatPanel, 1), max(panels, 1)) }

// box is a place in CSS pixels from the top left.
type box struct{ left, top, width, height int }

// boxes are the places of the panels' cells.
func (m *heatMap) boxes(size Size) []box {
	columns := heatColumns(size.Width, len(m.panels))
	rows := (len(m.panels) + columns - 1) / columns
	left := 22
	for _, name := range m.y.Names {
		left = max(left, min(14+7*utf8.RuneCountInString(name), 150))
	}
	w, h := (size.Width-8)/columns, (size.Height-heatTop-heatBottom)/max(rows, 1)
	var out []box
	for i := range m.panels {
		out = append(out, box{4 + i%columns*w + left, heatTop + i/columns*h + heatHead, max(w-left-14, 20), max(h-heatHead-heatFoot, 20)})
	}
	return out
}

// fits says whether a text has room in a cell of a panel.
func (m *heatMap) fits(b box, text string) bool {
	return 6*utf8.RuneCountInString(text)+4 <= b.width/max(len(m.x.Names), 1) && 15 <= b.height/max(len(m.y.Names), 1)
}

// head is what stands over a panel: the name of its Y axis, and its own.
func (m *heatMap) head(p HeatPanel) string {
	if p.Name == "" {
		return m.y.Title()
	}
	return m.y.Title() + "; " + p.Name
}
