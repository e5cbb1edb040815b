package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// behindFigure is what a page tells of the runs of a figure.
type behindFigure struct {
	Facts  [][2]string
	Groups []toldGroup
	Ended  bool // the runs have been made
}

// toldGroup is a spec and the runs that go by it.
type toldGroup struct {
	YAML string
	Runs []toldRun
}

// toldRun is a run: which points it is behind, what it sets on top of its spec, what limited it.
type toldRun struct {
	N                               int
	Point, Set, Limit, Wall, Digest string
}

// behind are the runs of a figure, or, where there are none yet, those that it takes.
func behind(r *figure.Recipe, f *figure.Figure) behindFigure {
	b := behindFigure{Ended: f.Partial == nil}
	if r.Definition.Form != figure.FormDots {
		if f.Made == nil {
			b.fact("code version", r.Code(f.Scale))
		} else {
			b.fact("code version", f.Made.Code)
			b.fact("made", f.Made.String())
		}
	}
	b.fact("scale", f.Scale)
	if c := f.Computed; c != nil {
		b.fact("computed by", c.By+", from "+c.Of)
		if c.Keys > 0 {
			b.fact("keys", fmt.Sprint(c.Keys))
		}
		if r.Definition.Form != figure.FormDots {
			b.fact("seed", fmt.Sprint(c.Seed))
		}
	}
	values := valuesOf(r, f)
	groups, err := grouped(values)
	figure.Must(err) // they are those of runs
	names := namesOf(r, f, len(values))
	for _, g := range groups {
		told := toldGroup{YAML: g.Spec.Working().YAML()}
		for _, run := range g.Runs {
			told.Runs = append(told.Runs, toldRunOf(f, run, names[run.N]))
		}
		b.Groups = append(b.Groups, told)
	}
	b.seeds(values)
	b.counts(f, len(values))
	return b
}

func (b *behindFigure) fact(name, value string) { b.Facts = append(b.Facts, [2]string{name, value}) }

// valuesOf are the knobs of the runs, nil for one that is still to come.
func valuesOf(r *figure.Recipe, f *figure.Figure) (out []experiment.Knobs) {
	if len(f.Runs) > 0 {
		for _, x := range f.Runs {
			if x == nil {
				out = append(out, nil)
				continue
			}
			out = append(out, x.Spec)
		}
		return out
	}
	if f.Partial == nil || r.Definition.Compute != nil {
		return nil
	}
	specs, err := r.AllSpecs(f.Scale)
	figure.Must(err)
	for _, s := range specs {
		v, err := experiment.Resolve(s)
		figure.Must(err)
		out = append(out, v)
	}
	return out
}

// namesOf say which point each of n runs is behind. The last may be the one at paper scale that a point is compared with.
func namesOf(r *figure.Recipe, f *figure.Figure, n int) []string {
	out := make([]string, n)
	i := 0
	for _, s := range r.Plan(f.Scale).Series {
		for _, pt := range s.Points {
			if i < n {
				out[i] = s.Name + ", " + f.Where(figure.Point{X: pt.X, Name: pt.Name})
				if f.Form == figure.FormCurves {
					out[i] = s.Name + ", " + figure.Coroutines(int(pt.X))
				}
			}
			i++
		}
	}
	if i == n-1 {
		out[i] = "at paper scale, to compare with"
	}
	return out
}

func toldRunOf(f *figure.Figure, run specRun, name string) toldRun {
	out := toldRun{N: run.N, Point: name}
	var set []string
	for _, k := range experiment.SortedNames(run.Set) {
		set = append(set, k+"="+experiment.Format(k, run.Set[k]))
	}
	out.Set = strings.Join(set, " ")
	if x := f.Result(run.N); x != nil {
		out.Wall, out.Digest = lasting(x.WallMS), x.Digest
		if x.Limit != nil {
			out.Limit = x.Limit.Text
		}
	}
	return out
}

// lasting is wall time in words.
func lasting(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// seeds are those of the runs, mostly one.
func (b *behindFigure) seeds(values []experiment.Knobs) {
	var seeds []string
	for _, v := range values {
		if v != nil {
			seeds = append(seeds, fmt.Sprint(figure.Typed(v)["seed"]))
		}
	}
	slices.Sort(seeds)
	if seeds = slices.Compact(seeds); len(seeds) > 0 {
		b.fact("seed", strings.Join(seeds, ", "))
	}
}

// counts tell how many runs there are, what limited them, and how long they took.
func (b *behindFigure) counts(f *figure.Figure, n int) {
	if n > 0 {
		b.fact("runs", fmt.Sprint(n))
	}
	if f.Partial != nil {
		return
	}
	var spent int64
	limits := map[string]int{}
	for _, x := range f.Runs {
		if x == nil {
			continue
		}
		spent += x.WallMS
		if x.Limit != nil {
			limits[limitOf(x)]++
		}
	}
	if text := ranked(limits); text != "" {
		b.fact("what limited them", text)
	}
	if n > 0 {
		b.fact("wall time", lasting(f.WallMS)+" for the figure; its runs took "+lasting(spent)+" together when they were made, each on one core")
		return
	}
	b.fact("wall time", lasting(f.WallMS))
}

// limitOf is what limited a run, without its numbers.
func limitOf(x *result.Result) string {
	if x.Limit.Of == "" || x.Limit.Word == result.LatencyBound {
		return x.Limit.Word
	}
	of := x.Limit.Of
	if name, ok := figure.ResourceNames[of]; ok {
		of = name
	}
	return x.Limit.Word + " (" + of + ")"
}

// ranked are names with their counts, the largest first.
func ranked(counts map[string]int) string {
	names := make([]string, 0, len(counts))
	for n := range counts {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%s: %d", n, counts[n])
	}
	return strings.Join(names, ", ")
}
