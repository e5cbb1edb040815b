package chapter3

import (
	"math"
	"slices"
	"testing"

	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"
)

// The parts of a lookup add up to its latency, each where Figure 3-17b has it.
func TestPartsOfALookup(t *testing.T) {
	learned := &result.Result{Phases: map[string]result.PhaseStat{"index": {MeanUS: 2.5, ComputeUS: 0.25}, "value": {MeanUS: 2}}}
	walked := &result.Result{Phases: map[string]result.PhaseStat{"index": {MeanUS: 9, ComputeUS: 0.5}, "value": {MeanUS: 2}}}
	rpc := &result.Result{Phases: map[string]result.PhaseStat{"execution": {MeanUS: 3}}}
	f := recipe(t, "3-17b").From(figure.Quick, []*result.Result{learned, rpc, rpc, walked, walked})
	for name, want := range map[string][4]float64{xstore: {0.25, 2.25, 2, 0}, drtmTree: {0, 0, 0, 3}, cell: {0.5, 8.5, 2, 0}} {
		s := f.Line(name)
		for i, part := range []string{"CPU_IDX", "NIC_IDX", "NIC_VAL", "NIC_RPC"} {
			if p, ok := s.Named(part); !ok || math.Abs(p.Y-want[i]) > 1e-9 {
				t.Errorf("%s, %s: %+v, want %g", name, part, p, want[i])
			}
		}
	}
	for _, c := range f.Claims {
		if c.Status != figure.Holds && c.First == "" {
			t.Errorf("%+v", c)
		}
	}
	f = recipe(t, "3-17b").From(figure.Quick, []*result.Result{walked, rpc, rpc, learned, learned})
	for _, c := range f.Claims {
		if c.Status != figure.Contradicted && c.First == "" {
			t.Errorf("%+v", c)
		}
	}
	colours := map[string]bool{}
	_, _, parts, _ := f.Bars(nil)
	for _, p := range parts {
		if p.Colour == "" || colours[p.Colour] {
			t.Errorf("%s has colour %q", p.Name, p.Colour)
		}
		colours[p.Colour] = true
	}
}

// rates are runs with throughputs of so many million requests.
func rates(ys ...float64) (out []*result.Result) {
	for _, y := range ys {
		out = append(out, &result.Result{Throughput: y * 1e6, ThroughputCI95: 0.01, Parts: map[string]result.Part{"xstore": {}}, ByType: map[string]result.TypeStat{}})
	}
	return out
}

// Each claim can come out either way. The runs are in the order of the plan.
func TestVerdictsOnRuns(t *testing.T) {
	for _, x := range []struct {
		id, claim string
		runs      []*result.Result
		want      string
	}{
		{"3-18a", "f3-18a-order", rates(90, 67, 63, 52, 50, 60, 63, 45), figure.Holds},
		{"3-18a", "f3-18a-order", rates(90, 67, 63, 52, 50, 70, 63, 45), figure.Contradicted},
		{"3-18a", "f3-18a-c", rates(90, 67, 63, 52, 50, 60, 63, 45), figure.Holds},
		{"3-18a", "f3-18a-c", rates(90, 67, 63, 52, 50, 60, 40, 45), figure.Contradicted},
		{"3-18b", "f3-18b-order", rates(50, 6, 40, 6), figure.Holds},
		{"3-18b", "f3-18b-order", rates(40, 6, 50, 6), figure.Contradicted},
		{"3-18b", "f3-18b-e-order", rates(50, 6, 40, 6), figure.Holds},
		{"3-18b", "f3-18b-e-order", rates(50, 6, 40, 3), figure.Contradicted},
		{"3-19a", "f3-19a-order", rates(50, 30, 20, 7, 21, 25, 27, 11), figure.Holds},
		{"3-19a", "f3-19a-order", rates(50, 20, 20, 7, 21, 25, 27, 11), figure.Contradicted},
		{"3-19b", "f3-19b-scale-order", rates(28, 63, 94, 187, 31, 33, 34, 36), figure.Holds},
		{"3-19b", "f3-19b-scale-order", rates(28, 63, 60, 187, 31, 33, 34, 36), figure.Contradicted},
		{"3-19b", "f3-19b-zipf-order", rates(28, 63, 94, 187, 31, 33, 34, 36), figure.Holds},
		{"3-19b", "f3-19b-zipf-order", rates(28, 63, 94, 187, 31, 33, 34, 200), figure.Contradicted},
		{"t3-3", "t3-3-order", rates(90, 67, 63, 65, 6, 52, 27, 67, 63, 65, 6, 28), figure.Holds},
		{"t3-3", "t3-3-order", rates(90, 67, 63, 65, 6, 52, 95, 67, 63, 65, 6, 28), figure.Contradicted},
		{"t3-3", "t3-3-c-order", rates(90, 67, 63, 65, 6, 52, 27, 67, 63, 65, 6, 28), figure.Holds},
		{"t3-3", "t3-3-c-order", rates(90, 67, 63, 65, 6, 52, 27, 67, 30, 65, 6, 28), figure.Contradicted},
		{"3-20b", "f3-20b-order", getting(63, 60, 50, 63, 60, 55), figure.Holds},
		{"3-20b", "f3-20b-order", getting(63, 60, 70, 63, 60, 55), figure.Contradicted},
		{"3-20b", "f3-20b-threads-order", getting(63, 60, 50, 63, 60, 55), figure.Holds},
		{"3-20b", "f3-20b-threads-order", getting(63, 60, 50, 63, 60, 45), figure.Contradicted},
		{"3-20a", "f3-20a-order", training(120, 250, 200, 10), figure.Holds},
		{"3-20a", "f3-20a-order", training(120, 250, 340, 10), figure.Contradicted},
		{"3-20a", "f3-20a-order", training(120, 250, 200, 0), figure.Holds}, // nothing split is no demand
	} {
		f := recipe(t, x.id).From(figure.Quick, x.runs)
		if got := figuretest.VerdictOn(t, f.Claims, x.claim); got != x.want {
			t.Errorf("%s, %s on %v: %s, want %s", x.id, x.claim, f.Series, got, x.want)
		}
		for _, c := range f.Claims {
			if (c.Says != "") != (c.Reference != "") {
				t.Errorf("%s: %q of %q", c.ID, c.Says, c.Reference)
			}
		}
	}
}

