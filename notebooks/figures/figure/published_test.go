package figure

import (
	"math"
	"strings"
	"testing"

	"drtmx/notebooks/figures/published"
)

// ratioOf is a claim that compared two lines once.
func ratioOf(id string, most, least float64) Claim {
	r := func(v float64) Ratio { return Ratio{Pair: Pair{"A", "B"}, X: v, Value: v, Half: 0.001} }
	peak := most
	return Claim{ID: id, Status: Holds, Peak: &peak, most: r(most), least: r(least)}
}

// The verdict on a claim about a system is about the thesis's number, in the thesis's quantity.
func TestPublishedNumbersDecide(t *testing.T) {
	for _, tt := range []struct {
		id          string
		q           Quantity
		most, least float64
		measured    float64
		want, says  string
	}{
		{"f4-2b-cache-tput", Times, 1.36, 1.1, 1.36, Holds, "the thesis says 1.36x, the simulator 1.36x"},
		{"f4-2b-cache-tput", Times, 1.1, 1.05, 1.1, Contradicted, "the thesis says 1.36x, the simulator 1.1x"},
		{"f4-2a-cache-tput", Times, 1.45, 1.26, 1.45, Holds, "the thesis says 1.26 to 1.45x, the simulator 1.26 to 1.45x"},
		{"f4-2a-cache-tput", Times, 1.45, 0.99, 1.45, Contradicted, "the simulator 0.99 to 1.45x"},
		{"f4-2a-cache-lat", ShareOf, 1 / 0.69, 1 / 0.89, 69, Holds, "the thesis says 69 to 89 % of it, the simulator 69 to 89 % of it"},
		{"f4-2a-cache-lat", ShareOf, 1 / 0.50, 1 / 0.89, 50, Contradicted, "50 to 89 % of it"},
		{"f4-2a-peak-one", MoreBy, 1.13, 1.13, 13, Holds, "13 % more, the simulator 13 % more"},
		{"f4-2a-peak-one", MoreBy, 0.9, 0.9, -10, Contradicted, "the simulator 10 % less"},
		{"f4-9a-lat-fasst", LessBy, 1 / 0.67, 1 / 0.67, 33, Holds, "33 % less, the simulator 33 % less"},
		{"f3-15-a-uni", Times, 3.1, 2.4, 3.1, Holds, "the thesis says 2.4 to 3.1x, the simulator 2.4 to 3.1x"},
		{"f3-15-a-uni", Times, 3.1, 1.5, 3.1, Contradicted, "the simulator 1.5 to 3.1x"},
		{"f3-18a-b", Times, 1, 1, 1, Undecided, "the thesis says 1.01x"},
		{"f5-10b-gts", Times, 2.4, 2.4, 2.4, Contradicted, "the thesis says 6.29x, the simulator 2.4x"},
		{"f5-15b-overhead", LessBy, 1 / 0.75, 1.05, 25, Holds, "the thesis says 25 % less, the simulator 25 % less"},
		{"f4-6-cache-lat", LessBy, 2, 2, 50, Holds, "the thesis says at least 20 % less, the simulator 50 % less"},
		{"f4-6-cache-lat", LessBy, 1.1, 1.1, 100 - 100/1.1, Contradicted, "at least 20 % less"},
	} {
		c := ratioOf(tt.id, tt.most, tt.least).As(tt.q)
		says := c.sentence()
		if c.Status != tt.want || math.Abs(*c.Measured-tt.measured) > 1e-9 || !strings.Contains(says, tt.says) {
			t.Errorf("%s: %s, %g: %s; want %s, %g: %s", tt.id, c.Status, *c.Measured, says, tt.want, tt.measured, tt.says)
		}
	}
	short := ratioOf("f4-2b-cache-tput", 1.36, 1.36)
	short.short = true
	if c := short.As(Times); c.Status != Undecided {
		t.Errorf("a run that is too short decides: %s", c.Status)
	}
}

// A published number without lines that it compares is compared as the ratio that it tells, and stands on the axes.
func TestMeasuredNumbers(t *testing.T) {
	for _, tt := range []struct {
		id      string
		v, half float64
		want    string
	}{
		{"f3-15-c-uni", 82, 1, Holds}, {"f3-15-c-uni", 63, 1, Contradicted}, {"f3-15-c-uni", 69, 4, Undecided},
		{"f5-15a-overhead", 83, 0, Holds}, {"f5-15a-overhead", 60, 0, Holds}, {"f5-15a-overhead", 0.3, 0, Contradicted}, // 1.6 of 1.83, and 1
		{"f3-15-b-cpu", 15, 0, Holds}, {"f3-15-b-cpu", 60, 0, Contradicted}, // at most 40 %
		{"f5-14a-commit", 17.7, 0, Contradicted}, {"f3-16-inval-uni", 5.5, 0, Holds},
	} {
		c := Measured(tt.id, "", "", tt.v, tt.half, "").At("A", 3)
		if p := c.Place; c.Status != tt.want || c.Reference == "" || *p.X != 3 || p.From == nil || p.Section == "" {
			t.Errorf("%s of %g: %s, want %s: %+v", tt.id, tt.v, c.Status, tt.want, p)
		}
	}
	if c := Measured("f5-15a-latbase", "", "ms", 1, 0, "").At("A", math.NaN()); c.Place.X != nil {
		t.Errorf("what holds everywhere has a place: %+v", c.Place)
	}
	if c := Measured("f3-17a-drtm-sat", "", "", 20, 0, "").AlongX("A"); *c.Place.X != 20 || c.Place.From != nil {
		t.Errorf("%+v", c.Place)
	}
	f := &Figure{Form: FormTable, Series: []Series{{Name: "A", Points: []Point{{X: 3, Y: 63, Name: "C"}}}}, References: []Reference{*Measured("f3-15-c-uni", "", "", 63, 0, "").At("A", 3).Place}}
	if cell := f.cells()[1][1]; cell != "63 (82)" {
		t.Errorf("a table has %q", cell)
	}
}

// Limits are no points.
func TestBoundsDecide(t *testing.T) {
	most, _ := published.FindSystem("f4-10b-exec-drtmr")
	if most.Bound != published.AtMost || Judge(&most, 0.3, 0.01, most.To) != Holds || Judge(&most, 2, 0.01, most.To) != Contradicted || Judge(&most, 0.8, 0.2, most.To) != Undecided {
		t.Errorf("%+v", most)
	}
}

// Nothing that is run knows the published results.
func TestPredictionsAreNoInputs(t *testing.T) {
	for _, p := range published.Systems() {
		if p.Use != "predict" || p.Section == "" {
			t.Errorf("%+v", p)
		}
		if _, fitted := published.Find(p.ID); fitted {
			t.Errorf("%s is in the calibration table", p.ID)
		}
	}
}
