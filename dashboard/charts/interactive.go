package charts

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"drtmx/dashboard/charts/palette"
)

// Pixels around the panels of a timeline and between them.
const (
	marginTop    = 34
	marginBottom = 58 // the X axis' name and the legend
	legendRoom   = 18
	panelGap     = 34 // the next panel's name
)

// interactiveTimeline is the echarts form of Timeline and Lines. Only echarts'
// own JSON options are used, no functions, so that pages under a strict
// content policy can take it as data.
func interactiveTimeline(title string, x Axis, tracks []Track, marks []Mark, size Size) Renderer {
	line := charts.NewLine()
	looks := looksOf(tracks)
	names := drawnNames(tracks)
	line.SetGlobalOptions(
		charts.WithInitializationOpts(opts.Initialization{Width: px(size.Width), Height: px(size.Height), PageTitle: title}),
		charts.WithTitleOpts(titleOf(title, size)),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis", AxisPointer: &opts.AxisPointer{Type: "line"}}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(len(names) > 1), Bottom: "0", Type: "scroll", Data: names}),
		charts.WithColorsOpts(placeColours()),
		charts.WithAnimation(false),
	)
	line.XAxisList, line.YAxisList, line.GridList = nil, nil, nil
	top := marginTop
	if title != "" {
		top += 20
	}
	bottom := marginBottom
	if len(names) < 2 { // one name alone says nothing
		bottom -= legendRoom
	}
	panel := (size.Height - top - bottom - panelGap*(len(tracks)-1)) / max(len(tracks), 1)
	lo, hi := span(tracks, marks)
	factor, prefix := prefixOf(x, lo, hi)
	x = prefixed(x, prefix)
	for i := range tracks {
		line.GridList = append(line.GridList, opts.Grid{
			Left: "62", Right: strconv.Itoa(interactiveRight(tracks)), Top: strconv.Itoa(top + i*(panel+panelGap)), Height: strconv.Itoa(panel), ContainLabel: opts.Bool(false),
		})
		last := i == len(tracks)-1
		xa := panelX(x, i, last)
		if last {
			xa.Name = x.from(lo/factor, hi/factor)
		}
		if x.Names != nil {
			line.SetXAxis(x.Names) // the first axis has its names from here
			xa.Type, xa.Data, xa.Scale, xa.AxisLabel = "category", x.Names, nil, &opts.AxisLabel{Show: opts.Bool(last)}
		} else if lo < hi && (!x.Log || referred(tracks)) { // all panels the same span, whatever their series cover
			xa.Min, xa.Max = rounded(lo/factor), rounded(hi/factor)
		}
		line.XAxisList = append(line.XAxisList, xa)
	}
	var rights []opts.YAxis
	for i, t := range tracks {
		left, right := t.sides()
		f, p := prefixOf(t.Y, values(left)...)
		y := prefixed(t.Y, p)
		ya := opts.YAxis{Name: y.from(rounded(y.From/f), y.From/f), Type: axisType(y), GridIndex: i, NameLocation: "end", SplitNumber: 3,
			AxisLabel: &opts.AxisLabel{Show: opts.Bool(true)}, SplitLine: &opts.SplitLine{Show: opts.Bool(true)}}
		if y.From > 0 {
			ya.Min = rounded(y.From / f)
		}
		if top, steps := topOf(Track{Y: t.Y, Series: left, References: t.References}); top > 0 {
			ya.Max = rounded(top / f)
			if steps > 0 {
				ya.SplitNumber = steps
			}
		}
		line.YAxisList = append(line.YAxisList, ya)
		rightFactor, ra := rightAxis(t, right, i)
		for k, s := range t.Series {
			f, l := f, looks[s.Name].on(s)
			marked := markedPoints(s, k, len(t.Series), lo, hi)
			options := append(seriesOptions(i, s, l), dotsOrGround(s))
			if s.Right && t.Right != nil {
				f = rightFactor
				options = append(options, readOn(len(tracks)+len(rights)))
			}
			options = append(options, markers(s, l, marked, factor, f))
			if k == 0 && len(marks) > 0 {
				options = append(options, markLines(scaled(marks, factor), lo/factor, hi/factor, i == 0))
			} else if s.Band != nil {
				options = append(options, bandMarks(s, [2]bool{x.Log, y.Log}, factor, f, l.colour))
			} else if s.CI != nil && !y.Log {
				options = append(options, errorBars(s, t.Y.From, factor, f, l.colour))
			}
			line.AddSeries(s.Name, lineData(s, factor, f), options...)
		}
		if len(t.References) > 0 {
			line.AddSeries(published, referenceData(t.References, factor, f), referenceOptions(i, t.References, factor, f)...)
		}
		rights = append(rights, ra...)
	}
	line.YAxisList = append(line.YAxisList, rights...) // behind the left ones: a panel's has its number
	return line
}

