package figures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"drtmx/cluster"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// definition is a figure of the thesis before it is computed.
type definition struct {
	id      string
	title   string
	chapter int
	section string
	scope   string
	form    string // how it is drawn
	x, y    Axis
	plan    func(scale string) plan
	planFor func(scale string, set experiment.Knobs) plan // in place of plan: With decides what is run
	arrange func(f *Figure)                               // makes of the points what is drawn; nil: that is what they are
	claims  func(f *Figure) []Claim
	costs   []cost                              // of its band; nil: the coordinator's
	compute func(c *computing, f *Figure) error // in place of plan: the series and Computed of a figure without runs
}

// plan is that of the figure with the recipe's knobs.
func (r *Recipe) plan(scale string) plan {
	if r.fewer && scale == Paper {
		return r.own(Paper).only(r.own(Quick))
	}
	return r.own(scale)
}

func (r *Recipe) own(scale string) plan {
	if r.def.compute != nil {
		return plan{}
	}
	if r.def.planFor != nil {
		return r.def.planFor(scale, r.set)
	}
	return r.def.plan(scale)
}

// plan is the runs of a figure at one scale.
type plan struct {
	base   experiment.Spec // what all points share; With may change it
	series []plannedSeries
	gap    gapPoint
	note   string // what a reader of the numbers has to know; "": what the machines say
}

// only is the plan with those of its points that another one has too.
func (p plan) only(other plan) plan {
	out := p
	out.series = nil
	for _, s := range p.series {
		in := plannedSeries{name: s.name}
		for _, pt := range s.points {
			for _, o := range other.series {
				if o.name == s.name && slices.ContainsFunc(o.points, func(x plannedPoint) bool { return x.x == pt.x }) {
					in.points = append(in.points, pt)
				}
			}
		}
		out.series = append(out.series, in)
	}
	return out
}

// note is what a reader of the numbers has to know.
func (d *definition) note(p plan) string {
	if p.note != "" {
		return p.note
	}
	if p.base.Set["nics"] != 1 || p.base.Set["threads"] != 12 {
		return ""
	}
	note := "half machines: 12 threads, one RNIC"
	if ofCluster := "Mtxn/s"; d.x.Unit == ofCluster || d.y.Unit == ofCluster {
		note += ": half the throughput"
	}
	return note
}

type plannedSeries struct {
	name   string
	points []plannedPoint
}

// plannedPoint is a run and how its point is read from it. Its knobs make the
// point what it is, so With cannot change them.
type plannedPoint struct {
	x       float64
	set     experiment.Knobs
	read    func(r *result.Result) (y, ci95 float64)
	along   func(r *result.Result) (x, ci95 float64) // where X is measured too; x is then the load
	name    string                                   // where X is no quantity
	moments bool                                     // the run is a point for each window of its timeline, in place of one
}

// gapPoint names the point that is compared with paper scale. Without a series there
// is none.
type gapPoint struct {
	series string
	x      float64
}

// definitions are in the order of the thesis.
var definitions = slices.Concat(
	[]*definition{&figure22a, &figure22b, &figure24a, &figure24b, &figure25a, &figure25b},
	figures28to11, figures212to13, figures214, figures216, figures218, []*definition{&figurePersist}, figures219, inOrder(figures3, figures3Models, figures3time, figures3runs), figures4, []*definition{&figure4best}, figures5,
)

// The figures of predictions ask for the others, so they are added when these are there.
func init() { definitions = withRecorded(definitions) }

// inOrder are figures of a chapter by their numbers and letters, tables behind them.
func inOrder(lists ...[]*definition) []*definition {
	all := slices.Concat(lists...)
	number := func(d *definition) (n int) {
		if _, err := fmt.Sscanf(d.id, fmt.Sprintf("%d-%%d", d.chapter), &n); err != nil {
			return math.MaxInt // a table
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b *definition) int {
		return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a.id, b.id))
	})
	return all
}

// Infos is the list of figures; in a notebook it draws itself.
type Infos []cluster.FigureInfo

// List is the figures there are.
func List() Infos {
	out := Infos{}
	for _, d := range definitions {
		out = append(out, cluster.FigureInfo{ID: d.id, Title: d.title, Chapter: d.chapter, Section: d.section, State: "ok", Instant: d.form == formDots})
	}
	return out
}

