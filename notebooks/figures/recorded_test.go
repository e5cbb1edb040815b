package figures

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"drtmx/notebooks/figures/figure"
)

// Chapters 3 and 5 have such figures too: numbers of systems, and those about models alone with a count of their own.
func TestFiguresOfOtherPredictions(t *testing.T) {
	for id, want := range map[string]struct {
		rows  int
		notes string
	}{"predictions-3": {64 + 16, "of models alone, blind: 2, 2 and 3 of 16 numbers"}, "predictions-5": {31, "blind: 1, 8 and 15 of 31 numbers within 10, 20 and 35 %"}} {
		f, err := Get(id).RunWith(context.Background(), figure.Quick, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string]bool{}
		for _, s := range f.Series {
			for _, p := range s.Points {
				rows[strings.Fields(p.Name)[0]] = true
			}
		}
		if len(rows) < want.rows-1 || len(rows) > want.rows || !strings.Contains(f.Note, want.notes) { // the inner nodes were predicted in number, not in bytes
			t.Errorf("%s: %d rows, want %d; %s", id, len(rows), want.rows, f.Note)
		}
	}
}

// The figure of a chapter's predictions has a row for each published number, with its ratio by column, and a claim for each
// number and order; it takes no run.
func TestFigureOfPredictions(t *testing.T) {
	f, err := Get("predictions-4").RunWith(context.Background(), figure.Quick, nil, nil, nil)
	if err != nil || len(f.Runs) != 0 {
		t.Fatal(err, len(f.Runs))
	}
	const blind = "blind"
	first := f.Line(blind)
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
	if len(d.Dots) < 4 || d.Dots[0].Name != blind {
		t.Errorf("%d sets of dots", len(d.Dots))
	}
	for _, says := range []string{"What cannot be explained", "0.985..1.24", "blind "} {
		if !strings.Contains(f.String(), says) {
			t.Errorf("no %q in\n%s", says, f)
		}
	}
	if h := f.HTML(); !strings.Contains(h, "contradicts 4-10") {
		t.Errorf("no note among %d bytes", len(h))
	}
	within := func(n figure.Number) bool { return n.Series == "blind, later code" && n.Name == "within 10 %" }
	if !slices.ContainsFunc(f.Computed.Numbers, within) {
		t.Errorf("%+v", f.Computed.Numbers)
	}
	if s := (Runner{}).Sketch("predictions-4"); !strings.Contains(s, "<path") && !strings.Contains(s, "<line") {
		t.Error(s)
	}
}
