package chapter3

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
	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

func withoutRuns(t *testing.T, id string, cache batch.Cache) (*figure.Figure, []byte) {
	t.Helper()
	calls, last := 0, 0
	f, err := recipe(t, id).RunWith(context.Background(), figure.Quick, nil, cache, func(done, total int) {
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
		f, first := withoutRuns(t, id, keep.CacheOf(store))
		_, stored := withoutRuns(t, id, keep.CacheOf(store))
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
	_, err := recipe(t, "3-13a").RunWith(context.Background(), figure.Quick, cluster.Knobs{"threads": 2}, nil, nil)
	if !experiment.IsSpecError(err) {
		t.Errorf("knobs of models: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := recipe(t, "3-22a").RunWith(ctx, figure.Quick, nil, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// Published numbers about models stand beside the computed ones, in the claims and in the picture.
func TestPublishedNumbersOfModels(t *testing.T) {
	f, _ := withoutRuns(t, "3-22a", nil)
	for id, x := range map[string]struct {
		reference string
		y         float64
	}{"f3-22a-tt": {"98", 98}, "f3-22-xmodel": {"6.8", 6.8}, "f3-22-xtree": {"654", 654}} {
		i := slices.IndexFunc(f.Claims, func(c figure.Claim) bool { return c.ID == id })
		k := slices.IndexFunc(f.References, func(r figure.Reference) bool { return r.ID == id })
		if i < 0 || k < 0 || f.Claims[i].Reference != x.reference || f.Claims[i].First == "" || *f.References[k].X != 500 || *f.References[k].To != x.y {
			t.Errorf("%s: %+v", id, f.References)
		}
	}
}

// The verdicts of the claims on models, on invented points.
func TestModelVerdicts(t *testing.T) {
	point := func(y, ci float64) figure.Point { return figure.Point{Y: y, CI95: ci} }
	for _, x := range []struct {
		pairs []figure.Point
		want  string
	}{
		{[]figure.Point{point(1, 0), point(2, 0)}, figure.Holds}, {[]figure.Point{point(1, 0.6), point(2, 0.6)}, figure.Undecided}, {[]figure.Point{point(3, 0.1), point(2, 0.1)}, figure.Contradicted},
		{[]figure.Point{point(1, 0), point(2, 0), point(5, 0), point(4, 0)}, figure.Contradicted}, {[]figure.Point{point(1, 0), point(2, 0), point(4, 1), point(4, 0)}, figure.Undecided},
	} {
		if c := lower("c", "", "keys", x.pairs...); c.Status != x.want || c.Measured == nil {
			t.Errorf("%v: %s, want %s", x.pairs, c.Status, x.want)
		}
	}
	if holds("c", "", false, "").Status != figure.Contradicted {
		t.Error("what is not so holds")
	}
}

// Figures of a chapter are listed by their numbers, whichever file they are from, and tables behind them.
func TestListInOrder(t *testing.T) {
	list := []*figure.Definition{{ID: "3-22b", Chapter: 3}, {ID: "3-3a", Chapter: 3}, {ID: "t3-2", Chapter: 3}}
	var ids []string
	for _, d := range inOrder(list, []*figure.Definition{{ID: "3-22a", Chapter: 3}, {ID: "3-12", Chapter: 3}}) {
		ids = append(ids, d.ID)
	}
	if want := "3-3a 3-12 3-22a 3-22b t3-2"; strings.Join(ids, " ") != want {
		t.Errorf("%v, want %s", ids, want)
	}
}

// The verdicts on the chapter's first page, on invented points: a lower bound, a range, and what a half loses.
func TestHeadlinesOfChapter3(t *testing.T) {
	at := func(y float64) []figure.Point { return []figure.Point{{X: 3, Y: y}} }
	for _, x := range []struct {
		own, emt, tree, cell float64
		peak, speedup        string
	}{
		{90, 24, 20, 15.3, figure.Holds, figure.Holds}, {70, 12, 15, 19, figure.Holds, figure.Holds}, {60, 24, 20, 15.3, figure.Contradicted, figure.Contradicted}, {90, 24, 20, 24, figure.Holds, figure.Contradicted},
	} {
		f := &figure.Figure{ID: "3-15a", Y: figure.Axis{Unit: "Mreq/s"}, Runs: []*result.Result{{}}, Series: []figure.Series{{Name: xstore, Points: at(x.own)}, {Name: emt, Points: at(x.emt)}, {Name: drtmTree, Points: at(x.tree)}, {Name: cell, Points: at(x.cell)}}}
		if peak, speedup := peakReadOnly(f)[0], speedupReadOnly(f)[0]; peak.Status != x.peak || speedup.Status != x.speedup {
			t.Errorf("%+v: %s, %s", x, peak.Status, speedup.Status)
		}
	}
	for sub, want := range map[float64]string{80: figure.Holds, 60: figure.Contradicted} {
		f := &figure.Figure{ID: "3-22b", Runs: []*result.Result{{}}, Series: []figure.Series{{Name: xstore, Points: []figure.Point{{X: 2, Y: sub}, {X: 3, Y: 100}}}}}
		if c := costOfMemory(f)[0]; c.Status != want || math.Abs(*c.Measured-(100-sub)) > 1e-9 {
			t.Errorf("%g of 100: %s, %g", sub, c.Status, *c.Measured)
		}
	}
}
