package figures

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/prediction"
)

// The figure of a chapter's predictions has a row for each published number, with its ratio by column, and a claim for each
// number and order; it takes no run.
func TestFigureOfPredictions(t *testing.T) {
	f, err := Get("predictions-4").RunWith(context.Background(), figure.Quick, nil, nil, nil)
	if err != nil || len(f.Runs) != 0 {
		t.Fatal(err, len(f.Runs))
	}
	first := f.Line(prediction.First)
	p, ok := first.Named("f4-2a-peak-one")
	if want := 0.9934 / 1.13; !ok || math.Abs(p.Y-want) > 1e-9 || p.Text != "-0.66 %" {
		t.Errorf("%+v, want %g", p, want)
	}
	numbers, claims := map[string]bool{}, map[string]bool{}
	for _, p := range first.Points {
		numbers[strings.Fields(p.Name)[0]] = true
	}
	for _, c := range f.Claims {
		if claims[c.ID] {
			t.Errorf("%s comes twice", c.ID)
		}
		claims[c.ID] = true
	}
	if len(numbers) != 35 || len(claims) < 35+16 {
		t.Errorf("%d numbers, %d claims", len(numbers), len(claims))
	}
	d := f.DotRows()
	for _, s := range d.Dots {
		if len(s.X) != len(d.Rows) || s.Name == "" {
			t.Errorf("%s: %d dots in %d rows", s.Name, len(s.X), len(d.Rows))
		}
	}
	if len(d.Dots) < 4 || d.Dots[0].Name != prediction.First {
		t.Errorf("%d sets of dots", len(d.Dots))
	}
	for _, says := range []string{"What cannot be explained", "0.985..1.24", "first "} {
		if !strings.Contains(f.String(), says) {
			t.Errorf("no %q in\n%s", says, f)
		}
	}
	if h := f.HTML(); !strings.Contains(h, "contradicts 4-10") {
		t.Errorf("no note among %d bytes", len(h))
	}
	within := func(n figure.Number) bool { return n.Series == prediction.Baseline && n.Name == "within 10 %" }
	if !slices.ContainsFunc(f.Computed.Numbers, within) {
		t.Errorf("%+v", f.Computed.Numbers)
	}
	if s := (Runner{}).Sketch("predictions-4"); !strings.Contains(s, "<path") && !strings.Contains(s, "<line") {
		t.Error(s)
	}
}
