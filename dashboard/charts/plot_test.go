package charts

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"drtmx/dashboard/charts/palette"
)

func TestBuildersHaveBothForms(t *testing.T) {
	s := []Series{{Name: "DrTM+H", X: []float64{1, 2, 4}, Y: []float64{1e6, 2e6, 3e6}, CI: []float64{1e4, 1e4, 1e4}}, {Name: "ghost", X: []float64{1, 2}, Y: []float64{5e5, 6e5}, Dashed: true}}
	for _, c := range []*Chart{
		Lines("sweep", Axis{Label: "coroutines"}, Axis{Label: "throughput", Unit: "txn/s"}, s),
		Timeline("live", Axis{Label: "time", Unit: "ms"}, []Track{{Y: Axis{Label: "throughput"}, Series: s}, {Y: Axis{Label: "latency", Unit: "µs", Log: true}, Series: s}}, []Mark{{X: 2, Text: "phase.commit"}}),
		Stacked("where", Axis{Label: "latency", Unit: "µs"}, []string{"execution", "lock"}, []Bars{{Name: "A", Values: []float64{1, 2}}, {Name: "B", Values: []float64{2, 1}}}),
	} {
		if !strings.Contains(c.SVG(), "<svg") || strings.Contains(c.SVG(), "NaN") {
			t.Errorf("%s: no good svg", c)
		}
		if !strings.Contains(c.Option(), "series") {
			t.Errorf("%s: no option", c)
		}
	}
}

// Charts of runs without a single commit, or with one point, must still draw.
func TestBuildersTakeEmptyAndDegenerateData(t *testing.T) {
	for _, s := range [][]Series{nil, {{Name: "a"}}, {{Name: "a", X: []float64{1}, Y: []float64{0}}}} {
		for _, log := range []bool{false, true} {
			if c := Lines("x", Axis{Log: log}, Axis{Log: log}, s); !strings.Contains(c.SVG(), "<svg") {
				t.Errorf("log %v, series %v: no svg", log, s)
			}
		}
	}
	Stacked("none", Axis{}, nil, nil)
}

func TestSI(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 12.3e6: "12.3 M", 999: "999", 999.6: "1 k", 999.6e3: "1 M", 1e12: "1 T", -1e12: "-1 T", 1e-9: "1e-09", 1500: "1.5 k", 0.002: "2 m"} {
		if got := SI(v); got != want {
			t.Errorf("SI(%g) = %q, want %q", v, got, want)
		}
	}
}

func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1.2345: "1.23", 999.4: "999", 999.5: "1000", 1100: "1100", -123456.7: "-123457", 1e12: "1000000000000", 1e15: "1e+15", 1e-9: "1e-09"} {
		if got := Digits(v, 3); got != want {
			t.Errorf("Digits(%g, 3) = %q, want %q", v, got, want)
		}
	}
}

func TestTickText(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.5: "0.5", -0.25: "-0.25", 0.0004: "400 µ", 2e6: "2 M"} {
		if got := tickText(v); got != want {
			t.Errorf("tickText(%g) = %q, want %q", v, got, want)
		}
	}
}

func TestGaps(t *testing.T) {
	nan := math.NaN()
	s := Series{Name: "a", X: []float64{1, 2, 3, 4, 5, 6}, Y: []float64{nan, 7, 8, nan, nan, 9}, CI: []float64{1, 2, 3, 4, 5, 6}}
	ps := s.pieces()
	if len(ps) != 2 || !slices.Equal(ps[0].Y, []float64{7, 8}) || !slices.Equal(ps[0].CI, []float64{2, 3}) || !slices.Equal(ps[1].X, []float64{6}) {
		t.Errorf("pieces %+v", ps)
	}
	c := Lines("", Axis{}, Axis{}, []Series{s})
	if !strings.Contains(c.Option(), "[4,null]") {
		t.Errorf("no gap in %s", c.Option())
	}
}

