package page

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drtmx/cluster"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/chapter2"
	"drtmx/notebooks/figures/chapter3"
	"drtmx/notebooks/figures/chapter4"
	"drtmx/notebooks/figures/chapter5"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"
)

// TestSpecsOfRunsAreWhole: what a page says of a run is its spec, for every run of every figure.
func TestSpecsOfRunsAreWhole(t *testing.T) {
	for _, d := range slices.Concat(chapter2.Figures(), chapter3.Figures(), chapter4.Figures(), chapter5.Figures()) {
		r := figure.New(d)
		f := planned(r, figure.Quick)
		values := valuesOf(r, f)
		groups, err := grouped(values)
		if err != nil {
			t.Fatal(d.ID, err)
		}
		seen := 0
		for _, g := range groups {
			read, err := experiment.ParseSpec([]byte(g.Spec.YAML()))
			if err != nil {
				t.Fatal(d.ID, err)
			}
			for _, run := range g.Runs {
				seen++
				spec, err := read.With(run.Set)
				if err != nil {
					t.Fatal(d.ID, run, err)
				}
				got, err := experiment.Resolve(spec)
				if err != nil {
					t.Fatal(d.ID, run, err)
				}
				if want := figure.Typed(values[run.N]); !maps.Equal(figure.Typed(got), want) {
					t.Errorf("%s: run %d with %v resolves to other values", d.ID, run.N, run.Set)
				}
			}
		}
		if seen != len(values) || len(groups) > max(4, len(values)/2) {
			t.Errorf("%s: %d groups have %d of %d runs", d.ID, len(groups), seen, len(values))
		}
	}
}

// TestSpecsOfOlderRuns: runs that were recorded before a knob came share specs as others do.
func TestSpecsOfOlderRuns(t *testing.T) {
	r := figure.New(chapter4.Figures()[0])
	values := valuesOf(r, planned(r, figure.Quick))
	want, err := grouped(values)
	if err != nil {
		t.Fatal(err)
	}
	older := make([]experiment.Knobs, len(values))
	for i, v := range values {
		older[i] = v.Clone()
		delete(older[i], "log.scheme")
	}
	got, err := grouped(older)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v: %d groups, want %d", err, len(got), len(want))
	}
	for i, g := range got {
		if g.Spec.YAML() != want[i].Spec.YAML() || len(g.Runs) != len(want[i].Runs) {
			t.Errorf("group %d is %s with %d runs, want %s with %d", i, g.Spec.YAML(), len(g.Runs), want[i].Spec.YAML(), len(want[i].Runs))
		}
	}
}

// TestPartsOfAnotherExperiment: knobs that were changed are in the command, the cell and the specs, and quoted.
func TestPartsOfAnotherExperiment(t *testing.T) {
	r := figuretest.RecipeOf(t, chapter2.Figures(), "2-4a").With(cluster.Knobs{"ddio": false})
	made := figuretest.PartOf(t, Planned(r, figure.Quick, nil), partMake)
	if !strings.Contains(made, "--set ddio=false") || !strings.Contains(made, `.With(cluster.Knobs{&#34;ddio&#34;: false}).Show()`) || !strings.Contains(made, "drtmx/cluster") {
		t.Error(made)
	}
	if runs := figuretest.PartOf(t, Planned(r, figure.Quick, nil), partRuns); !regexp.MustCompile(`ddio(=|: )false`).MatchString(runs) {
		t.Error(runs)
	}
	f := figure.Figure{ID: "2-4a", Scale: figure.Quick, X: r.Definition.X, Y: r.Definition.Y, Claims: []figure.Claim{{ID: "a", Claim: "<script>", Status: figure.Holds, Why: "a & b"}}}
	if text := part(partClaims, "", toldClaims(&f)).HTML; strings.Contains(text, "<script>") || !strings.Contains(text, "a &amp; b") {
		t.Error(text)
	}
}

// TestPartsOfVerdicts: a claim on TPC-C/no has two verdicts.
func TestPartsOfVerdicts(t *testing.T) {
	v := 1.5
	f := figure.Figure{ID: "4-9a", Scale: figure.Quick, Claims: []figure.Claim{
		{ID: "a", Claim: "faster", Status: figure.Holds, States: []figure.State{{Name: figure.StateIgnored, Status: figure.Holds}, {Name: figure.StateCorrect, Status: figure.Contradicted, Says: "the thesis says 2x, the simulator 3x", Measured: &v}}},
		{ID: "b", Claim: "slower", First: "1.7", Measured: &v, Unit: "x", Status: figure.Undecided}}}
	text := part(partClaims, "", toldClaims(&f)).HTML
	for _, want := range []string{`class="claims split"`, "✗ contradicted<small>" + figure.StateCorrect + "</small><small>3x</small>", `class="verdict undecided"`, "predicted blind as 1.7", "measured 1.5 x"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if rows := publishedRows(&f); len(rows) != 0 {
		t.Errorf("what has no reference is published: %+v", rows)
	}
}