// panelX is the X axis of a panel; only the last has a name and numbers.
func panelX(x Axis, panel int, last bool) opts.XAxis {
	xa := opts.XAxis{Type: axisType(x), GridIndex: panel, AxisLabel: &opts.AxisLabel{Show: opts.Bool(last), ShowMinLabel: opts.Bool(x.Log), ShowMaxLabel: opts.Bool(x.Log)},
		SplitLine: &opts.SplitLine{Show: opts.Bool(false)}, Scale: opts.Bool(true)}
	if x.Whole {
		xa.MinInterval = 1
	}
	if last {
		xa.NameLocation, xa.NameGap = "middle", 22
	}
	return xa
}

// titleOf is smaller where it would be wider than the chart: a character takes 0.6 of the font's size.
func titleOf(title string, size Size) opts.Title {
	fits := float64(size.Width) / (0.6 * float64(max(1, len([]rune(title)))))
	return opts.Title{Title: title, TitleStyle: &opts.TextStyle{FontSize: max(8, min(14, int(fits)))}}
}

// drawnNames are the series that have something to draw, once each: a percentile may have too few samples.
func drawnNames(tracks []Track) (names []string) {
	for _, t := range tracks {
		for _, s := range t.Series {
			if len(s.X) > 0 && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	if referred(tracks) {
		names = append(names, published)
	}
	return names
}

// values of all series, for the choice of a prefix.
func values(ss []Series) (out []float64) {
	for _, s := range ss {
		out = append(out, s.Y...)
	}
	return out
}

// prefixOf chooses the SI prefix of an axis of rates or sizes. Ticks are made in
// the browser, which without functions cannot write them with one.
func prefixOf(a Axis, vs ...float64) (factor float64, prefix string) {
	if a.Log || !strings.HasSuffix(a.Unit, "/s") && a.Unit != "bytes" {
		return 1, ""
	}
	hi := 0.0
	for _, v := range vs {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			hi = max(hi, math.Abs(v))
		}
	}
	for _, p := range []struct {
		of   float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if hi >= p.of {
			return p.of, p.name
		}
	}
	return 1, ""
}

func prefixed(a Axis, prefix string) Axis {
	switch {
	case prefix == "":
	case a.Unit == "1/s", a.Unit == "/s":
		a.Unit = prefix + "/s"
	default:
		a.Unit = prefix + " " + a.Unit
	}
	return a
}

func scaled(marks []Mark, factor float64) []Mark {
	out := make([]Mark, len(marks))
	for i, m := range marks {
		m.X /= factor
		out[i] = m
	}
	return out
}

// placeColours are what echarts gives to what has no look.
func placeColours() (out []string) {
	for i := range palette.Places {
		out = append(out, Colour(i))
	}
	return out
}

func seriesOptions(track int, s Series, l look) []charts.SeriesOpts {
	label := opts.Label{Show: opts.Bool(len(s.Labels) > 0), Formatter: "{@[2]}", Position: "left", Color: l.colour, FontSize: 10}
	return []charts.SeriesOpts{
		charts.WithLabelOpts(label),
		charts.WithLineChartOpts(opts.LineChart{XAxisIndex: track, YAxisIndex: track,
			ShowSymbol: opts.Bool(len(s.X) <= pointsMarked), Symbol: l.marker.Symbol(l.hollow), SymbolSize: markerSize}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: l.colour, Width: 2, Type: l.dash.Type}),
		charts.WithItemStyleOpts(opts.ItemStyle{Color: l.colour}),
	}
}