// Labels stand at their points, in both forms, and a gap takes its own along.
func TestLabels(t *testing.T) {
	s := Series{Name: "A", X: []float64{1, 2, 3}, Y: []float64{5, math.NaN(), 7}, Labels: []string{"one", "gap", "sixteen"}}
	c := Lines("", Axis{}, Axis{}, []Series{s, {Name: "B", X: []float64{1}, Y: []float64{2}}})
	if o := c.Option(); !strings.Contains(o, `[1,5,"one"]`) || !strings.Contains(o, `[3,7,"sixteen"]`) {
		t.Errorf("no labels in %s", o)
	}
	if svg := c.SVG(); !strings.Contains(svg, "one<") || !strings.Contains(svg, "sixteen<") || strings.Contains(svg, "gap<") {
		t.Errorf("labels of the picture: %s", svg)
	}
}

// Words on bars can be read on every colour of the palette.
func TestInkCanBeRead(t *testing.T) {
	if v := palette.Contrast("#000000", "#ffffff"); v != 21 {
		t.Errorf("black on white has a contrast of %g", v)
	}
	for _, ground := range slices.Concat(placeColours(), looked(palette.Phases), looked(palette.Milestones)) {
		if v := palette.Contrast(ground, palette.InkOn(ground)); v < 4.5 {
			t.Errorf("%s on %s has a contrast of %.2g, below 4.5", palette.InkOn(ground), ground, v)
		}
	}
}

// looked are the colours of a table.
func looked(t *palette.Table) (out []string) {
	for _, n := range t.Names() {
		l, _ := t.Of(n)
		out = append(out, l.Colour)
	}
	return out
}

// Choices are no quantities: their names stand at the axis, and no tick between them.
func TestChoices(t *testing.T) {
	c := Lines("over ddio", Axis{Label: "ddio", Names: []string{"true", "false"}}, Axis{Label: "y"}, []Series{{Name: "a", X: []float64{0, 1}, Y: []float64{3, 4}}})
	if o := c.Option(); !strings.Contains(o, `"type":"category"`) || !strings.Contains(o, `"data":["true","false"]`) {
		t.Errorf("no names in %s", o)
	}
	for text, want := range map[string]bool{">true<": true, ">false<": true, ">0.2<": false} {
		if strings.Contains(c.SVG(), text) != want {
			t.Errorf("%s in the picture: %v", text, !want)
		}
	}
}

func TestTitlesFit(t *testing.T) {
	size := Size{Width: defaultWidth, Height: defaultHeight}
	for _, title := range []string{"short", "Figure 4-8a: Contribution of optimisations to throughput, TPC-C/no, aborts ignored; half machines: 12 threads, one RNIC"} {
		p := newPlot("Sans")
		setTitle(p, title, size)
		if w := p.Title.TextStyle.Width(title); w > defaultWidth*pixel {
			t.Errorf("%.20s... is %v wide, the picture %v", title, w, defaultWidth*pixel)
		}
		font := titleOf(title, size).TitleStyle.FontSize
		if wide := 0.6 * float64(font*len(title)); wide > defaultWidth {
			t.Errorf("%.20s... is %v wide with %d", title, wide, font)
		}
		if short := title == "short"; short != (font == 14) || short != (p.Title.TextStyle.Font.Size == newPlot("Sans").Title.TextStyle.Font.Size) {
			t.Errorf("%.20s... in %d and %v", title, font, p.Title.TextStyle.Font.Size)
		}
	}
}

// A bar's interval lies across its end, and one of no width is not drawn.
func TestBarIntervals(t *testing.T) {
	draw := func(ci float64) (svg, option string) {
		c := Stacked("", Axis{Label: "y"}, []string{"a", "b"}, []Bars{{Name: "one", Values: []float64{3, 4}}, {Name: "two", Values: []float64{0, 10}, CI: ci}})
		return c.SVG(), c.Option()
	}
	withSVG, with := draw(2)
	withoutSVG, without := draw(0)
	if !strings.Contains(with, `"coord":[8,1]`) || !strings.Contains(with, `"coord":[12,1]`) || strings.Contains(without, "markLine") {
		t.Errorf("%s\n%s", with, without)
	}
	if ink := "stroke:" + palette.Interval; !strings.Contains(withSVG, ink) || strings.Contains(withoutSVG, ink) {
		t.Error("the picture has no interval")
	}
}

