package figures

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drtmx/cluster"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/prediction"
)

// TestSpecsOfRunsAreWhole: what a page says of a run is its spec, for every run of every figure.
func TestSpecsOfRunsAreWhole(t *testing.T) {
	for _, d := range definitions {
		r := Get(d.id)
		f := r.planned(Quick)
		values := r.valuesOf(f)
		groups, err := grouped(values)
		if err != nil {
			t.Fatal(d.id, err)
		}
		seen := 0
		for _, g := range groups {
			read, err := experiment.ParseSpec([]byte(g.Spec.YAML()))
			if err != nil {
				t.Fatal(d.id, err)
			}
			for _, run := range g.Runs {
				seen++
				spec, err := read.With(run.Set)
				if err != nil {
					t.Fatal(d.id, run, err)
				}
				got, err := experiment.Resolve(spec)
				if err != nil {
					t.Fatal(d.id, run, err)
				}
				if want := typed(values[run.N]); !maps.Equal(typed(got), want) {
					t.Errorf("%s: run %d with %v resolves to other values", d.id, run.N, run.Set)
				}
			}
		}
		if seen != len(values) || len(groups) > max(4, len(values)/2) {
			t.Errorf("%s: %d groups have %d of %d runs", d.id, len(groups), seen, len(values))
		}
	}
}

func names(parts []cluster.FigurePart) (out []string) {
	for _, p := range parts {
		out = append(out, p.Name)
	}
	return out
}

func partOf(t *testing.T, parts []cluster.FigurePart, name string) string {
	t.Helper()
	for _, p := range parts {
		if p.Name == name {
			return p.HTML
		}
	}
	t.Fatalf("no part %s in %v", name, names(parts))
	return ""
}

// TestPartsBeforeTheRuns: every figure says how it is made and what it will run before anything has.
func TestPartsBeforeTheRuns(t *testing.T) {
	for _, x := range List() {
		for _, scale := range []string{Quick, Paper} {
			parts := Get(x.ID).Parts(scale)
			for _, p := range parts {
				wellFormed(t, "<div>"+p.HTML+"</div>")
			}
			if made := partOf(t, parts, partMake); !strings.Contains(made, "drtmx figure "+x.ID+" --scale "+scale) || !strings.Contains(made, "figures.Get(&#34;"+x.ID+"&#34;)") {
				t.Errorf("%s: %s", x.ID, made)
			}
			if slices.Contains(names(parts), partClaims) {
				t.Errorf("%s has verdicts before it was computed", x.ID)
			}
		}
		recorded := slices.ContainsFunc(prediction.Recorded().Rows, func(r prediction.Row) bool { return r.Figure == x.ID })
		if has := slices.Contains(names(Get(x.ID).Parts(Quick)), partPredictions); has != (recorded && x.Chapter >= firstSystems) {
			t.Errorf("%s: predictions on the page: %v", x.ID, has)
		}
	}
}

// TestPartsOfAFigure: a computed figure tells its claims, numbers and runs.
func TestPartsOfAFigure(t *testing.T) {
	f := Get("2-2a").Quick()
	parts := f.Parts()
	for _, p := range parts {
		wellFormed(t, "<div>"+p.HTML+"</div>")
	}
	if got := strings.Join(names(parts), " "); got != "claims published make runs" {
		t.Error(got)
	}
	claims := partOf(t, parts, partClaims)
	for i := range f.Claims {
		if c := &f.Claims[i]; !strings.Contains(claims, `id="claim-`+c.ID+`"`) || !strings.Contains(claims, mark(c.Status)) {
			t.Errorf("%s is not in %s", c.ID, claims)
		}
	}
	if rows := partOf(t, parts, partPublished); !strings.Contains(rows, "<td>63 %</td>") {
		t.Error(rows)
	}
	behind := partOf(t, parts, partRuns)
	if n := strings.Count(behind, `<th scope="row">`); n != len(f.Runs) {
		t.Errorf("%d rows for %d runs", n, len(f.Runs))
	}
	for _, want := range []string{f.Runs[0].Digest, f.Runs[0].Limit.Text, "code version", "<dt>seed</dt><dd>1</dd>", "threads=4"} {
		if !strings.Contains(behind, want) {
			t.Errorf("no %q in %s", want, behind)
		}
	}
	if strings.Contains(behind, "style=") {
		t.Error("parts leave their style to the page")
	}
}

// TestPartsOfAnotherExperiment: knobs that were changed are in the command, the cell and the specs, and quoted.
func TestPartsOfAnotherExperiment(t *testing.T) {
	r := Get("2-4a").With(cluster.Knobs{"ddio": false})
	made := partOf(t, r.Parts(Quick), partMake)
	if !strings.Contains(made, "--set ddio=false") || !strings.Contains(made, `.With(cluster.Knobs{&#34;ddio&#34;: false}).Show()`) || !strings.Contains(made, "drtmx/cluster") {
		t.Error(made)
	}
	if runs := partOf(t, r.Parts(Quick), partRuns); !regexp.MustCompile(`ddio(=|: )false`).MatchString(runs) {
		t.Error(runs)
	}
	f := Figure{ID: "2-4a", Scale: Quick, X: r.def.x, Y: r.def.y, Claims: []Claim{{ID: "a", Claim: "<script>", Status: Holds, Why: "a & b"}}}
	if text := part(partClaims, "", f.toldClaims()).HTML; strings.Contains(text, "<script>") || !strings.Contains(text, "a &amp; b") {
		t.Error(text)
	}
}

// TestPartsOfVerdicts: a claim on TPC-C/no has two verdicts, a withheld one has none.
func TestPartsOfVerdicts(t *testing.T) {
	v := 1.5
	f := Figure{ID: "4-9a", Scale: Quick, Claims: []Claim{
		{ID: "a", Claim: "faster", Status: Holds, States: []State{{Name: stateIgnored, Status: Holds}, {Name: stateCorrect, Status: Contradicted, Says: "the thesis says 2x, the simulator 3x", Measured: &v}}},
		{ID: "b", Claim: "slower", Withheld: true, Measured: &v, Unit: "x", Status: Undecided}}}
	text := part(partClaims, "", f.toldClaims()).HTML
	for _, want := range []string{`class="claims split"`, "✗ contradicted<small>" + stateCorrect + "</small><small>3x</small>", `class="verdict withheld"`, "· predicted", "predicted 1.5 x"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if rows := f.publishedRows(); len(rows) != 0 {
		t.Errorf("a withheld number is published: %+v", rows)
	}
}
