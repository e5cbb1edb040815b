package figure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"drtmx/cluster"
	"drtmx/cluster/keep"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/published"
)

// The scales.
const (
	Quick = "quick"
	Paper = "paper"
)

// Run computes the figure at a scale, with set on top of the recipe's knobs.
// Runs go in parallel and come from the run store where they are known.
// progress, which may be nil, counts runs.
func (r *Recipe) Run(ctx context.Context, scale string, set cluster.Knobs, progress func(done, total int)) (*Figure, error) {
	return r.RunWith(ctx, scale, set, keep.Cache(), progress)
}

// Watch is Run with a look at the figure as its points come: report is told after
// every run, and soFar may be asked for the figure as it is by then.
func (r *Recipe) Watch(ctx context.Context, scale string, set cluster.Knobs, report func(done, total int, soFar func() *Figure)) (*Figure, error) {
	return r.WatchWith(ctx, scale, set, keep.Cache(), report)
}

// RunWith is Run with a run store of one's own, or nil for none.
func (r *Recipe) RunWith(ctx context.Context, scale string, set cluster.Knobs, cache batch.Cache, progress func(done, total int)) (*Figure, error) {
	return r.WatchWith(ctx, scale, set, cache, func(done, total int, _ func() *Figure) {
		if progress != nil {
			progress(done, total)
		}
	})
}

// WatchWith is Watch with a run store of one's own, or nil for none.
func (r *Recipe) WatchWith(ctx context.Context, scale string, set cluster.Knobs, cache batch.Cache, report func(done, total int, soFar func() *Figure)) (*Figure, error) {
	began := time.Now()
	all := r.And(set)
	specs, err := all.AllSpecs(scale)
	if err != nil {
		return nil, err
	}
	if r.Definition.Compute != nil {
		return all.computed(ctx, scale, cache, report)
	}
	// The last may be at paper scale and the longest: it begins first.
	last := max(len(specs)-1, 0)
	again := MeasureAgain
	if scale == Paper { // long by itself
		again = nil
	}
	ended := endedRuns{of: all, scale: scale, results: make([]*result.Result, len(specs))}
	runner, end := r.lab.Use()
	defer end()
	results, err := batch.RunAll(ctx, slices.Concat(specs[last:], specs[:last]), batch.SweepOptions{Cache: cache, Repeat: again, Runner: runner,
		Each:     func(at int, r *result.Result) { ended.add((at+last)%len(specs), r) },
		Progress: func(done, total int) { report(done, total, ended.at(done, total)) },
	})
	if err != nil {
		return nil, err
	}
	results = slices.Concat(results[len(results)-last:], results[:len(results)-last])
	f := all.From(scale, results)
	if scale == Quick && all.Plan(scale).Gap.Series != "" {
		all.compare(f, results)
	}
	if len(all.Changed) > 0 {
		for i := range f.Claims {
			f.Claims[i].undecided("another experiment than the thesis's: " + knobText(all.Changed))
		}
	}
	f.WallMS = time.Since(began).Milliseconds()
	return f, nil
}

// Specs are the runs of the points, in their order: for callers that run those of
// many figures together, or on other hardware.
func (r *Recipe) Specs(scale string) ([]experiment.Spec, error) {
	if scale != Quick && scale != Paper {
		return nil, &experiment.SpecError{Field: "scale", Value: fmt.Sprintf("%.40s", scale), Rule: "must be quick or paper", Next: "quick shrinks populations only"}
	}
	if r.Definition.Compute != nil && len(r.Changed) > 0 {
		return nil, &experiment.SpecError{Field: "figure", Value: r.Definition.ID, Rule: "is computed without a run, so it has no knobs", Next: "figures of throughput have them"}
	}
	p := r.Plan(scale)
	var out []experiment.Spec
	for _, s := range p.Series {
		for _, pt := range s.Points {
			spec, err := r.spec(&p, pt)
			if err != nil {
				return nil, err
			}
			out = append(out, spec)
		}
	}
	return out, nil
}

// AllSpecs are those of Specs, and at quick scale that of the compared point at paper
// scale behind them.
func (r *Recipe) AllSpecs(scale string) ([]experiment.Spec, error) {
	out, err := r.Specs(scale)
	paper := r.Plan(Paper)
	if err != nil || scale != Quick || paper.Gap.Series == "" {
		return out, err
	}
	at, _ := paper.find(paper.Gap)
	spec, err := r.spec(&paper, at)
	return append(out, spec), err
}

func (r *Recipe) spec(p *Plan, pt PlannedPoint) (experiment.Spec, error) {
	for _, name := range experiment.SortedNames(r.Changed) {
		if _, own := pt.Set[name]; own {
			return experiment.Spec{}, &experiment.SpecError{Field: name, Value: fmt.Sprintf("%.40s", fmt.Sprint(r.Changed[name])),
				Rule: "figure " + r.Definition.ID + " sets it for each point", Next: "run or sweep a spec of your own"}
		}
	}
	spec, err := p.Base.With(pt.Set)
	if err != nil {
		return spec, err
	}
	return spec.With(r.Changed)
}

// find is the planned point and the number of its run.
func (p *Plan) find(g GapPoint) (PlannedPoint, int) {
	n := 0
	for _, s := range p.Series {
		for _, pt := range s.Points {
			if s.Name == g.Series && pt.X == g.X {
				return pt, n
			}
			n++
		}
	}
	panic(fmt.Sprintf("figures: no point of %s at %g to compare with paper scale", g.Series, g.X))
}

