package diagram

import (
	"fmt"
	"html"
	"math"
	"strings"

	"drtmx/dashboard/charts/palette"
)

// Options of a drawing. The zero value is a picture that stands alone.
type Options struct {
	Width int  // in CSS pixels; 0: 900
	Zoom  int  // how many times as wide a timeline is than Width, for the page, which scrolls it; 0: once
	Bare  bool // for the page: no ground, the text's colour from around it, tips as data-tip
}

func (o Options) width() float64 {
	if o.Width <= 0 {
		return 900
	}
	return float64(min(max(o.Width, 300), 12_000))
}

// drawing is an SVG that grows downwards.
type drawing struct {
	b    strings.Builder
	bare bool
	part string // of a machine, which the page opens on a click; "": nothing to open
	w, h float64
}

func newDrawing(o Options) *drawing { return &drawing{bare: o.Bare, w: o.width()} }

// The colours that are not a phase's or a milestone's.
const (
	soft     = `fill-opacity="0.68"`
	hotColor = palette.Hot // as the page outlines what is saturated
)

// text writes at a baseline; more are further attributes.
func (d *drawing) text(x, y float64, s string, more ...string) {
	fmt.Fprintf(&d.b, `<text x="%.1f" y="%.1f" pointer-events="none" %s>%s</text>`, x, y, strings.Join(more, " "), html.EscapeString(s))
}

// rect draws a box; an empty tip says nothing.
func (d *drawing) rect(x, y, w, h float64, fill, tip string, more ...string) {
	about, title := d.tip(tip)
	fmt.Fprintf(&d.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"%s %s>%s</rect>`, x, y, math.Max(w, 0), h, fill, about, strings.Join(more, " "), title)
}

// tip is what a pointer can ask a shape for: an attribute of it or an element in it.
func (d *drawing) tip(words string) (attribute, element string) {
	switch {
	case words == "":
		return "", ""
	case d.bare && d.part != "":
		return ` data-part="` + d.part + `" tabindex="0" role="button" aria-label="` + html.EscapeString(words) + `" data-tip="` + html.EscapeString(words) + `; a click shows the requests that wait here"`, ""
	case d.bare:
		return ` data-tip="` + html.EscapeString(words) + `"`, ""
	}
	return "", "<title>" + html.EscapeString(words) + "</title>"
}

// step puts what draw draws together as something that the page goes through, in the order of at: it says the words.
func (d *drawing) step(at float64, verb int, words string, draw func()) {
	if d.bare {
		fmt.Fprintf(&d.b, `<g data-step="%s" data-at="%.3f" data-verb="%d">`, html.EscapeString(words), at, verb)
		defer d.b.WriteString("</g>")
	}
	draw()
}

func (d *drawing) line(x1, y1, x2, y2 float64, more ...string) {
	fmt.Fprintf(&d.b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="currentColor" %s/>`, x1, y1, x2, y2, strings.Join(more, " "))
}

// svg is the whole; about is its description for readers that do not see it.
func (d *drawing) svg(about string) string {
	ground, colour := fmt.Sprintf(`<rect width="%.0f" height="%.0f" fill="%s"/>`, d.w, d.h, palette.LightInk), ` color="`+palette.DarkInk+`"`
	if d.bare {
		ground, colour = "", ""
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="system-ui, sans-serif" font-size="12" fill="currentColor" role="img" aria-label="%s"%s>%s%s</svg>`,
		d.w, d.h, d.w, d.h, html.EscapeString(about), colour, ground, d.b.String())
}

// wide is about how many pixels a text of 12 takes.
func wide(s string) float64 { return 6.6 * float64(len([]rune(s))) }

// micros writes a time of some nanoseconds.
func micros(ns float64) string {
	switch {
	case ns < 1000:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 10_000:
		return fmt.Sprintf("%.2f µs", ns/1e3)
	case ns < 1e6:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	}
	return fmt.Sprintf("%.2f ms", ns/1e6)
}

// key is a row of coloured squares with their names, as many rows as they need.
func (d *drawing) key(items [][2]string) {
	x := 8.0
	for _, it := range items {
		w := 26 + wide(it[1])
		if x+w > d.w && x > 8 {
			x, d.h = 8, d.h+18
		}
		d.rect(x, d.h, 11, 11, it[0], "")
		d.text(x+15, d.h+10, it[1], `font-size="11.5"`)
		x += w
	}
	d.h += 20
}
