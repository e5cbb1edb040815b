package charts

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"drtmx/dashboard/charts/canvas"
	"drtmx/dashboard/charts/palette"
)

// pixel is a CSS pixel.
const pixel = vg.Inch / 96

// Picture is the static form of a chart before a file format is chosen.
type Picture struct {
	width, height vg.Length
	draw          func(draw.Canvas)
	zoom          vg.Length // it is drawn so much larger or smaller; 0: as it is
	family        string    // of its text in PGF
}

// drawnFonts are what gonum/plot writes into an SVG, and whose widths it lays out with. Most computers
// do not have them but others of the same widths.
var drawnFonts = strings.NewReplacer("font-family:Liberation Sans", "font-family:Liberation Sans,Arial,Helvetica,sans-serif",
	"font-family:Liberation Serif", "font-family:Liberation Serif,Times New Roman,Times,serif", "font-family:Liberation Mono", "font-family:Liberation Mono,Courier New,monospace")

// SVG, PNG and PDF encode the picture.
func (p Picture) SVG() ([]byte, error) {
	c := vgsvg.New(p.size())
	b, err := p.encode(c, func(b *bytes.Buffer) error { _, err := c.WriteTo(b); return err })
	return []byte(drawnFonts.Replace(string(b))), err
}

// PNG is drawn at 192 dots per inch.
func (p Picture) PNG() ([]byte, error) {
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(p.size()), vgimg.UseDPI(192))}
	return p.encode(c, func(b *bytes.Buffer) error { _, err := c.WriteTo(b); return err })
}

// PDF embeds its fonts.
func (p Picture) PDF() ([]byte, error) {
	c := vgpdf.New(p.size())
	return p.encode(c, func(b *bytes.Buffer) error { _, err := c.WriteTo(b); return err })
}

// PGF is the picture for LaTeX: \usepackage{pgf} (or tikz) and \input the file. Its text
// is set by LaTeX, in the document's font unless a family is asked for.
func (p Picture) PGF() ([]byte, error) {
	w, h := p.size()
	t := canvas.NewTeX(w, h, p.family)
	p.draw(draw.New(p.sized(t)))
	return t.PGF()
}

// sized is the canvas of a file as the picture's own.
func (p Picture) sized(c vg.CanvasSizer) vg.CanvasSizer { return canvas.Zoomed(c, cmp.Or(p.zoom, 1)) }

// size of the picture in its file.
func (p Picture) size() (w, h vg.Length) {
	zoom := cmp.Or(p.zoom, 1)
	return p.width * zoom, p.height * zoom
}

func (p Picture) encode(c vg.CanvasSizer, write func(*bytes.Buffer) error) (out []byte, err error) {
	on := draw.New(p.sized(c))
	on.SetColor(color.White)
	on.Fill(on.Rectangle.Path())
	p.draw(on)
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	return b.Bytes(), nil
}

func drawTracks(title string, x Axis, tracks []Track, marks []Mark, size Size) string {
	return svg(tracksPicture(title, x, tracks, marks, sheet{Size: size}))
}

func drawStacked(title string, y Axis, parts []Part, bars []Bars, size Size) string {
	return svg(stackedPicture(title, y, parts, bars, sheet{Size: size}))
}

// svg is the picture as text; a chart that cannot be drawn says so in its
// place.
func svg(p Picture) string {
	b, err := p.SVG()
	if err != nil {
		return `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="40"><text x="4" y="24">` + err.Error() + `</text></svg>`
	}
	return string(b)
}