// Intervals begin and end on the axis, also that of the largest value and one that is wider than
// its value is large: echarts leaves out those that do not, and they do not count for the axis.
func TestIntervalsAreOnTheAxis(t *testing.T) {
	type axes []struct{ Min, Max float64 }
	type option struct {
		XAxis, YAxis axes
		Series       []struct {
			MarkLine struct{ Data [][]struct{ Coord []float64 } }
		}
	}
	x, y := []float64{1, 2, 3}, Axis{Label: "y"}
	for name, c := range map[string]struct {
		chart *Chart
		along int // which coordinate
		axis  func(o *option) axes
	}{
		"bars":  {Stacked("", y, []string{"a", "b"}, []Bars{{Name: "one", Values: []float64{60, 39}, CI: 6}, {Name: "two", Values: []float64{1, 1}, CI: 3}}), 0, func(o *option) axes { return o.XAxis }},
		"lines": {Lines("", Axis{Label: "x"}, y, []Series{{Name: "s", X: x, Y: []float64{2, 70, 99}, CI: []float64{3, 8, 26}}}), 1, func(o *option) axes { return o.YAxis }},
		"part":  {Lines("", Axis{Label: "x"}, Axis{Label: "y", From: 50}, []Series{{Name: "s", X: x, Y: []float64{52, 70, 99}, CI: []float64{3, 8, 26}}}), 1, func(o *option) axes { return o.YAxis }},
	} {
		var o option
		if err := json.Unmarshal([]byte(c.chart.Option()), &o); err != nil {
			t.Fatal(err)
		}
		axis, n := c.axis(&o)[0], 0
		for _, s := range o.Series {
			for _, mark := range s.MarkLine.Data {
				n++
				if low, high := mark[0].Coord[c.along], mark[1].Coord[c.along]; low < axis.Min || high > axis.Max || low >= high {
					t.Errorf("%s: an interval from %g to %g on an axis from %g to %g", name, low, high, axis.Min, axis.Max)
				}
			}
		}
		if n < 2 {
			t.Errorf("%s: %d intervals", name, n)
		}
	}
}

// An axis of counts has no marks between them.
func TestWholeAxis(t *testing.T) {
	x := Axis{Label: "coroutines", Whole: true}
	for _, r := range [][2]float64{{1, 2}, {1, 4}, {1, 16}, {0, 1000}} {
		marks := ticks(x).Ticks(r[0], r[1])
		for _, m := range marks {
			if m.Value != math.Trunc(m.Value) {
				t.Errorf("%g to %g: a mark at %g", r[0], r[1], m.Value)
			}
		}
		if len(marks) < 2 || len(marks) > 11 {
			t.Errorf("%g to %g: %d marks", r[0], r[1], len(marks))
		}
	}
	c := Timeline("", x, []Track{{Y: Axis{Label: "y"}, Series: []Series{{Name: "a", X: []float64{1, 2}, Y: []float64{3, 4}}}}}, nil)
	if !strings.Contains(c.Option(), `"minInterval":1`) {
		t.Error("the library marks what is between")
	}
}

// Where no interval is known none of no width is drawn.
func TestNoInterval(t *testing.T) {
	draw := func(ci []float64) string {
		return Lines("t", Axis{}, Axis{}, []Series{{Name: "a", X: []float64{1, 2}, Y: []float64{3, 4}, CI: ci}}).SVG()
	}
	if draw([]float64{0, 0}) != draw(nil) {
		t.Error("an interval of no width is drawn")
	}
	if draw([]float64{0, 0.1}) == draw(nil) {
		t.Error("an interval is not drawn")
	}
}

// Where the font of the picture is missing one of its widths takes its place, not the reader's usual one.
func TestFontsOfPictures(t *testing.T) {
	svg := Lines("t", Axis{Label: "x"}, Axis{Label: "y"}, []Series{{Name: "a", X: []float64{1, 2}, Y: []float64{3, 4}}}).SVG()
	if n := strings.Count(svg, "font-family"); n == 0 || n != strings.Count(svg, "font-family:Liberation Sans,Arial,Helvetica,sans-serif") {
		t.Errorf("%d texts in fonts of one name: %.300s", n, svg[strings.Index(svg, "font-family"):])
	}
}
