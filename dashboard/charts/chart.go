package charts

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/go-echarts/go-echarts/v2/render"
)

// Renderer is a go-echarts chart: *charts.Line, *charts.Bar and so on.
type Renderer = render.Renderer

// Chart is one picture in two forms: an interactive one drawn by echarts in
// the reader's browser, and a static SVG for where scripts do not run (GitHub,
// untrusted notebooks, builds without echarts).
type Chart struct {
	title       string
	interactive Renderer // nil: static only
	svg         string   // "": interactive only
	x           Axis     // of the interactive form: its own ticks
}

// New makes a chart of its two forms, either of which may be missing. The
// title is the chart's text where no picture can be shown.
func New(title string, interactive Renderer, svg string) *Chart {
	if title == "" {
		title = "chart" // what shows text only must show something
	}
	return &Chart{title: title, interactive: interactive, svg: svg}
}

// Interactive returns the go-echarts form, nil if there is none. Change it as
// you like before the chart is shown.
func (c *Chart) Interactive() Renderer { return c.interactive }

// SVG returns the static form, "" if there is none.
func (c *Chart) SVG() string { return c.svg }

func (c *Chart) String() string { return c.title }

// Option returns the chart as the JavaScript object that echarts' setOption
// takes, "" for a static chart.
func (c *Chart) Option() string {
	if c.interactive == nil {
		return ""
	}
	return c.withTicks(strings.TrimSuffix(strings.TrimSpace(c.interactive.RenderSnippet().Option), ";"))
}

// Named is the chart with another text where no picture can be shown: of one whose title
// stands beside it.
func (c *Chart) Named(title string) *Chart {
	out := *c
	out.title = title
	return &out
}

// SimpleRender returns all forms of the chart. The kernel looks for this method.
func (c *Chart) SimpleRender() Bundle {
	b := Bundle{"text/plain": c.title, "text/html": c.HTML()}
	if c.svg != "" {
		b["image/svg+xml"] = c.svg
	}
	return b
}

// Show displays the chart below the running cell, for use in the middle of a
// cell; a chart in a cell's last line shows itself.
func (c *Chart) Show() { Display(c.SimpleRender()) }

// HTML returns a fragment that shows the static picture, until its script
// meets the chart library (see BringLibrary) and puts the interactive chart in
// its place. Fragment and library may come into a page in any order and more
// than once.
func (c *Chart) HTML() string {
	if c.interactive == nil || !HasLibrary() {
		return `<div class="drtmx-chart">` + c.still() + `</div>`
	}
	width, height, js := c.script()
	// The id is a digest of what is drawn: the same run gives the same file,
	// and two copies of one chart in a page are both drawn.
	sum := sha256.Sum256([]byte(js))
	id := hex.EncodeToString(sum[:8])
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="drtmx-chart" data-drtmx="%s" style="width:%s;max-width:100%%;min-height:%s">%s</div>`,
		id, html.EscapeString(width), html.EscapeString(height), c.still())
	fmt.Fprintf(&b, `<script>(function(){var d=window.drtmxEcharts=window.drtmxEcharts||{q:[]};`+
		`function f(echarts){document.querySelectorAll('[data-drtmx="%s"]').forEach(function(e){`+
		`if(e.drtmx)return;e.drtmx=1;e.innerHTML="";e.style.height=%q;%s})}`+
		`if(d.lib)f(d.lib);else d.q.push(f)})()</script>`, id, height, js)
	return b.String()
}

// still is the picture that needs no script.
func (c *Chart) still() string {
	if c.svg == "" {
		return `<em>` + html.EscapeString(c.title+": an interactive chart, which needs scripts and the echarts library") + `</em>`
	}
	return `<img alt="` + html.EscapeString(c.title) + `" style="max-width:100%" src="data:image/svg+xml;base64,` +
		base64.StdEncoding.EncodeToString([]byte(c.svg)) + `">`
}

var (
	scriptTag  = regexp.MustCompile(`(?s)^\s*<script[^>]*>(.*)</script>\s*$`)
	elementTag = regexp.MustCompile(`id="([^"]*)" style="width:([^;"]*);height:([^;"]*);`)
)

// script returns the chart's size and the code that draws it into the element
// e. go-echarts addresses elements by a random id, which would make two equal
// runs differ.
func (c *Chart) script() (width, height, js string) {
	s := c.interactive.RenderSnippet()
	js = s.Script
	if m := scriptTag.FindStringSubmatch(js); m != nil {
		js = m[1]
	}
	width, height = "900px", "500px"
	if m := elementTag.FindStringSubmatch(s.Element); m != nil {
		id := m[1]
		width, height = m[2], m[3]
		js = strings.ReplaceAll(js, "document.getElementById('"+id+"')", "e")
		js = strings.ReplaceAll(js, id, "chart")
	}
	js = strings.ReplaceAll(strings.TrimSpace(js), "</", `<\/`)
	return width, height, js + ";" + c.dressing() + `if(window.ResizeObserver)new ResizeObserver(function(){goecharts_chart.resize()}).observe(e);`
}
