package chapter3

import (
	"context"
	"math"
	"strings"
	"testing"

	"drtmx/cluster"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"
)

// overMoments is a run of a system with throughputs over time, each of 1 ms, and the mean of the second half.
func overMoments(gauges map[string]float64, ys ...float64) *result.Result {
	r := &result.Result{Timeline: make([]result.Moment, len(ys)), Parts: map[string]result.Part{"xstore": {}}}
	for i, y := range ys {
		r.Timeline[i] = result.Moment{T0NS: int64(i) * 1e6, T1NS: int64(i+1) * 1e6, Throughput: y * 1e6, Gauges: map[string]float64{}}
		if 2*i >= len(ys) {
			r.Throughput += y * 1e6 / float64(len(ys)-len(ys)/2)
		}
	}
	for name, x := range gauges { // order-free: fills a map
		r.Parts["xstore"][name] = x
	}
	return r
}

func recipe(t *testing.T, id string) *figure.Recipe {
	t.Helper()
	return figuretest.RecipeOf(t, Figures(), id)
}

// Every panel's runs are accepted at both scales.
func TestRunsOfChapter3(t *testing.T) {
	for _, d := range append(append([]*figure.Definition{}, timelines...), runFigures...) {
		for _, scale := range []string{figure.Quick, figure.Paper} {
			if err := figure.New(d).Check(scale); err != nil {
				t.Errorf("%s at %s scale: %v", d.ID, scale, err)
			}
		}
	}
}

// Keys and time of a timeline are smaller by the same factor, which its note tells; rates are as they are.
func TestOneFactor(t *testing.T) {
	for id, keys := range map[string]int{"3-16a": thesisKeys, "3-21": expansionKeys, "3-20b": thesisKeys, "3-18b": thesisKeys} {
		for _, scale := range []string{figure.Quick, figure.Paper} {
			p := recipe(t, id).Plan(scale)
			spec, err := p.Base.With(p.Series[0].Points[len(p.Series[0].Points)-1].Set)
			if err != nil {
				t.Fatal(err)
			}
			v, err := experiment.Resolve(spec)
			if err != nil {
				t.Fatal(err)
			}
			by := math.Round(1 / v.Float("workload.scale"))
			seconds := float64(v.Int("warmup_ns")+v.Int("duration_ns")) * by / 1e9
			want := map[string]float64{"3-16a": timelineSeconds, "3-21": expansionS, "3-20b": grownTo, "3-18b": grownTo}[id]
			if v.Int("workload.keys") != keys || seconds != want || !v.Bool("timeline") {
				t.Errorf("%s, %s: %d keys, %g s", id, scale, v.Int("workload.keys"), seconds)
			}
			if models := float64(v.Int("xstore.submodels")) * by; id == "3-21" && models != expansionModels || id != "3-21" && models != dynamicModels {
				t.Errorf("%s, %s: as %g sub-models", id, scale, models)
			}
			if rate := v.Int("workload.insert_rate"); id == "3-21" && rate != expansionRate || id == "3-20b" && rate != 4_000_000 {
				t.Errorf("%s, %s: %d inserts a second", id, scale, rate)
			}
			if !strings.Contains(p.Note, "smaller by ") {
				t.Errorf("%s, %s: %s", id, scale, p.Note)
			}
		}
	}
}

// A run over time is a point for each of its windows, and longer would be another one.
func TestMomentsOfARun(t *testing.T) {
	r := recipe(t, "3-16a")
	f, err := r.RunWith(context.Background(), figure.Quick, cluster.Knobs{"clients": 2, "threads": 2, "coroutines": 1, "warmup_ns": 100_000, "duration_ns": 200_000, "window_ns": 50_000}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Series) != 2 || len(f.Series[0].Points) != 6 || !strings.Contains(f.Caption(), "smaller by 4000") {
		t.Fatalf("%d lines: %+v; %s", len(f.Series), f.Series, f.Caption())
	}
	for i, p := range f.Series[1].Points {
		if math.Abs(p.X-0.05*float64(i+1)) > 1e-9 || p.Y <= 0 || p.Run != 1 || p.Load != 1 {
			t.Errorf("point %d: %+v", i, p)
		}
	}
	unsteady := overMoments(nil, 1, 2, 3)
	unsteady.Unsteady, unsteady.Spec = "drifting", experiment.Knobs{"warmup_ns": 1000, "duration_ns": 1000}
	if _, again := figure.MeasureAgain(0, experiment.Spec{}, unsteady); again {
		t.Error("a run over time is measured again")
	}
	unsteady.Timeline = nil
	if _, again := figure.MeasureAgain(0, experiment.Spec{}, unsteady); !again {
		t.Error("a run that is not steady is not measured again")
	}
}

// What is said of runs over time comes from their second half, and either way.
func TestVerdictsOverTime(t *testing.T) {
	judge := func(id, claim string, runs ...*result.Result) figure.Claim {
		f := recipe(t, id).From(figure.Quick, runs)
		for _, c := range f.Claims {
			if c.ID == claim {
				return c
			}
		}
		t.Fatalf("%s has no claim %s", id, claim)
		return figure.Claim{}
	}
	high, low := overMoments(map[string]float64{"invalidations": 7, "fallbacks": 3}, 60, 60, 50, 50), overMoments(nil, 70, 70, 30, 20)
	if c := judge("3-16a", "f3-16-order", high, low); c.Status != figure.Holds || *c.Measured != 2 || !strings.Contains(c.Why, "3 % asked the server") {
		t.Errorf("%+v", c)
	}
	if c := judge("3-16b", "f3-16-order", low, high); c.Status != figure.Contradicted {
		t.Errorf("%+v", c)
	}
	if c := judge("3-16b", "f3-16-order", nil, nil); c.Status != figure.Undecided {
		t.Errorf("%+v", c)
	}
	for y, want := range map[float64]string{25: figure.Holds, 40: figure.Contradicted} {
		f := recipe(t, "3-3c").From(figure.Quick, []*result.Result{high, high, high, overMoments(nil, 70, 70, y, y)})
		if c := f.Claims[0]; c.Status != want || *c.Measured != y || len(f.References) != 1 || *f.References[0].To != 25 {
			t.Errorf("%g M: %+v, %+v", y, c, f.References)
		}
	}
}

// Figure 3-21 compares the moment before the model has more sub-models with the end.
func TestVerdictOnExpansion(t *testing.T) {
	judge := func(grows bool, ys ...float64) figure.Claim {
		r := overMoments(nil, ys...)
		for i := range r.Timeline {
			r.Timeline[i].Gauges["xstore.submodels"] = 250
			if grows && i >= 6 {
				r.Timeline[i].Gauges["xstore.submodels"] = 500
			}
		}
		return recipe(t, "3-21").From(figure.Quick, []*result.Result{r}).Claims[0]
	}
	down := []float64{60, 60, 60, 50, 45, 40}
	if c := judge(true, append(down, 45, 55, 60, 60)...); c.Status != figure.Holds || *c.Measured != 1.5 || !strings.Contains(c.Why, "500 sub-models from 7 ms") {
		t.Errorf("%+v", c)
	}
	if c := judge(true, append(down, 35, 30, 30, 30)...); c.Status != figure.Contradicted {
		t.Errorf("%+v", c)
	}
	if c := judge(false, append(down, 45, 55, 60, 60)...); c.Status != figure.Undecided || !strings.Contains(c.Why, "not expanded") {
		t.Errorf("%+v", c)
	}
}
