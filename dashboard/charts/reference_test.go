package charts

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// Published numbers are in both forms, inside of the picture, and joined by no line.
func TestReferences(t *testing.T) {
	nan := math.NaN()
	lines := []Series{{Name: "READ", X: []float64{1, 2, 4}, Y: []float64{10, 20, 30}}}
	refs := []Reference{{"a place", 2, 25, 25}, {"a range", 4, 20, 40}, {"a limit", nan, 52, 52}, {"a span", nan, 5, 8}, {"a turn", 3, nan, nan}}
	c := LinesSized(Size{}, "t", Axis{Label: "x"}, Axis{Label: "y"}, lines, refs)
	for form, text := range map[string]string{"option": c.Option(), "svg": c.SVG()} {
		for _, r := range append(refs[:1:1], refs[2:]...) {
			if !strings.Contains(text, r.Text) || strings.Contains(text, "NaN") {
				t.Errorf("%s: no %s", form, r.Text)
			}
		}
	}
	var o struct {
		YAxis  []struct{ Max, SplitNumber float64 }
		XAxis  []struct{ Min, Max float64 }
		Series []struct {
			Name     string
			Data     []struct{ Value []float64 }
			MarkLine struct{ Data []any }
		}
	}
	if err := json.Unmarshal([]byte(c.Option()), &o); err != nil {
		t.Fatal(err)
	}
	if y := o.YAxis[0]; y.Max < 52 || y.Max > 80 || math.Mod(y.Max, y.SplitNumber) != 0 {
		t.Errorf("the axis ends at %g after %g steps", y.Max, y.SplitNumber)
	}
	last := o.Series[len(o.Series)-1]
	if last.Name != "thesis" || len(last.Data) != 2 || last.Data[1].Value[1] != 30 || len(last.MarkLine.Data) != 5 {
		t.Errorf("%+v", last)
	}
	within := LinesSized(Size{}, "t", Axis{Label: "x"}, Axis{Label: "y"}, lines, refs[:1])
	if err := json.Unmarshal([]byte(within.Option()), &o); err != nil || strings.Contains(within.Option(), `"max":60`) {
		t.Errorf("an axis that holds its reference is left alone: %v", err)
	}
	far := LinesSized(Size{}, "t", Axis{Label: "x", Log: true}, Axis{Label: "y", Log: true}, lines, []Reference{{"far", 100, nan, nan}, {"high", nan, 1000, 1000}})
	if err := json.Unmarshal([]byte(far.Option()), &o); err != nil || o.XAxis[0].Max != 100 || o.YAxis[0].Max < 1000 {
		t.Errorf("out of the picture: %+v %+v %v", o.XAxis, o.YAxis, err)
	}
}

// Variants have the colour of what they are drawn over, and a dash and a sign each.
func TestVariantsAreToldApart(t *testing.T) {
	x, y := []float64{1, 2}, []float64{3, 4}
	lines := []Series{{Name: "READ", X: x, Y: y}, {Name: "WRITE", X: x, Y: y}}
	for n := 1; n <= 3; n++ {
		lines = append(lines, Series{Name: strings.Repeat("+", n), X: x, Y: y, Variant: n, Of: "WRITE"})
	}
	c := Lines("t", Axis{}, Axis{}, lines)
	var o struct {
		Series []struct {
			Symbol    string
			LineStyle struct{ Color, Type string }
		}
	}
	if err := json.Unmarshal([]byte(c.Option()), &o); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range o.Series[1:] {
		if s.LineStyle.Color != Colour(1) || seen[s.LineStyle.Type+s.Symbol] {
			t.Errorf("%+v", s)
		}
		seen[s.LineStyle.Type+s.Symbol] = true
	}
	if svg := c.SVG(); strings.Count(svg, "stroke-dasharray") < 3 {
		t.Error("no dashes in the svg")
	}
}

// Published numbers of bars are in both forms, on an axis that holds them and their words.
func TestExpectedOfBars(t *testing.T) {
	bars := []Bars{{Name: "one", Values: []float64{60, 40}, Expected: []Expected{{"b: at most 150", 60, 210}}}, {Name: "two", Values: []float64{1, 1}}}
	draw := func() *Chart { return Stacked("", Axis{Label: "y"}, []string{"a", "b"}, bars) }
	c := draw()
	for form, text := range map[string]string{"option": c.Option(), "svg": c.SVG()} {
		for _, want := range []string{"b: at most 150", "thesis"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s", form, want)
			}
		}
	}
	var o struct {
		XAxis  []struct{ Max float64 }
		Series []struct {
			Name, Type string
			Data       []struct{ Value any }
		}
	}
	if err := json.Unmarshal([]byte(c.Option()), &o); err != nil {
		t.Fatal(err)
	}
	if last := o.Series[len(o.Series)-1]; last.Name != "thesis" || last.Type != "line" || len(last.Data) != 2 || o.XAxis[0].Max <= 210 {
		t.Errorf("an axis that ends at %g, %+v", o.XAxis[0].Max, last)
	}
	if end := endOf(bars, 500, 6); end < 210*500/(500-6*14) {
		t.Errorf("no room for words behind 210 on an axis that ends at %g", end)
	}
	bars[0].Expected = nil
	if c := draw(); strings.Contains(c.Option()+c.SVG(), "thesis") {
		t.Error("nothing is published, and the legend has it")
	}
}
