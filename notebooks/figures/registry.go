package figures

import (
	"encoding/json"
	"sync"

	"context"
	_ "embed"
	"fmt"
	"html"
	"slices"
	"strings"

	"drtmx/cluster"
	"drtmx/cluster/job"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/chapter2"
	"drtmx/notebooks/figures/chapter3"
	"drtmx/notebooks/figures/chapter4"
	"drtmx/notebooks/figures/chapter5"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/page"
	"drtmx/notebooks/figures/record"
)

// byChapter are the figures of the chapters, in the order of the thesis.
var byChapter = sync.OnceValue(func() []*figure.Definition {
	return slices.Concat(chapter2.Figures(), chapter3.Figures(), chapter4.Figures(), chapter5.Figures())
})

// definitions are all figures, the predictions of a chapter behind its own.
var definitions = sync.OnceValue(func() []*figure.Definition { return withRecorded(byChapter()) })

// Infos is the list of figures; in a notebook it draws itself.
type Infos []job.FigureInfo

// List is the figures there are.
func List() Infos {
	out := Infos{}
	for _, d := range definitions() {
		out = append(out, job.FigureInfo{ID: d.ID, Title: d.Title, Chapter: d.Chapter, Section: d.Section, State: "ok", Instant: d.Form == figure.FormDots})
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
func Find(id string) (*figure.Recipe, error) { return find(definitions(), id) }

func find(among []*figure.Definition, id string) (*figure.Recipe, error) {
	ids := make([]string, len(among))
	for i, d := range among {
		if d.ID == id || d.ID == id+"a" {
			return figure.New(d), nil
		}
		ids[i] = d.ID
	}
	if r := []rune(id); len(r) > 40 {
		id = string(r[:40]) + "..."
	}
	return nil, &experiment.SpecError{Field: "figure", Value: id, Rule: "no such figure", Next: "there is " + strings.Join(ids, ", ")}
}

// Panels are the ids of a figure's panels: of 5-10 they are 5-10a and 5-10b.
func Panels(number string) (out []string) {
	for _, d := range definitions() {
		if letter, ok := strings.CutPrefix(d.ID, number); ok && len(letter) == 1 && letter >= "a" {
			out = append(out, d.ID)
		}
	}
	return out
}

// Get is Find for notebooks: an unknown id fails the cell. The workers of a lab compute the figure's runs if one is given.
func Get(id string, lab ...*cluster.Lab) *figure.Recipe {
	r, err := Find(id)
	figure.Must(err)
	for _, l := range lab {
		r = r.On(l)
	}
	return r
}

// Read is a figure from its JSON, also of a figure that there is no longer.
func Read(text []byte) (*figure.Figure, error) {
	f := &figure.Figure{}
	if err := json.Unmarshal(text, f); err != nil {
		return nil, err
	}
	r, err := Find(f.ID)
	if err != nil {
		return f, nil
	}
	return r.Read(text)
}

// Runner gives the figures to package cluster, for the page.
type Runner struct{}

func init() { job.SetFigures(Runner{}) }

// List is the figures there are.
func (Runner) List() []job.FigureInfo { return List() }

// Check says what is wrong with knobs for all runs of a figure.
func (Runner) Check(id, scale string, set experiment.Knobs) error {
	r, err := Find(id)
	if err != nil {
		return err
	}
	return r.And(set).Check(scale)
}

// Run computes a figure.
func (Runner) Run(ctx context.Context, id, scale string, set experiment.Knobs, report job.FigureReport) (job.Figure, error) {
	r, err := Find(id)
	if err != nil {
		return nil, err
	}
	f, err := r.Watch(ctx, scale, set, func(done, total int, soFar func() *figure.Figure) {
		report(done, total, func() job.Figure { return soFar() })
	})
	if err != nil {
		return nil, err // and not an interface that holds no figure
	}
	f.Keep("")
	return f, nil
}

// Read is a figure from its JSON, for the page.
func (Runner) Read(text []byte) (job.Figure, error) {
	f, err := Read(text)
	if err != nil {
		return nil, err // and not an interface that holds no figure
	}
	return f, nil
}

// Sketch is the picture of a figure that is not computed, "" for an id that is none.
func (Runner) Sketch(id string) string {
	r, err := Find(id)
	if err != nil {
		return ""
	}
	return r.Sketch()
}

// Known is the figure as it was computed before, by the user or for the repository. Of one that takes no time there is no need.
func (Runner) Known(id string) (job.KnownFigure, bool) {
	r, err := Find(id)
	if err != nil || r.Definition.Form == figure.FormDots {
		return job.KnownFigure{}, false
	}
	return record.Known(r)
}

// Known is what there is of a figure with the thesis's knobs before it is computed, nil for nothing.
func Known(id string) *Figure {
	k, ok := Runner{}.Known(id)
	if !ok {
		return nil
	}
	f, err := k.Load()
	if err != nil { // it is computed when it is asked for
		return nil
	}
	return f.(*Figure)
}

// Parts are what is known of a figure beside its picture; f is nil before it is computed.
func (Runner) Parts(id string, f job.Figure) []job.FigurePart {
	if f, ok := f.(*figure.Figure); ok {
		return Parts(f)
	}
	r, err := Find(id)
	if err != nil {
		return nil
	}
	return PlannedParts(r, figure.Quick)
}

// Parts are what is known of a computed figure beside its picture.
func Parts(f *figure.Figure) []job.FigurePart {
	return page.Parts(Get(f.ID).And(f.Set), f, recordedReport)
}

// PlannedParts are those of a figure that is not computed: what is published and predicted, and how it is made.
func PlannedParts(r *figure.Recipe, scale string) []job.FigurePart {
	return page.Planned(r, scale, recordedReport)
}