func tracksPicture(title string, x Axis, tracks []Track, marks []Mark, on sheet) Picture {
	looks := looksOf(tracks)
	lo, hi := span(tracks, marks)
	rows, titles := make([][]*plot.Plot, len(tracks)), make([]canvas.LogTitles, len(tracks))
	var names []legendItem
	named := map[string]bool{}
	for i, t := range tracks {
		p := newPlot(on.variant())
		twin := t.twin()
		t.Series = twin.onLeft(t.Series)
		if i == 0 {
			setTitle(p, title, on.Size)
		}
		if i == len(tracks)-1 {
			p.X.Label.Text = x.from(lo, hi)
		}
		p.X.Tick.Marker, p.Y.Tick.Marker = on.ticks(x, p), ticks(t.Y)
		var words labels
		for k, s := range t.Series {
			l := looks[s.Name].on(s)
			for _, piece := range s.pieces() {
				addBand(p, piece, l, x.Log, t.Y.Log)
				addSeries(p, piece, l, x.Log, t.Y.Log)
			}
			marked := markedPoints(s, k, len(t.Series), lo, hi)
			addMarkers(p, s, l, marked, x.Log, t.Y.Log)
			words.beside(s, marked, palette.RGBA(l.colour), x.Log, t.Y.Log)
			if !named[s.Name] && s.Name != "" {
				named[s.Name] = true
				names = append(names, legendItem{name: s.Name, colour: palette.RGBA(l.colour), line: &l})
			}
		}
		if len(t.References) > 0 {
			words.published(addReferences(p, t.References, lo, hi))
			names = append(names, legendItem{name: published, colour: palette.RGBA(palette.Thesis), line: &look{marker: palette.Diamond, hollow: true, dash: palette.Dashes[1]}})
		}
		scale(p, x, t.Y, lo, hi)
		twin.add(p)
		setSideTitle(p, t.Y.from(p.Y.Min, p.Y.Max), vg.Length(on.Size.Height)*pixel/vg.Length(len(tracks)))
		p.Add(words)
		addMarks(p, marks, i == 0)
		rows[i], titles[i] = []*plot.Plot{p}, canvas.TakeTitles(p, x.Log, t.Y.Log)
	}
	return on.picture(func(c draw.Canvas) {
		c = drawLegend(c, names, on.variant())
		tiles := draw.Tiles{Rows: len(rows), Cols: 1, PadX: 4, PadY: 6, PadTop: 6, PadBottom: 4, PadLeft: 4, PadRight: rightRoom(tracks)}
		for i, canvases := range plot.Align(rows, tiles, c) {
			rows[i][0].Draw(canvases[0])
			titles[i].Draw(rows[i][0], canvases[0])
		}
	})
}

// legendItem is a name under a picture, with a swatch or a piece of its line.
type legendItem struct {
	name   string
	colour color.RGBA
	line   *look        // nil: a swatch
	hatch  canvas.Hatch // of a swatch
}

const (
	legendRow    = 12 * vg.Length(1)
	legendSwatch = 18 * vg.Length(1)
)

// drawLegend writes the names below and returns the room above them. One name
// alone says nothing.
func drawLegend(c draw.Canvas, items []legendItem, variant font.Variant) draw.Canvas {
	if len(items) < 2 {
		return c
	}
	style := plot.New().Legend.TextStyle
	style.Font.Size, style.Font.Variant = 8, variant
	var rows [][]legendItem
	var widths []vg.Length
	for _, it := range items {
		w := legendSwatch + 4 + style.Width(it.name) + 10
		if n := len(rows); n == 0 || widths[n-1]+w > c.Size().X-8 {
			rows, widths = append(rows, nil), append(widths, 0)
		}
		n := len(rows) - 1
		rows[n], widths[n] = append(rows[n], it), widths[n]+w
	}
	for i, row := range rows {
		y := c.Min.Y + legendRow*vg.Length(len(rows)-1-i) + legendRow/2
		x := c.Min.X + (c.Size().X-widths[i])/2
		for _, it := range row {
			if it.line == nil {
				it.hatch.Fill(c, vg.Rectangle{Min: vg.Point{X: x, Y: y - 4}, Max: vg.Point{X: x + legendSwatch, Y: y + 4}}, it.colour)
			} else {
				c.StrokeLine2(draw.LineStyle{Color: it.colour, Width: 1.5, Dashes: it.line.dashes()}, x, y, x+legendSwatch, y)
				c.DrawGlyph(draw.GlyphStyle{Color: it.colour, Radius: 3, Shape: it.line.glyph()}, vg.Point{X: x + legendSwatch/2, Y: y})
			}
			c.FillText(style, vg.Point{X: x + legendSwatch + 4, Y: y - 3}, it.name)
			x += legendSwatch + 4 + style.Width(it.name) + 10
		}
	}
	return draw.Crop(c, 0, 0, legendRow*vg.Length(len(rows))+2, 0)
}

func newPlot(variant font.Variant) *plot.Plot {
	p := plot.New()
	small := func(s *text.Style, size vg.Length) { s.Font.Size, s.Font.Variant = font.Length(size), variant }
	small(&p.Title.TextStyle, 12)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		small(&a.Label.TextStyle, 10)
		small(&a.Tick.Label, 9)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = palette.RGBA(palette.Grid), palette.RGBA(palette.Grid)
	p.Add(grid)
	return p
}