func (l Infos) String() string {
	var b strings.Builder
	for i, x := range l {
		if i == 0 || l[i-1].Chapter != x.Chapter {
			fmt.Fprintf(&b, "Chapter %d\n", x.Chapter)
		}
		fmt.Fprintf(&b, "  %-10s §%-8s %s\n", x.ID, x.Section, x.Title)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// HTML is the list for a notebook.
func (l Infos) HTML() string {
	var b strings.Builder
	b.WriteString(`<table style="border-collapse:collapse">`)
	for i, x := range l {
		if i == 0 || l[i-1].Chapter != x.Chapter {
			fmt.Fprintf(&b, `<tr><th colspan="3" style="text-align:left">Chapter %d</th></tr>`, x.Chapter)
		}
		fmt.Fprintf(&b, `<tr><td style="text-align:left"><code>figures.Get(%q)</code></td><td style="text-align:left">%s</td><td style="text-align:left">§%s</td></tr>`, x.ID, html.EscapeString(x.Title), x.Section)
	}
	b.WriteString("</table>")
	return b.String()
}

// Find is the recipe of a figure by its id, as "2-4a"; of a figure with panels the
// first, without its letter.
func Find(id string) (*Recipe, error) {
	ids := make([]string, len(definitions))
	for i, d := range definitions {
		if d.id == id || d.id == id+"a" {
			return &Recipe{def: d, set: experiment.Knobs{}}, nil
		}
		ids[i] = d.id
	}
	if r := []rune(id); len(r) > 40 {
		id = string(r[:40]) + "..."
	}
	return nil, &experiment.SpecError{Field: "figure", Value: id, Rule: "no such figure", Next: "there is " + strings.Join(ids, ", ")}
}

// Panels are the ids of a figure's panels: of 5-10 they are 5-10a and 5-10b.
func Panels(number string) (out []string) {
	for _, d := range definitions {
		if letter, ok := strings.CutPrefix(d.id, number); ok && len(letter) == 1 && letter >= "a" {
			out = append(out, d.id)
		}
	}
	return out
}

// Get is Find for notebooks: an unknown id fails the cell. The workers of a lab compute the figure's runs if one is given.
func Get(id string, lab ...*cluster.Lab) *Recipe {
	r, err := Find(id)
	must(err)
	for _, l := range lab {
		r = r.On(l)
	}
	return r
}

// Recipe is a figure that can be computed, possibly with other knobs than the
// thesis's.
type Recipe struct {
	def   *definition
	set   experiment.Knobs
	fewer bool // at paper scale there are only the points that quick scale has too
	lab   *cluster.Lab
}

// On is the recipe whose runs the workers of a lab compute; nil is this process.
func (r *Recipe) On(l *cluster.Lab) *Recipe {
	out := *r
	out.lab = l
	return &out
}

// Lab is who computes the figure's runs; nil is this process.
func (r *Recipe) Lab() *cluster.Lab { return r.lab }

// and is the recipe with more knobs.
func (r *Recipe) and(set ...experiment.Knobs) *Recipe {
	out := *r
	for _, k := range set {
		out.set = with(out.set, k)
	}
	return &out
}

// ForClaims is the recipe whose points at paper scale are those that quick scale has too: the claims are measured on these,
// and all points would take most of a day.
func (r *Recipe) ForClaims() *Recipe {
	out := *r
	out.fewer = true
	return &out
}

// ID is the figure's, that of a panel where it has several.
func (r *Recipe) ID() string { return r.def.id }

// With is the figure with knobs changed in all of its runs.
func (r *Recipe) With(set cluster.Knobs) *Recipe {
	out := r.and(set)
	must(out.check(Quick))
	return out
}

// check refuses knobs that cannot be set in this figure.
func (r *Recipe) check(scale string) error {
	specs, err := r.specs(scale)
	for _, s := range specs {
		if err == nil {
			_, err = experiment.Resolve(s)
		}
	}
	return err
}

// Quick computes the figure at quick scale.
func (r *Recipe) Quick() *Figure { return r.at(Quick) }

// Paper computes the figure at paper scale.
func (r *Recipe) Paper() *Figure { return r.at(Paper) }

func (r *Recipe) at(scale string) *Figure {
	f, err := r.Run(charts.Context(), scale, nil, charts.Progress("figure "+r.def.id))
	must(err)
	return f
}

func must(err error) {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if err != nil {
		panic(&cluster.Failure{Err: err})
	}
}

// String says what would be computed.
func (r *Recipe) String() string {
	s := fmt.Sprintf("figure %s: %s (section %s); Show() computes it", r.def.id, r.def.title, r.def.section)
	if t := knobText(r.set); t != "" {
		s += " with " + t
	}
	return s
}

// HTML is String for a notebook.
func (r *Recipe) HTML() string { return "<p>" + html.EscapeString(r.String()) + "</p>" }

func knobText(k experiment.Knobs) string {
	var parts []string
	for _, name := range sortedNames(k) {
		parts = append(parts, fmt.Sprintf("%s = %v", name, k[name]))
	}
	return strings.Join(parts, ", ")
}

func sortedNames(k experiment.Knobs) []string {
	names := make([]string, 0, len(k))
	for n := range k {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Runner gives the figures to package cluster, for the page.
type Runner struct{}

func init() { cluster.SetFigures(Runner{}) }

// List is the figures there are.
func (Runner) List() []cluster.FigureInfo { return List() }

// Check says what is wrong with knobs for all runs of a figure.
func (Runner) Check(id, scale string, set experiment.Knobs) error {
	r, err := Find(id)
	if err != nil {
		return err
	}
	return (&Recipe{def: r.def, set: set}).check(scale)
}

// Run computes a figure.
func (Runner) Run(ctx context.Context, id, scale string, set experiment.Knobs, report cluster.FigureReport) (cluster.Figure, error) {
	r, err := Find(id)
	if err != nil {
		return nil, err
	}
	f, err := r.Watch(ctx, scale, set, func(done, total int, soFar func() *Figure) {
		report(done, total, func() cluster.Figure { return soFar() })
	})
	if err != nil {
		return nil, err // and not an interface that holds no figure
	}
	f.Keep("")
	return f, nil
}
