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

// The verdict on a claim of chapter 4 is about the thesis's number, in the thesis's quantity.
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
		{"f4-6-cache-lat", LessBy, 2, 2, 50, Holds, "the thesis says at least 20 % less, the simulator 50 % less"},
		{"f4-6-cache-lat", LessBy, 1.1, 1.1, 100 - 100/1.1, Contradicted, "at least 20 % less"},
	} {
		c := ratioOf(tt.id, tt.most, tt.least).As(tt.q)
		says := c.sentence()
		if c.Status != tt.want || math.Abs(*c.Measured-tt.measured) > 1e-9 || !strings.Contains(says, tt.says) || c.First == "" {
			t.Errorf("%s: %s, %g: %s; want %s, %g: %s", tt.id, c.Status, *c.Measured, says, tt.want, tt.measured, tt.says)
		}
	}
	short := ratioOf("f4-2b-cache-tput", 1.36, 1.36)
	short.short = true
	if c := short.As(Times); c.Status != Undecided {
		t.Errorf("a run that is too short decides: %s", c.Status)
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