// setTitle writes it smaller and in several lines where it would be wider than the
// picture, in a font that is a sixth wider too: a viewer of an SVG may not have ours, and its
// lines begin where ours would.
func setTitle(p *plot.Plot, title string, size Size) {
	p.Title.Text = title
	room := (vg.Length(size.Width)*pixel - 16) * 3 / 4
	if w := p.Title.TextStyle.Width(title); w > room {
		p.Title.TextStyle.Font.Size = max(9, p.Title.TextStyle.Font.Size*room/w)
		p.Title.Text = wrapped(title, func(line string) bool { return p.Title.TextStyle.Width(line) <= room })
		p.Title.Padding = 4
	}
}

// sideRoom is the share of a track's height that its axis has at least: the rest is title, names and the other axis.
const sideRoom = 0.6

// setSideTitle writes the title of the vertical axis of a track, smaller and in several lines where it would be longer than the axis:
// a plot makes room for a title that is too long, and nothing of its picture is left.
func setSideTitle(p *plot.Plot, title string, height vg.Length) {
	p.Y.Label.Text = title
	style, room := &p.Y.Label.TextStyle, sideRoom*height
	if w := style.Width(title); w > room {
		style.Font.Size = max(8, style.Font.Size*room/w)
		p.Y.Label.Text = wrapped(title, func(line string) bool { return style.Width(line) <= room })
	}
}

// wrapped breaks a text into lines that fit; a word that does not stands alone.
func wrapped(text string, fits func(line string) bool) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && !fits(line+" "+word) {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}

// span is the range of X over all tracks, so that they line up.
func span(tracks []Track, marks []Mark) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	add := func(x float64) { lo, hi = min(lo, x), max(hi, x) }
	for _, t := range tracks {
		for _, s := range t.Series {
			for i, x := range s.X {
				if finite(x, s.Y[i]) {
					add(x)
				}
			}
			s.reach(func(x, _ float64) { add(x) })
		}
	}
	for _, m := range marks {
		add(m.X)
	}
	for _, t := range tracks {
		for _, r := range t.References {
			if !math.IsNaN(r.X) {
				add(r.X)
			}
		}
	}
	if lo > hi {
		return 0, 1
	}
	return lo, hi
}

// scale sets the ranges: linear axes of quantities start at zero.
func scale(p *plot.Plot, x, y Axis, lo, hi float64) {
	if math.IsInf(hi, 0) {
		hi = lo
	}
	p.X.Min, p.X.Max = lo, max(hi, lo+1e-9)
	if x.Log {
		p.X.Scale = plot.LogScale{}
		p.X.Min = max(p.X.Min, 1e-12)
		p.X.Max = max(p.X.Max, p.X.Min*1.0001)
	}
	if x.Names != nil {
		p.X.Min, p.X.Max = -0.5, float64(len(x.Names))-0.5
	}
	if math.IsInf(p.Y.Min, 0) || math.IsInf(p.Y.Max, 0) {
		p.Y.Min, p.Y.Max = 0, 1
	}
	if y.Log {
		p.Y.Scale = plot.LogScale{}
		p.Y.Min, p.Y.Max = logRange(p.Y.Min, p.Y.Max)
		if y.From > 0 {
			p.Y.Min = y.From
		}
		if y.To > 0 {
			p.Y.Max = y.To
		}
		return
	}
	if p.Y.Min = min(0, p.Y.Min); y.From > 0 {
		p.Y.Min = y.From
	}
	p.Y.Max += 0.08 * (p.Y.Max - p.Y.Min)
	if y.To > 0 {
		p.Y.Max = y.To
	}
	if p.Y.Max <= p.Y.Min {
		p.Y.Max = p.Y.Min + 1
	}
}

