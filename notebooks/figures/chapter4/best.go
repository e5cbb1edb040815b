package chapter4

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figure 4-best is ours: every choice of primitives that is possible (§4.3), ranked by
// throughput, under the settings of DrTM+H. Phases that the workload does not have are
// left out:
//
//	figures.Get("4-best").Show()
//	figures.Get("4-best").With(cluster.Knobs{"workload": "cycle"}).Show()
//
// At quick scale there are four half machines and not sixteen whole ones, and short
// runs, for there are some two hundred; choices whose throughputs differ by less than their intervals are
// in no order.

// choice is what a phase may be set to. Lock and commit go together: an RNIC's lock
// cannot be released by a CPU.
type choice struct {
	phase string   // whose knob says whether the workload has it
	knobs []string // set by each option, in this order
	words [][]string
}

var choices = []choice{
	{"execution", []string{"phase.execution"}, [][]string{{"hybrid"}, {"one-sided"}, {"two-sided"}}},
	{"lock", []string{"phase.lock", "phase.commit"}, [][]string{{"one-sided", "one-sided"}, {"two-sided", "one-sided"}, {"two-sided", "two-sided"}}},
	{"validation", []string{"phase.validation"}, [][]string{{"one-sided"}, {"two-sided"}}},
	{"logging", []string{"phase.logging"}, [][]string{{"one-sided"}, {"two-sided"}}},
	{"ro_read", []string{"phase.ro_read"}, [][]string{{"hybrid"}, {"one-sided"}, {"two-sided"}}},
	{"ro_validation", []string{"phase.ro_validation"}, [][]string{{"one-sided"}, {"two-sided"}}},
}

// designPrimitives are the primitives of the designs of Table 4-3, in its notation.
var designPrimitives = []struct{ primitives, design string }{
	{"I/II I+I I I, I/II I", "DrTM+H"}, {"I I+I I I, I I", "DrTM+R"}, {"I II+I I II, I I", "FaRM"}, {"II II+II II II, II II", "FaSST"},
}

var everyChoice = figure.Definition{
	ID: "4-best", Title: "Every choice of primitives, ranked", Chapter: 4, Section: "4.4", Scope: "thread",
	X: figure.Axis{Label: "Rank"}, Y: figure.Axis{Label: "Throughput per thread", Unit: "ktxn/s"},
	Form: figure.FormRanking, PlanFor: planChoices, Arrange: rankChoices, Claims: choiceClaims,
}

func planChoices(scale string, set experiment.Knobs) figure.Plan {
	base := experiment.Knobs{"nodes": 4, "threads": 12, "nics": 1, "coroutines": 8, "check": "sampled", "workload.scale": 0.1, "warmup_ns": 60_000, "duration_ns": 250_000}
	if scale == figure.Paper {
		base["nodes"], base["threads"], base["nics"], base["workload.scale"] = 16, 24, 0, 1.0
		base["warmup_ns"], base["duration_ns"] = 150_000, 400_000
	}
	if set["workload"] == "cycle" { // among few keys attempts would abort for ever
		base["workload.keys"] = 1_000_000
	}
	p := figure.Plan{Base: experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: base}, Gap: figure.GapPoint{Series: "Throughput"}}
	sets := []experiment.Knobs{{}}
	for _, c := range presentChoices(set) {
		var next []experiment.Knobs
		for _, s := range sets {
			for _, words := range c.words {
				more := figure.With(s)
				for i, knob := range c.knobs {
					more[knob] = words[i]
				}
				next = append(next, more)
			}
		}
		sets = next
	}
	s := figure.PlannedSeries{Name: "Throughput"}
	for i, k := range sets { // the first is DrTM+H's choice, which is compared with paper scale
		s.Points = append(s.Points, figure.PlannedPoint{X: float64(i), Set: k, Read: perThread})
	}
	p.Series = []figure.PlannedSeries{s}
	return p
}

// presentChoices are the choices in phases that the workload has; of one that is
// refused anyway, all.
func presentChoices(set experiment.Knobs) []choice {
	spec, err := experiment.Spec{Preset: "drtm+h", Workload: "smallbank"}.With(experiment.Knobs{"workload": cmp.Or(set["workload"], any("smallbank"))})
	if err != nil {
		return choices
	}
	knobs, err := experiment.Describe(spec)
	if err != nil {
		return choices
	}
	var out []choice
	for _, c := range choices {
		for _, k := range knobs {
			if k.Name == c.knobs[0] && k.Active {
				out = append(out, c)
			}
		}
	}
	return out
}

// primitives is a run's row in the notation of Table 4-3: execution, validation (lock
// and read set), logging and commit of read-write transactions; read and validation of
// read-only ones.
func primitives(r *result.Result, readOnly bool) string {
	short := func(knob string) string {
		word, _ := r.Spec[knob].(string)
		return map[string]string{"one-sided": "I", "two-sided": "II", "hybrid": "I/II", "auto": "auto"}[word]
	}
	s := fmt.Sprintf("%s %s+%s %s %s", short("phase.execution"), short("phase.lock"), short("phase.validation"), short("phase.logging"), short("phase.commit"))
	if readOnly {
		s += fmt.Sprintf(", %s %s", short("phase.ro_read"), short("phase.ro_validation"))
	}
	return s
}

// design is the published design with these primitives; empty: none.
func design(row string) string {
	for _, d := range designPrimitives {
		if whole, _, _ := strings.Cut(d.primitives, ","); row == d.primitives || row == whole {
			return d.design
		}
	}
	return ""
}

func rankChoices(f *figure.Figure) {
	s := &f.Series[0]
	readOnly := slices.ContainsFunc(presentChoices(f.Set), func(c choice) bool { return c.phase == "ro_read" })
	for i := range s.Points {
		r := f.Runs[s.Points[i].Run]
		name := primitives(r, readOnly)
		if d := design(name); d != "" {
			name += " (" + d + ")"
		}
		s.Points[i].Name, s.Points[i].LatencyUS = name, r.LatencyUS.P50
	}
	slices.SortStableFunc(s.Points, func(a, b figure.Point) int { return cmp.Compare(b.Y, a.Y) })
	for i := range s.Points {
		s.Points[i].X = float64(i + 1)
	}
}

// choiceClaims is what the thesis concludes from its phase by phase study.
func choiceClaims(f *figure.Figure) []figure.Claim {
	c := figure.Claim{ID: "4-best-drtmh", Claim: "DrTM+H's primitives are the best", Unit: "x", Status: figure.Undecided}
	points := f.Series[0].Points
	if len(points) < 2 {
		return []figure.Claim{figure.NoRuns(c)}
	}
	best, h := points[0], f.PointOf(0)
	ahead := best.Y / h.Y
	c.Measured = &ahead
	c.Why = fmt.Sprintf("rank %g of %d: %.4g ± %.3g %s, first %s with %.4g ± %.3g", h.X, len(points), h.Y, h.CI95, f.Y.Unit, best.Name, best.Y, best.CI95)
	switch {
	case best.Run == h.Run:
		c.Status = figure.Holds
	case best.Y-h.Y > best.CI95+h.CI95:
		c.Status = figure.Contradicted
	}
	return []figure.Claim{c}
}