// From is the figure with its claims, read from the results of its Specs. No point
// is compared with paper scale.
func (r *Recipe) From(scale string, results []*result.Result) *Figure {
	f := r.points(scale, results)
	r.judge(f)
	f.Structure = structure(f.Runs)
	if len(r.Changed) == 0 {
		f.References = f.references()
	}
	measured := slices.DeleteFunc(slices.Clone(f.Series), func(s Series) bool { return len(s.Points) == 0 })
	if len(measured) > 0 { // claims ask for the series that this scale leaves out, readers do not
		f.Series = measured
	}
	return f
}

// judge measures the claims.
func (r *Recipe) judge(f *Figure) {
	f.Claims = append(f.Claims, r.claims(f)...)
	for i := range f.Claims {
		c := &f.Claims[i]
		if p, ok := published.FindSystem(c.ID); ok {
			c.First = p.First
		}
		c.Says = c.sentence()
	}
	f.judgeFailures()
}

// Failed are the points whose runs were found to be incorrect, in words.
func (f *Figure) Failed() []string {
	return f.pointsOf(func(r *result.Result) bool { return r.Checks.Failed() })
}

// Undrained are the points whose runs did not come to rest, in words: their numbers hold, and their
// checks are incomplete.
func (f *Figure) Undrained() []string {
	return f.pointsOf(func(r *result.Result) bool { return r.Undrained() != "" })
}

// pointsOf are the points with such runs, in words.
func (f *Figure) pointsOf(such func(*result.Result) bool) (list []string) {
	for _, s := range f.Series {
		for _, p := range s.Points {
			if r := f.Result(p.Run); r != nil && such(r) {
				list = append(list, fmt.Sprintf("%s at %s", s.Name, f.Where(p)))
			}
		}
	}
	return list
}

// judgeFailures says so if runs were found to be incorrect, for their numbers decide nothing, or were
// not checked to their end.
func (f *Figure) judgeFailures() {
	if open := f.Undrained(); len(open) > 0 {
		f.AddNote("checks are incomplete, for the drain was given up: " + strings.Join(open, ", "))
	}
	bad := f.Failed()
	if len(bad) == 0 {
		return
	}
	for i := range f.Claims {
		f.Claims[i].undecided("")
	}
	f.AddNote("checks FAILED, so that these numbers mean nothing: " + strings.Join(bad, ", "))
}

// AddNote puts a sentence behind the note.
func (f *Figure) AddNote(text string) {
	if f.Note != "" {
		f.Note += "; "
	}
	f.Note += text
}

// points is the figure without its claims. Results that are nil are still to come.
func (r *Recipe) points(scale string, results []*result.Result) *Figure {
	d, p := r.Definition, r.Plan(scale)
	f := &Figure{recipe: r, ID: d.ID, Title: d.Title, Section: d.Section, Scale: scale, Form: cmp.Or(d.Form, FormLines), Scope: d.Scope, X: d.X, Y: d.Y, Note: d.note(p), Series: []Series{}, Claims: []Claim{},
		Set: r.Changed, Runs: append([]*result.Result{}, results...)} // JSON has lists, also where they are empty
	n := 0
	for _, s := range p.Series {
		out := Series{Name: s.Name, Points: []Point{}}
		for _, pt := range s.Points {
			if res := results[n]; res != nil && pt.Moments {
				out.Points = append(out.Points, moments(res, n)...)
			} else if res != nil {
				y, ci := pt.Read(res)
				point := Point{X: pt.X, Y: y, CI95: ci, Load: load(res), Run: n, Name: pt.Name}
				if pt.Along != nil {
					point.X, point.XCI95 = pt.Along(res)
				}
				out.Points = append(out.Points, point)
			}
			n++
		}
		f.Series = append(f.Series, out)
	}
	if d.Arrange != nil {
		d.Arrange(f)
	}
	return f
}

// endedRuns are the runs of a figure that have ended.
type endedRuns struct {
	of    *Recipe
	scale string

	mu      sync.Mutex
	results []*result.Result // in the order of the specs, nil: still to come
}

func (e *endedRuns) add(i int, r *result.Result) {
	e.mu.Lock()
	e.results[i] = r
	e.mu.Unlock()
}

// at draws up what there is when it is asked. Runs that are still to come are null
// among its runs.
func (e *endedRuns) at(done, total int) func() *Figure {
	return func() *Figure {
		e.mu.Lock()
		results := slices.Clone(e.results)
		e.mu.Unlock()
		f := e.of.points(e.scale, results)
		f.Partial = &Partial{done, total}
		return f
	}
}

// compare fills what a figure says about its point at paper scale, whose result is
// the last.
func (r *Recipe) compare(f *Figure, results []*result.Result) {
	p, n := r.Plan(f.Scale), len(results)-1
	pt, own := p.find(p.Gap)
	y, _ := pt.Read(results[n])
	here, _ := pt.Read(results[own])
	f.GapAt = &Gap{Series: p.Gap.Series, X: p.Gap.X, OwnScale: here, Paper: y, Run: n, Name: pt.Name}
	if pt.Along != nil {
		f.GapAt.Load = load(results[own])
		f.GapAt.X, _ = pt.Along(results[own])
		f.GapAt.PaperX, _ = pt.Along(results[n])
	}
	if f.Form == FormRanking {
		f.GapAt.X = f.PointOf(own).X
	}
	f.PaperGap = here/y - 1
}

// load is the coroutines per thread of a run.
func load(r *result.Result) int {
	n, _ := r.Spec["coroutines"].(int)
	return n
}
