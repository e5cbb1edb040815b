package figures

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drtmx/cluster"
	"drtmx/cluster/runs"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

func withoutRuns(t *testing.T, id string, cache batch.Cache) (*Figure, []byte) {
	t.Helper()
	calls, last := 0, 0
	f, err := Get(id).RunWith(context.Background(), Quick, nil, cache, func(done, total int) {
		calls++
		if last = done; done > total {
			t.Errorf("%s: %d of %d steps", id, done, total)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls == 0 || last != calls {
		t.Errorf("%s: %d calls of progress, the last with %d", id, calls, last)
	}
	f.WallMS = 0
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return f, text
}

// A figure that is computed says of what, has no runs, draws itself in every form, and is the same again, from the store or not.
func TestComputedFigures(t *testing.T) {
	store, err := runs.Open(runs.Options{File: filepath.Join(t.TempDir(), "runs.db")})
	if err != nil {
		t.Fatal(err)
	}
	for id, series := range map[string][]string{"3-13a": {dataKeys, "LR", "NN", pieces}, "3-14b": {"LR", "MLR", pieces}, "3-22a": {xModel, xTable, wholeIndex, smallModel}} {
		f, first := withoutRuns(t, id, cluster.StoreCache(store))
		_, stored := withoutRuns(t, id, cluster.StoreCache(store))
		_, again := withoutRuns(t, id, nil)
		if !bytes.Equal(first, stored) || !bytes.Equal(first, again) {
			t.Errorf("%s: another figure the second time", id)
		}
		var m map[string]any
		if err := json.Unmarshal(first, &m); err != nil {
			t.Fatal(err)
		}
		c, _ := m["computed"].(map[string]any)
		if c["by"] != comparing || c["keys"] == 0.0 || c["of"] == "" || c["numbers"] == nil || len(m["runs"].([]any)) != 0 {
			t.Errorf("%s: computed %v, runs %v", id, c, m["runs"])
		}
		for form, text := range map[string]string{"svg": f.SVG(), "csv": f.CSV(), "text": f.String()} {
			for _, name := range series {
				if !strings.Contains(text, name) {
					t.Errorf("%s: %s without %s", id, form, name)
				}
			}
		}
		if !strings.Contains(f.HTML(), "computed without a run") {
			t.Errorf("%s: its page does not say that no system ran", id)
		}
		for line := range strings.Lines(f.String()) {
			if len([]rune(line)) > 260 {
				t.Errorf("%s: a line of %d letters: %.80s", id, len(line), line)
			}
		}
	}
}

// Without a letter a figure is its first panel, and nothing is computed with knobs.
func TestComputedRequests(t *testing.T) {
	for id, want := range map[string]string{"3-12": "3-12a", "3-13": "3-13a", "3-14b": "3-14b", "3-22a": "3-22a"} {
		if r, err := Find(id); err != nil || r.ID() != want {
			t.Errorf("%s is %v, %v", id, r, err)
		}
	}
	_, err := Get("3-13a").RunWith(context.Background(), Quick, cluster.Knobs{"threads": 2}, nil, nil)
	if !experiment.IsSpecError(err) {
		t.Errorf("knobs of models: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Get("3-22a").RunWith(ctx, Quick, nil, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// A step is taken once for equal options, an error is not kept, and nobody waits for a step when the context ends.
func TestSteps(t *testing.T) {
	store, err := runs.Open(runs.Options{File: filepath.Join(t.TempDir(), "runs.db")})
	if err != nil {
		t.Fatal(err)
	}
	keeping := cluster.StoreCache(store).(cluster.Computing)
	ctx, cancel := context.WithCancel(context.Background())
	c := &computing{ctx: ctx, store: keeping, report: func(int, int) {}}
	times := 0
	half := func(n int) (*float64, error) {
		if times++; n < 0 {
			return nil, errors.New("below 0")
		}
		v := float64(n) / 2
		return &v, nil
	}
	for _, n := range []int{3, 3, 5} {
		if v, err := step(c, "half", n, half); err != nil || *v != float64(n)/2 {
			t.Errorf("%d: %v, %v", n, v, err)
		}
	}
	if times != 2 || c.done != 3 {
		t.Errorf("computed %d times in %d steps", times, c.done)
	}
	for range 2 {
		if _, err := step(c, "half", -1, half); err == nil {
			t.Error("an error is kept")
		}
	}
	if times != 4 {
		t.Errorf("%d times", times)
	}
	running, release := make(chan bool), make(chan bool)
	go func() { <-running; cancel() }()
	if _, err := step(c, "slow", 1, func(int) (*int, error) {
		running <- true
		<-release
		return new(int), nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(release)
	c.ctx = context.Background() // what was begun is finished, and there for who comes next
	if _, err := step(c, "slow", 1, func(int) (*int, error) { return nil, errors.New("begun again") }); err != nil {
		t.Error(err)
	}
}

// Every figure about a system is asked for its predictions, whoever adds it.
func TestPredictingFigures(t *testing.T) {
	for chapter := range 7 {
		for _, d := range definitions {
			got := slices.ContainsFunc(Predicting(chapter), func(r *Recipe) bool { return r.ID() == d.id })
			if want := d.form != formDots && d.chapter >= 3 && (chapter == 0 || chapter == d.chapter); got != want {
				t.Errorf("%s for chapter %d: %v", d.id, chapter, got)
			}
		}
	}
}

// No withheld number is beside a published one: a claim that is predicted has no reference, and no verdict.
func TestWithheldClaims(t *testing.T) {
	f, _ := withoutRuns(t, "3-22a", nil)
	n := 0
	for _, c := range f.Claims {
		if c.Withheld {
			n++
			if c.Reference != "" || c.Status != Undecided || c.Measured == nil {
				t.Errorf("%+v", c)
			}
		}
	}
	if n == 0 || !strings.Contains(f.String(), "· predicted") {
		t.Errorf("%d predictions:\n%s", n, f)
	}
}

// The verdicts of the claims on models, on invented points.
func TestModelVerdicts(t *testing.T) {
	point := func(y, ci float64) Point { return Point{Y: y, CI95: ci} }
	for _, x := range []struct {
		pairs []Point
		want  string
	}{
		{[]Point{point(1, 0), point(2, 0)}, Holds}, {[]Point{point(1, 0.6), point(2, 0.6)}, Undecided}, {[]Point{point(3, 0.1), point(2, 0.1)}, Contradicted},
		{[]Point{point(1, 0), point(2, 0), point(5, 0), point(4, 0)}, Contradicted}, {[]Point{point(1, 0), point(2, 0), point(4, 1), point(4, 0)}, Undecided},
	} {
		if c := lower("c", "", "keys", x.pairs...); c.Status != x.want || c.Measured == nil {
			t.Errorf("%v: %s, want %s", x.pairs, c.Status, x.want)
		}
	}
	if holds("c", "", false, "").Status != Contradicted {
		t.Error("what is not so holds")
	}
}

// Figures of a chapter are listed by their numbers, whichever file they are from, and tables behind them.
func TestListInOrder(t *testing.T) {
	list := []*definition{{id: "3-22b", chapter: 3}, {id: "3-3a", chapter: 3}, {id: "t3-2", chapter: 3}}
	var ids []string
	for _, d := range inOrder(list, []*definition{{id: "3-22a", chapter: 3}, {id: "3-12", chapter: 3}}) {
		ids = append(ids, d.id)
	}
	if want := "3-3a 3-12 3-22a 3-22b t3-2"; strings.Join(ids, " ") != want {
		t.Errorf("%v, want %s", ids, want)
	}
}

// The verdicts on the chapter's first page, on invented points: a lower bound, a range, and what a half loses.
func TestHeadlinesOfChapter3(t *testing.T) {
	at := func(y float64) []Point { return []Point{{X: 3, Y: y}} }
	for _, x := range []struct {
		own, emt, tree, cell float64
		peak, speedup        string
	}{
		{90, 24, 20, 15.3, Holds, Holds}, {70, 12, 15, 19, Holds, Holds}, {60, 24, 20, 15.3, Contradicted, Contradicted}, {90, 24, 20, 24, Holds, Contradicted},
	} {
		f := &Figure{ID: "3-15a", Y: Axis{Unit: "Mreq/s"}, Runs: []*result.Result{{}}, Series: []Series{{Name: xstore, Points: at(x.own)}, {Name: emt, Points: at(x.emt)}, {Name: drtmTree, Points: at(x.tree)}, {Name: cell, Points: at(x.cell)}}}
		if peak, speedup := f.peakReadOnly()[0], f.speedupReadOnly()[0]; peak.Status != x.peak || speedup.Status != x.speedup {
			t.Errorf("%+v: %s, %s", x, peak.Status, speedup.Status)
		}
	}
	for sub, want := range map[float64]string{80: Holds, 60: Contradicted} {
		f := &Figure{ID: "3-22b", Runs: []*result.Result{{}}, Series: []Series{{Name: xstore, Points: []Point{{X: 2, Y: sub}, {X: 3, Y: 100}}}}}
		if c := f.costOfMemory()[0]; c.Status != want || math.Abs(*c.Measured-(100-sub)) > 1e-9 {
			t.Errorf("%g of 100: %s, %g", sub, c.Status, *c.Measured)
		}
	}
}