// addSeries draws a line and its intervals.
func addSeries(p *plot.Plot, s Series, l look, logX, logY bool) {
	c := palette.RGBA(l.colour)
	var pts, measured plotter.XYs // all, and those with an interval
	var bars plotter.YErrors
	for i := range s.X {
		if !s.drawable(i, logX, logY) {
			continue
		}
		pts = append(pts, plotter.XY{X: s.X[i], Y: s.Y[i]})
		if i < len(s.CI) && finite(s.CI[i], 0) && s.CI[i] > 0 && !logY && s.Band == nil {
			measured = append(measured, pts[len(pts)-1])
			bars = append(bars, struct{ Low, High float64 }{s.CI[i], s.CI[i]})
		}
	}
	if len(pts) == 0 {
		return
	}
	line, err := plotter.NewLine(pts)
	if err != nil {
		return // NewLine refuses only NaN and infinity, which are left out above
	}
	line.Color, line.Width, line.Dashes = c, 1.5, l.dashes()
	if s.Filled {
		line.FillColor = paler(c)
	}
	if !s.Dots {
		p.Add(line)
	}
	if len(bars) > 0 {
		if e, err := plotter.NewYErrorBars(struct {
			plotter.XYer
			plotter.YErrorer
		}{measured, bars}); err == nil {
			e.Color = c
			p.Add(e)
		}
	}
}

// drawable says that a point has a place on the axes.
func (s Series) drawable(i int, logX, logY bool) bool {
	return finite(s.X[i], s.Y[i]) && (!logX || s.X[i] > 0) && (!logY || s.Y[i] > 0)
}

// addMarkers draws the markers of some points.
func addMarkers(p *plot.Plot, s Series, l look, at []int, logX, logY bool) {
	var pts plotter.XYs
	for _, i := range at {
		if s.drawable(i, logX, logY) {
			pts = append(pts, plotter.XY{X: s.X[i], Y: s.Y[i]})
		}
	}
	if len(pts) == 0 {
		return
	}
	points, err := plotter.NewScatter(pts)
	if err != nil {
		return // all are finite
	}
	points.GlyphStyle = draw.GlyphStyle{Color: palette.RGBA(l.colour), Radius: 3, Shape: l.glyph()}
	p.Add(points)
}

// addMarks draws vertical lines, and their labels at the top of the first track.
func addMarks(p *plot.Plot, marks []Mark, labelled bool) {
	var labels plotter.XYLabels
	for _, m := range marks {
		l, err := plotter.NewLine(plotter.XYs{{X: m.X, Y: p.Y.Min}, {X: m.X, Y: p.Y.Max}})
		if err != nil {
			continue
		}
		l.Color, l.Width, l.Dashes = palette.RGBA(palette.Mark), 1, []vg.Length{2, 2}
		p.Add(l)
		labels.XYs = append(labels.XYs, plotter.XY{X: m.X, Y: p.Y.Max})
		labels.Labels = append(labels.Labels, m.label())
	}
	if !labelled || len(labels.XYs) == 0 {
		return
	}
	texts, err := plotter.NewLabels(labels)
	if err != nil {
		return // the labels have as many places as texts
	}
	for i := range texts.TextStyle {
		texts.TextStyle[i].Font.Size, texts.TextStyle[i].Font.Variant = 8, p.Title.TextStyle.Font.Variant
		texts.TextStyle[i].YAlign = text.YTop
	}
	texts.Offset = vg.Point{X: 2}
	p.Add(texts)
}

// ticks labels with SI prefixes.
func ticks(a Axis) plot.Ticker {
	switch {
	case a.Names != nil:
		return plot.TickerFunc(func(_, _ float64) (out []plot.Tick) {
			for i, name := range a.Names {
				out = append(out, plot.Tick{Value: float64(i), Label: name})
			}
			return out
		})
	case a.Ticks != nil:
		return plot.TickerFunc(func(lo, hi float64) []plot.Tick { return a.own(lo, hi) })
	case a.Log && a.Unit == "bytes":
		return plot.TickerFunc(doublings)
	case a.Log:
		return plot.TickerFunc(decades)
	}
	if a.Whole {
		return plot.TickerFunc(func(lo, hi float64) []plot.Tick {
			return slices.DeleteFunc(roundTicks(lo, hi), func(t plot.Tick) bool { return t.Value != math.Trunc(t.Value) })
		})
	}
	return plot.TickerFunc(roundTicks)
}

// doublings are the powers of two from lo to hi, of which at most nine have labels.
func doublings(lo, hi float64) []plot.Tick {
	first, last := int(math.Ceil(math.Log2(lo)-1e-9)), int(math.Floor(math.Log2(hi)+1e-9))
	each := (last-first)/9 + 1
	var out []plot.Tick
	for k := first; k <= last; k++ {
		t := plot.Tick{Value: math.Ldexp(1, k)}
		if (k-first)%each == 0 {
			t.Label = binaryBytes(k)
		}
		out = append(out, t)
	}
	return out
}

