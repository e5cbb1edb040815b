package figures

import (
	"context"
	"slices"
	"testing"

	"drtmx/cluster"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Every run of chapter 5 is possible, has an oracle's machine, and is checked; and a figure without runs says nothing.
func TestRunsOfChapter5(t *testing.T) {
	for _, d := range figures5 {
		r := &Recipe{def: d, set: experiment.Knobs{}}
		for _, scale := range []string{Quick, Paper} {
			specs, err := r.Specs(scale)
			if err != nil {
				t.Fatal(err)
			}
			if len(specs) == 0 && d.form != formTable {
				t.Errorf("%s: no runs at %s scale", d.id, scale)
			}
			for _, s := range specs {
				v, err := experiment.Resolve(s)
				if err != nil {
					t.Fatalf("%s at %s scale: %v", d.id, scale, err)
				}
				if alone := d.id == "5-6a" && v["oracle"] == false; v["oracle"] != true && !alone || v["check"] != "sampled" {
					t.Errorf("%s at %s scale: oracle %v, check %v", d.id, scale, v["oracle"], v["check"])
				}
			}
		}
	}
}

// The runs of Figure 5-6 are without any optimisation of section 5.5: batching, the fetch thread, compression, and cooperative multitasking, for each
// thread has one coroutine. Of those against the oracle alone a client's thread has four: they are the load under which its peak is taken, and
// batching is off, so that no message carries what two of them ask.
func TestFigure56HasNoOptimisations(t *testing.T) {
	for _, d := range figures56 {
		for _, scale := range []string{Quick, Paper} {
			specs, err := (&Recipe{def: d, set: experiment.Knobs{}}).Specs(scale)
			if err != nil || len(specs) < 6 {
				t.Fatalf("%s at %s scale: %d runs, %v", d.id, scale, len(specs), err)
			}
			for _, s := range specs {
				v, err := experiment.Resolve(s)
				if err != nil {
					t.Fatal(err)
				}
				coroutines := 1
				if v["workload"] == "ts-oracle" && v["workload.oracle_op"] == "network" {
					coroutines = 4
				}
				if v["ts.batching"] != false || v["ts.fetch_thread"] != false || v["ts.compression"] != false || v["coroutines"] != coroutines {
					t.Errorf("%s at %s scale: batching %v, fetch thread %v, compression %v, %v coroutines in a run of %v under %v",
						d.id, scale, v["ts.batching"], v["ts.fetch_thread"], v["ts.compression"], v["coroutines"], v["workload"], v["ts.scheme"])
				}
			}
		}
	}
}

// The lines of Figure 5-10 run, the claims are of their points, and nothing of it fails its checks.
func TestFigureOfAllSchemes(t *testing.T) {
	d := *Get("5-12a").def
	d.plan = func(string) plan {
		p := plan{base: experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 2, "oracle": true, "workload.scale": 0.01, "warmup_ns": 300_000, "duration_ns": 600_000}}}
		for _, l := range lines5 {
			p.series = append(p.series, plannedSeries{l.name, []plannedPoint{{set: with(l.set, experiment.Knobs{"coroutines": 1}), read: mtxn, name: "x"}, {set: with(l.set, experiment.Knobs{"coroutines": 4}), read: mtxn, name: "x"}}})
		}
		return p
	}
	r := &Recipe{def: &d, set: experiment.Knobs{}}
	f, err := r.RunWith(context.Background(), Quick, cluster.Knobs{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Series {
		if len(s.Points) != 1 || s.Points[0].Y <= 0 {
			t.Fatalf("%s: %+v is not the peak", s.Name, s.Points)
		}
		for _, run := range f.Runs {
			if y, _ := mtxn(run); run.Spec["coroutines"] == f.Runs[s.Points[0].Run].Spec["coroutines"] && f.Runs[s.Points[0].Run] == run && y != s.Points[0].Y {
				t.Errorf("%s: %g is not of its run", s.Name, s.Points[0].Y)
			}
		}
	}
	if bad := f.Failed(); len(bad) > 0 {
		t.Errorf("checks failed: %v", bad)
	}
	if n := len(f.Claims); n != 2 || !slices.ContainsFunc(f.Claims, func(c Claim) bool { return c.ID == "f5-12a-dst-gts" && c.Withheld && c.Measured != nil }) {
		t.Errorf("%d claims: %+v", n, f.Claims)
	}
}

// A bound holds for each read of a run, so it is decided whether the run is steady or not.
func TestBoundOfUnsteadyRuns(t *testing.T) {
	r := Get("5-fresh")
	for oldest, want := range map[int64]string{1000: Holds, 2001: Contradicted} {
		runs := make([]*result.Result, plannedRuns(r))
		for i := range runs {
			bound := int64(2000)
			runs[i] = &result.Result{StalenessNS: &result.StalenessStat{Max: 10, Bound: &bound}, Unsteady: "drifting"}
		}
		runs[0].StalenessNS.Max = oldest
		if c := r.From(Quick, runs).Claims[0]; c.Status != want {
			t.Errorf("%d of 2000 ns: %s, %s", oldest, c.Status, c.Why)
		}
	}
}
