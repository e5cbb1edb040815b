package charts

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"drtmx/dashboard/charts/palette"
)

func heatAxes() (x, y, z Axis) {
	return Axis{Label: "payload", Unit: "bytes", Names: []string{"16", "4096"}}, Axis{Label: "threads", Names: []string{"1", "8"}}, Axis{Label: "throughput", Unit: "1/s"}
}

// heatCells are a value, one in doubt, one that failed, and one more.
func heatCells() []HeatPanel {
	return []HeatPanel{{Cells: [][]HeatCell{
		{{Value: 1.5e6, CI: 2e4}, {Value: 2e6, Doubt: "not steady"}},
		{{Value: math.NaN(), Why: "threads: must be even"}, {Value: 6e6}},
	}}}
}

// heatOption is what a test reads of the option.
type heatOption struct {
	Series []struct {
		Type string
		Data []struct {
			Name      string
			Value     []float64
			VisualMap *bool
			Label     *struct{ Formatter, BorderType, Color string }
			ItemStyle struct{ Decal *struct{ Symbol string } }
		}
	}
	XAxis, YAxis []struct {
		Name string
		Data []string
	}
	VisualMap []struct {
		Min, Max float64
		Text     []string
	}
}

func heatOptionOf(t *testing.T, c *Chart) (o heatOption) {
	t.Helper()
	if err := json.Unmarshal([]byte(c.Option()), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// The cells of a heat map have their values in them; one without says why, is hatched and has no
// colour of the scale; one in doubt has a frame.
func TestHeatMap(t *testing.T) {
	x, y, z := heatAxes()
	c := HeatMap("t", x, y, z, heatCells())
	o := heatOptionOf(t, c)
	if len(o.Series) != 1 || o.Series[0].Type != "heatmap" || len(o.Series[0].Data) != 4 {
		t.Fatalf("%+v", o)
	}
	for i, want := range []struct {
		name, text string
		hole       bool
	}{
		{"payload = 16 bytes, threads = 1: throughput 1.5 M/s ± 20 k/s", "1.5 M", false},
		{"payload = 4096 bytes, threads = 1: throughput 2 M/s, not steady", "2 M", false},
		{"payload = 16 bytes, threads = 8: throughput no value: threads: must be even", "", true},
		{"payload = 4096 bytes, threads = 8: throughput 6 M/s", "6 M", false},
	} {
		d := o.Series[0].Data[i]
		if d.Name != want.name || (d.ItemStyle.Decal != nil) != want.hole || (d.VisualMap != nil && !*d.VisualMap) != want.hole {
			t.Errorf("%+v, want %+v", d, want)
		}
		if text := ""; d.Label != nil {
			if text = d.Label.Formatter; text != want.text {
				t.Errorf("%q in the cell, want %q", text, want.text)
			}
		} else if want.text != "" {
			t.Errorf("nothing in the cell of %s", want.name)
		}
	}
	if a, b := o.Series[0].Data[0].Label.BorderType, o.Series[0].Data[1].Label.BorderType; a != "" || b != "dashed" {
		t.Errorf("frames %q and %q", a, b)
	}
	if o.XAxis[0].Name != "payload (bytes)" || o.YAxis[0].Name != "threads" || o.YAxis[0].Data[1] != "8" || o.VisualMap[0].Min != 1.5e6 || o.VisualMap[0].Max != 6e6 {
		t.Errorf("axes and colours: %+v", o)
	}
	if text := strings.Join(o.VisualMap[0].Text, "|"); !strings.Contains(text, "throughput: 1.5 M/s") || !strings.HasPrefix(text, "6 M/s|") {
		t.Errorf("legend %q", text)
	}
	if !strings.Contains(c.Option(), `"subtext":"hatched: no value; framed or ?: in doubt, as not steady"`) {
		t.Error("the signs are not explained")
	}
	for _, want := range []string{">1.5 M<", ">6 M<", ">4096<", ">payload (bytes)<", ">threads<", "hatched: no value; framed"} {
		if !strings.Contains(c.SVG(), want) {
			t.Errorf("the picture has no %s", want)
		}
	}
	if sound := heatCells(); strings.Contains(HeatMap("t", x, y, z, []HeatPanel{{Cells: append(sound[0].Cells[:1:1], []HeatCell{{Value: 1}, {Value: 2}})}}).SVG(), "hatched") {
		t.Error("the legend explains what is not there")
	}
}

// A picture says why a place has no value: the cell has the number of its reason, which stands below.
func TestHeatMapPictureSaysWhy(t *testing.T) {
	x, y, z := heatAxes()
	draw := func(first, second string) string {
		cells := heatCells()
		cells[0].Cells[1][0].Why, cells[0].Cells[1][1] = first, HeatCell{Value: math.NaN(), Why: second}
		return HeatMap("t", x, y, z, cells).SVG()
	}
	for _, want := range []string{">no value (1): threads: must be even<", ">no value (2): was not run<", ">1</text>", ">2</text>"} {
		if svg := draw("threads: must be even", "was not run"); !strings.Contains(svg, want) {
			t.Errorf("the picture has no %s", want)
		}
	}
	if svg := draw("was not run", "was not run"); strings.Count(svg, "no value (") != 1 || strings.Contains(svg, ">2</text>") {
		t.Error("one reason is told twice")
	}
	long := draw(strings.Repeat("many words ", 40), "was not run")
	if n := strings.Count(long, "many"); n != 40 || !strings.Contains(long, ">no value (2)") {
		t.Errorf("%d of 40 words of a long reason", n)
	}
	if svg := draw(strings.Repeat("many words ", 400), ""); !strings.Contains(svg, "and more reasons") {
		t.Error("a reason without end is told to the end")
	}
	if svg := HeatMap("t", x, y, z, []HeatPanel{{Cells: [][]HeatCell{{{Value: 1}, {Value: 2}}, {{Value: 3}, {Value: 4}}}}}).SVG(); strings.Contains(svg, "no value") {
		t.Error("reasons of nothing")
	}
}

// What does not fit is left out, but a doubt is seen.
func TestHeatMapTextFits(t *testing.T) {
	x, y, z := heatAxes()
	narrow := x
	narrow.Names = nil
	var row []HeatCell
	for i := range 40 {
		narrow.Names = append(narrow.Names, Exact(float64(i)))
		row = append(row, HeatCell{Value: 1.23e6 + float64(i), Doubt: []string{"", "not steady"}[i%2]})
	}
	y.Names = y.Names[:1]
	o := heatOptionOf(t, HeatMapSized(Size{Width: 400, Height: 300}, "t", narrow, y, z, []HeatPanel{{Cells: [][]HeatCell{row}}}))
	for i, d := range o.Series[0].Data {
		if want := i%2 == 1; (d.Label != nil) != want || want && d.Label.Formatter != "?" {
			t.Errorf("cell %d: %+v", i, d.Label)
		}
	}
}

// Small heat maps have the same colours, whatever each has in it.
func TestHeatMapPanels(t *testing.T) {
	x, y, z := heatAxes()
	ps := append(heatCells(), heatCells()...)
	ps[0].Name, ps[1].Name, ps[1].Cells[1][1].Value = "nodes = 3", "nodes = 6", 9e6
	o := heatOptionOf(t, HeatMap("t", x, y, z, ps))
	if len(o.Series) != 2 || len(o.XAxis) != 2 || o.YAxis[1].Name != "threads; nodes = 6" || len(o.VisualMap) != 1 || o.VisualMap[0].Max != 9e6 {
		t.Errorf("%+v", o)
	}
}

// The colours rise in lightness, so they keep their order in grey, and what is between two is between them.
func TestHeatMapColoursRise(t *testing.T) {
	m := heatMap{lo: 0, hi: 100}
	last := -1.0
	for v := 0.0; v <= 100; v++ {
		c := m.colour(v)
		l := palette.Contrast(c, palette.LightInk)
		if last >= 0 && l > last {
			t.Errorf("at %g %s is darker than what is below it", v, c)
		}
		last = l
	}
	if one := (&heatMap{lo: 5, hi: 5}); one.colour(5) != palette.Utilisation[len(palette.Utilisation)/2] {
		t.Errorf("one value alone is %s", one.colour(5))
	}
}

// A line's intervals are in both forms, also where its axis has names.
func TestLinesHaveIntervals(t *testing.T) {
	for name, x := range map[string]Axis{"numbers": {Label: "x"}, "names": {Label: "x", Names: []string{"a", "b"}}} {
		draw := func(ci []float64) *Chart {
			return Timeline("", x, []Track{{Y: Axis{Label: "y"}, Series: []Series{{Name: "s", X: []float64{0, 1}, Y: []float64{3, 4}, CI: ci}}}}, nil)
		}
		with, without := draw([]float64{1, 1}), draw(nil)
		if !strings.Contains(with.Option(), "markLine") || strings.Contains(without.Option(), "markLine") {
			t.Errorf("%s: the interactive form has no intervals, or such of no width", name)
		}
		if strings.Count(with.SVG(), "<path") <= strings.Count(without.SVG(), "<path") {
			t.Errorf("%s: the picture has no intervals", name)
		}
	}
}