// binaryBytes is two to the power of k with a binary prefix.
func binaryBytes(k int) string {
	switch {
	case k < 10:
		return fmt.Sprintf("%g", math.Ldexp(1, k))
	case k < 20:
		return fmt.Sprintf("%g Ki", math.Ldexp(1, k-10))
	}
	return fmt.Sprintf("%g Mi", math.Ldexp(1, k-20))
}

// tickText is SI without the prefixes of parts: ticks from 0 to 1 are halves, not
// "500 m" of something that is no metre.
func tickText(v float64) string {
	if a := math.Abs(v); a < 1 && a >= 1e-3 {
		return fmt.Sprintf("%.3g", v)
	}
	return SI(v)
}

// roundTicks are four to eight at multiples of 1, 2 or 5 times a power of ten.
func roundTicks(lo, hi float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/4)))
	for _, n := range []float64{5, 2} {
		if n*step <= (hi-lo)/4 {
			step *= n
			break
		}
	}
	var out []plot.Tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+step*1e-9; k++ {
		v := rounded(k*step) + 0 // never -0
		out = append(out, plot.Tick{Value: v, Label: tickText(v)})
	}
	return out
}

// addBarIntervals draws the intervals across the ends of the bars, of which the first is on top.
func addBarIntervals(p *plot.Plot, bars []Bars) {
	var ends plotter.XYs
	var halves plotter.XErrors
	for i, b := range bars {
		if low, high, ok := b.interval(); ok {
			ends = append(ends, plotter.XY{X: low, Y: float64(len(bars) - 1 - i)})
			halves = append(halves, struct{ Low, High float64 }{0, high - low})
		}
	}
	if len(ends) == 0 {
		return
	}
	e, err := plotter.NewXErrorBars(struct {
		plotter.XYer
		plotter.XErrorer
	}{ends, halves})
	if err != nil {
		return // all are finite
	}
	e.Color, e.CapWidth = palette.RGBA(palette.Interval), 4
	p.Add(e)
}

func stackedPicture(title string, y Axis, parts []Part, bars []Bars, on sheet) Picture {
	p := newPlot(on.variant())
	setTitle(p, title, on.Size)
	p.X.Label.Text = y.Title()
	p.X.Tick.Marker = ticks(y)
	names := make([]string, len(bars))
	// Three quarters of the room, which is what the axis and the legend leave.
	thickness := min(18, 0.75*vg.Length(on.Height-82)*pixel/vg.Length(max(len(bars), 1)))
	var below *plotter.BarChart
	var legend []legendItem
	for k, part := range parts {
		values := make(plotter.Values, len(bars))
		for i, b := range bars {
			// The first bar is drawn on top.
			values[len(bars)-1-i] = b.Values[k]
			names[len(bars)-1-i] = b.Name
		}
		b, err := plotter.NewBarChart(values, thickness)
		if err != nil {
			continue
		}
		b.Horizontal, b.Color, b.LineStyle.Width = true, palette.RGBA(part.Colour), 0
		if below != nil {
			b.StackOn(below)
		}
		p.Add(canvas.HatchedBars{BarChart: b, Hatch: canvas.Hatch(k)})
		legend = append(legend, legendItem{name: part.Name, colour: palette.RGBA(part.Colour), hatch: canvas.Hatch(k)})
		below = b
	}
	addBarIntervals(p, bars)
	if addExpected(p, bars) {
		legend = append(legend, legendItem{name: published, colour: palette.RGBA(palette.Thesis), line: &look{marker: palette.Diamond, hollow: true, dash: palette.Dashes[1]}})
	}
	if len(names) > 0 {
		p.NominalY(names...)
	}
	widest := vg.Length(0)
	for _, name := range names {
		widest = max(widest, p.Y.Tick.Label.Width(name))
	}
	room := vg.Length(on.Width)*pixel - widest - 30
	scale(p, y, Axis{}, 0, endOf(bars, float64(room), 4.4))
	p.Y.Min, p.Y.Max = -0.6, float64(len(bars))-0.4
	return on.picture(func(c draw.Canvas) {
		p.Draw(draw.Crop(drawLegend(c, legend, on.variant()), 4, -14, 2, -6))
	})
}