// getting are runs with so many million GETs a second, and some inserts.
func getting(ys ...float64) []*result.Result {
	out := rates(ys...)
	for _, r := range out {
		r.VirtualNS, r.ByType["get"] = 1_000_000, result.TypeStat{Commits: uint64(r.Throughput / 1e3)}
		r.Throughput += 4e6
	}
	return out
}

// training are what one and two threads train and what YCSB D and E split, in thousands.
func training(one, two, d, e float64) []*result.Result {
	out := rates(1, 1, 1, 1)
	out[0].Parts["xstore"]["retrained"], out[1].Parts["xstore"]["retrained"] = 1e3*one, 1e3*two
	out[2].Parts["xstore"]["splits"], out[3].Parts["xstore"]["splits"] = 1e3*d, 1e3*e
	return out
}

// What stands beside the published numbers is of the points, with the thesis's ids.
func TestPredictionsOfRuns(t *testing.T) {
	for _, x := range []struct {
		id, row string
		runs    []*result.Result
		want    float64
	}{
		{"3-16a", "f3-16-inval-uni", []*result.Result{overMoments(map[string]float64{"fallbacks": 4}, 60, 50), overMoments(nil, 60, 55)}, 4},
		{"3-16a", "f3-16-optimal", []*result.Result{overMoments(nil, 60, 50), overMoments(nil, 60, 55)}, 55},
		{"3-16b", "f3-16-inval-latest", []*result.Result{overMoments(map[string]float64{"fallbacks": 2}, 60, 50), overMoments(nil, 60, 55)}, 2},
		{"3-18a", "f3-18a-a", rates(90, 67, 63, 52, 60, 60, 63, 45), 1.5},
		{"3-18b", "f3-18b-d", rates(50, 6, 40, 6), 1.25},
		{"3-19a", "f3-19a-p2-cell", rates(50, 30, 20, 7, 21, 25, 27, 12), 2.5},
		{"3-19b", "f3-19b-scale3", rates(30, 60, 90, 180, 31, 33, 34, 36), 3},
		{"3-19b", "f3-19b-uni-peak", rates(30, 60, 90, 180, 31, 33, 34, 36), 180},
		{"3-19b", "f3-19b-zipf-peak", rates(30, 60, 90, 180, 31, 33, 34, 36), 36},
		{"3-20b", "f3-20b-none", getting(60, 60, 45, 60, 60, 54), 60},
		{"3-20b", "f3-20b-1thr-drop", getting(60, 60, 45, 60, 60, 54), 25},
		{"3-20b", "f3-20b-2thr-drop", getting(60, 60, 45, 60, 60, 54), 10},
		{"t3-3", "t3-3-f-on", rates(90, 67, 63, 65, 6, 52, 27, 67, 63, 65, 6, 28), 28},
		{"t3-3", "t3-3-drop", rates(90, 67, 63, 65, 6, 52, 27, 67, 63, 65, 6, 28), 70},
	} {
		f := recipe(t, x.id).From(figure.Quick, x.runs)
		i := slices.IndexFunc(f.Claims, func(c figure.Claim) bool { return c.ID == x.row })
		if i < 0 || f.Claims[i].Reference == "" || f.Claims[i].First == "" || math.Abs(*f.Claims[i].Measured-x.want) > 1e-9 {
			t.Errorf("%s: %+v, want %g", x.row, f.Claims, x.want)
		}
	}
}