// markerSize is that of markers, in pixels.
const markerSize = 7

// markers are those of a line with too many points for one at each: echarts has no such
// thing without a function, but marks at points.
func markers(s Series, l look, at []int, x, y float64) charts.SeriesOpts {
	return func(o *charts.SingleSeries) {
		if len(s.X) <= pointsMarked || len(at) == 0 {
			return
		}
		var items []opts.MarkPointNameCoordItem
		for _, i := range at {
			items = append(items, opts.MarkPointNameCoordItem{Coordinate: []any{rounded(s.X[i] / x), rounded(s.Y[i] / y)}, Symbol: l.marker.Symbol(l.hollow), SymbolSize: markerSize})
		}
		charts.WithMarkPointNameCoordItemOpts(items...)(o)
		charts.WithMarkPointStyleOpts(opts.MarkPointStyle{Label: &opts.Label{Show: opts.Bool(false)}})(o)
	}
}

// errorBars draws the intervals, as far as they lie on an axis from from on; echarts has no
// bars of its own that need no function, but marks from one point to another.
func errorBars(s Series, from, x, y float64, colour string) charts.SeriesOpts {
	var items []opts.MarkLineNameCoordItem
	for i := range min(len(s.X), len(s.CI)) {
		if finite(s.X[i], s.Y[i]) && finite(s.CI[i], 0) && s.CI[i] > 0 {
			low, high := s.Y[i]-s.CI[i], s.Y[i]+s.CI[i]
			if s.Y[i] >= from {
				low = max(low, from)
			}
			items = append(items, opts.MarkLineNameCoordItem{
				Coordinate0: []any{rounded(s.X[i] / x), rounded(low / y)}, Coordinate1: []any{rounded(s.X[i] / x), rounded(high / y)},
			})
		}
	}
	return intervalMarks(items, colour)
}

func intervalMarks(items []opts.MarkLineNameCoordItem, colour string) charts.SeriesOpts {
	return func(o *charts.SingleSeries) {
		if len(items) > 0 {
			charts.WithMarkLineNameCoordItemOpts(items...)(o)
			charts.WithMarkLineStyleOpts(opts.MarkLineStyle{Symbol: []string{"none", "none"}, Label: &opts.Label{Show: opts.Bool(false)}, LineStyle: &opts.LineStyle{Color: colour, Type: "solid", Width: 1.5}})(o)
		}
	}
}

// markItem is a mark whose label may be aligned otherwise than those of the others.
type markItem struct {
	opts.MarkLineNameXAxisItem
	Label *opts.Label `json:"label,omitempty"`
}

// markLines puts the marks on the first series of each track; they are labelled
// in the first track. A label near the right edge ends at its line, or it would be cut off.
func markLines(marks []Mark, lo, hi float64, labelled bool) charts.SeriesOpts {
	var items []any
	for _, m := range marks {
		item := markItem{MarkLineNameXAxisItem: opts.MarkLineNameXAxisItem{Name: m.label(), XAxis: rounded(m.X)}}
		if m.X-lo > (hi-lo)*2/3 {
			item.Label = &opts.Label{Align: "right"}
		}
		items = append(items, item)
	}
	style := opts.MarkLineStyle{
		Symbol:    []string{"none", "none"},
		Label:     &opts.Label{Show: opts.Bool(labelled), Formatter: "{b}"},
		LineStyle: &opts.LineStyle{Color: palette.Mark, Type: "dashed", Width: 1},
	}
	return func(s *charts.SingleSeries) {
		charts.WithMarkLineStyleOpts(style)(s)
		s.MarkLines.Data = append(s.MarkLines.Data, items...)
	}
}

func lineData(s Series, x, y float64) []opts.LineData {
	out := []opts.LineData{}
	for i := range s.X {
		switch {
		case finite(s.X[i], s.Y[i]):
		case math.IsNaN(s.Y[i]) && finite(s.X[i], 0):
			out = append(out, opts.LineData{Value: []any{rounded(s.X[i] / x), nil}})
			continue
		default:
			continue
		}
		value := []any{rounded(s.X[i] / x), rounded(s.Y[i] / y)}
		if i < len(s.Labels) {
			value = append(value, s.Labels[i])
		}
		d := opts.LineData{Value: value}
		if i < len(s.Notes) {
			d.Name = s.Notes[i]
		}
		out = append(out, d)
	}
	return out
}

// rounded keeps six significant digits: more cannot be seen, and tooltips show
// numbers as they come.
func rounded(v float64) float64 {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 { // a payload of 1048576 bytes is no 1048580
		return v
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return r
}

func interactiveStacked(title string, y Axis, parts []Part, bars []Bars, size Size) Renderer {
	bar, x := charts.NewBar(), barX(y, bars, float64(size.Width-nameWidth(bars)-20))
	colours := make([]string, len(parts))
	for i, p := range parts {
		colours[i] = p.Colour
	}
	top := 10
	if title != "" {
		top += 28
	}
	bar.SetGlobalOptions(
		charts.WithInitializationOpts(opts.Initialization{Width: px(size.Width), Height: px(size.Height + top - 10), PageTitle: title}),
		charts.WithTitleOpts(titleOf(title, size)),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item"}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Bottom: "0", Type: "scroll"}),
		charts.WithColorsOpts(colours),
		charts.WithAnimation(false),
		charts.WithGridOpts(opts.Grid{Left: strconv.Itoa(nameWidth(bars)), Right: "20", Top: strconv.Itoa(top), Bottom: "66"}),
		charts.WithXAxisOpts(x),
		charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: barNames(bars), Inverse: opts.Bool(true)}),
	)
	end, _ := x.Max.(float64)
	pixels := float64(size.Width-nameWidth(bars)-20) / max(1.15*longest(bars), end)
	for p, part := range parts {
		var data []opts.BarData
		for _, b := range bars {
			d := opts.BarData{Name: b.Name, Value: b.Values[p]}
			if b.Values[p]*pixels >= float64(10+6*len([]rune(part.Name))) { // room for its name
				d.Label = &opts.Label{Show: opts.Bool(true), Formatter: "{a}", Color: palette.InkOn(part.Colour), FontSize: 11}
			}
			data = append(data, d)
		}
		options := []charts.SeriesOpts{charts.WithBarChartOpts(opts.BarChart{Stack: "all"}), charts.WithItemStyleOpts(opts.ItemStyle{Color: part.Colour})}
		if p == len(parts)-1 {
			options = append(options, barIntervals(bars))
		}
		bar.AddSeries(part.Name, data, options...)
	}
	if anyExpected(bars) {
		bar.Overlap(expectedLine(bars))
	}
	return bar
}

// barX is the axis along the bars. It ends behind their intervals, which do not count for
// echarts (see topOf), and behind the words at published numbers.
func barX(y Axis, bars []Bars, room float64) opts.XAxis {
	xa := opts.XAxis{Type: "value", Name: y.Title(), NameLocation: "middle", NameGap: 22}
	if hi := endOf(bars, room, 6); hi > longest(bars) {
		end, steps := roundEnd(hi)
		xa.Max, xa.SplitNumber = rounded(end), steps
	}
	return xa
}

// barIntervals draws them across the ends of the bars.
func barIntervals(bars []Bars) charts.SeriesOpts {
	var items []opts.MarkLineNameCoordItem
	for i, b := range bars {
		if low, high, ok := b.interval(); ok {
			items = append(items, opts.MarkLineNameCoordItem{Coordinate0: []any{rounded(low), i}, Coordinate1: []any{rounded(high), i}})
		}
	}
	return intervalMarks(items, palette.Interval)
}

// longest is the sum of the longest bar.
func longest(bars []Bars) float64 {
	hi := math.SmallestNonzeroFloat32
	for _, b := range bars {
		hi = max(hi, b.sum())
	}
	return hi
}

// nameWidth is the room for the names of the bars.
func nameWidth(bars []Bars) int {
	n := 4
	for _, b := range bars {
		n = max(n, len([]rune(b.Name)))
	}
	return min(16+7*n, 320)
}

func barNames(bars []Bars) []string {
	out := []string{}
	for _, b := range bars {
		out = append(out, b.Name)
	}
	return out
}

func axisType(a Axis) string {
	if a.Log {
		return "log"
	}
	return "value"
}

func px(n int) string { return fmt.Sprintf("%dpx", n) }
