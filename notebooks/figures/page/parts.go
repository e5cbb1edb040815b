package page

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"drtmx/cluster/job"
	"drtmx/cluster/shell"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/prediction"
	"drtmx/notebooks/figures/published"
)

// The parts of a figure are what is known of it beside its picture, as HTML without a style of its own: the page of the
// dashboard and that of a gallery show the same.

// The names of the parts.
const (
	partClaims      = "claims"
	partPublished   = "published"
	partPredictions = "predictions"
	partMake        = "make"
	partRuns        = "runs"
)

//go:embed parts.html
var partsFile string

var partsForm = template.Must(template.New("parts").Parse(partsFile))

// part fills in the form of a part; nothing is a part without anything.
func part(name, title string, data any) job.FigurePart {
	var b bytes.Buffer
	if err := partsForm.ExecuteTemplate(&b, name, data); err != nil {
		panic("figures: part " + name + ": " + err.Error()) // the form is a part of the binary
	}
	return job.FigurePart{Name: name, Title: title, HTML: b.String()}
}

// Reports give the recorded predictions of a chapter.
type Reports func(chapter int) *prediction.Report

// Parts are the claims with their verdicts, the published numbers, the recorded predictions, how the figure is made, and
// the specs behind it with what limited their runs. A part that is empty is left out.
func Parts(r *figure.Recipe, f *figure.Figure, recorded Reports) []job.FigurePart {
	var out []job.FigurePart
	if len(f.Claims) > 0 {
		out = append(out, part(partClaims, "What the thesis says, and what was measured", toldClaims(f)))
	}
	out = append(out, publishedPart(f, true)...)
	out = append(out, predictionsPart(r, recorded)...)
	return append(out, part(partMake, "To make it again", made(r, f.Scale, f.BandFactor > 0)), part(partRuns, "Spec, seed and runs", behind(r, f)))
}

// Planned are those of a figure that is not computed: what is published and predicted, and how it is made.
func Planned(r *figure.Recipe, scale string, recorded Reports) []job.FigurePart {
	var out []job.FigurePart
	if r.Definition.Form != figure.FormTable && r.Definition.Form != figure.FormDots && len(r.Changed) == 0 {
		out = append(out, publishedPart(r.From(figure.Quick, r.Unmeasured()), false)...)
	}
	out = append(out, predictionsPart(r, recorded)...)
	f := planned(r, scale)
	return append(out, part(partMake, "To make it again", made(r, scale, false)), part(partRuns, "Spec, seed and runs", behind(r, f)))
}

// planned is the figure before its runs.
func planned(r *figure.Recipe, scale string) *figure.Figure {
	return &figure.Figure{ID: r.Definition.ID, Title: r.Definition.Title, Section: r.Definition.Section, Scale: scale, Form: cmp.Or(r.Definition.Form, figure.FormLines), X: r.Definition.X, Y: r.Definition.Y, Set: r.Changed, Partial: &figure.Partial{}}
}

// toldClaims are the claims as a page tells them.
func toldClaims(f *figure.Figure) any {
	type verdict struct{ Status, Mark, Why, Name, Own string }
	type claim struct {
		ID, Claim, Facts, Why string
		Verdicts              []verdict
	}
	out := struct {
		Split  bool
		Claims []claim
	}{Split: f.Split()}
	for i := range f.Claims {
		c := &f.Claims[i]
		told := claim{ID: c.ID, Claim: c.Claim, Facts: facts(c), Why: c.Why}
		for _, s := range c.AllStates() {
			v := verdict{Status: s.Status, Mark: figure.Mark(s.Status), Why: verdictText[s.Status]}
			if len(c.States) > 0 {
				v.Name, v.Own = s.Name, s.Own()
			}
			told.Verdicts = append(told.Verdicts, v)
		}
		out.Claims = append(out.Claims, told)
	}
	return out
}

// verdictText is what a verdict means.
var verdictText = map[string]string{
	figure.Holds:        "with its 95 % interval the measured value is on the side that the thesis says, or as near to its number as is asked",
	figure.Contradicted: "with its 95 % interval the measured value is on the other side, or too far from the number",
	figure.Undecided:    "the 95 % interval reaches over the limit, or a run is too short or missing: longer runs, as at paper scale, may tell",
}

// facts are the numbers of a claim. A ratio over a line has three.
func facts(c *figure.Claim) string {
	var list []string
	if c.Says != "" {
		list = append(list, c.Says+c.BandText())
	}
	if c.First != "" {
		list = append(list, "predicted blind as "+c.First)
	}
	if c.Says == "" && c.Reference != "" {
		list = append(list, "thesis "+publishedNumber(c))
	}
	if c.Says == "" && c.Measured != nil {
		list = append(list, "measured "+c.MeasuredText())
	}
	if c.Smallest != nil && c.Largest != nil && *c.Smallest != *c.Largest {
		text := fmt.Sprintf("from %s to %s", charts.Digits(*c.Smallest, 4), charts.Digits(*c.Largest, 4))
		if c.Peak != nil {
			text += ", peak over peak " + charts.Digits(*c.Peak, 4)
		}
		list = append(list, text)
	}
	return cmp.Or(strings.Join(list, " · "), "an ordering")
}

// publishedNumber is the thesis's number with its unit.
func publishedNumber(c *figure.Claim) string {
	return prediction.UnitOf(strings.ReplaceAll(c.Reference, "..", " to "), c.Unit)
}

// publishedRow is a number of the thesis, and what it is here.
type publishedRow struct{ ID, Text, Published, Measured, Section string }

// publishedPart are these numbers, beside what was measured if it was; none if there are none.
func publishedPart(f *figure.Figure, measured bool) []job.FigurePart {
	rows := publishedRows(f)
	if len(rows) == 0 {
		return nil
	}
	return []job.FigurePart{part(partPublished, "Published numbers", struct {
		Rows     []publishedRow
		Measured bool
	}{rows, measured})}
}

// publishedRows are the open numbers of the thesis about the figure: those of its claims, and others on its axes.
func publishedRows(f *figure.Figure) (out []publishedRow) {
	taken := map[string]bool{}
	for i := range f.Claims {
		c := &f.Claims[i]
		taken[c.ID] = true
		if c.Reference == "" {
			continue
		}
		row := publishedRow{ID: c.ID, Text: c.Claim, Published: publishedNumber(c), Section: sectionOf(f, c.ID)}
		if v := c.Predicted(); v.Compared() != "" {
			row.Measured = prediction.UnitOf(strings.ReplaceAll(v.Compared(), "..", " to "), c.Unit)
		}
		out = append(out, row)
	}
	for i := range f.References {
		if r := &f.References[i]; !taken[r.ID] {
			out = append(out, publishedRow{ID: r.ID, Text: r.Text, Published: number(r, f), Section: r.Section})
		}
	}
	return out
}

// sectionOf is where the thesis has a number.
func sectionOf(f *figure.Figure, id string) string {
	if p, ok := published.Find(id); ok {
		return p.Section
	}
	if p, ok := published.FindSystem(id); ok {
		return cmp.Or(p.Section, f.Section)
	}
	return f.Section
}

// number is a published number with its unit, and its bound where it is a limit.
func number(r *figure.Reference, f *figure.Figure) string {
	if r.From == nil {
		return strings.TrimSpace(f.X.At(*r.X))
	}
	text := charts.Exact(*r.To)
	if *r.From != *r.To {
		text = charts.Exact(*r.From) + " to " + text
	}
	if r.Bound != "" {
		text = r.Bound + " " + text
	}
	return prediction.UnitOf(text, f.Y.Unit)
}

// made is how a figure is made: the command, and the notebook cell.
func made(r *figure.Recipe, scale string, band bool) any {
	command := []string{"drtmx", "figure", r.Definition.ID, "--scale", scale}
	for _, name := range experiment.SortedNames(r.Changed) {
		command = append(command, "--set", shell.Word(name+"="+experiment.Format(name, r.Changed[name])))
	}
	if band {
		command = append(command, "--band")
	}
	return struct{ Command, Cell string }{strings.Join(command, " "), cell(r, scale, band)}
}

// cell is a notebook cell that makes the figure.
func cell(r *figure.Recipe, scale string, band bool) string {
	with, imports := "", []string{`"drtmx/notebooks/figures"`}
	if len(r.Changed) > 0 {
		var set []string
		for _, name := range experiment.SortedNames(r.Changed) {
			set = append(set, fmt.Sprintf("%q: %#v", name, r.Changed[name]))
		}
		with, imports = ".With(cluster.Knobs{"+strings.Join(set, ", ")+"})", slices.Insert(imports, 0, `"drtmx/cluster"`)
	}
	last := ".Show()"
	switch {
	case band && scale == figure.Quick:
		last = ".Band()"
	case scale == figure.Paper:
		last = ".Paper()"
	}
	return "import (\n\t" + strings.Join(imports, "\n\t") + "\n)\n\nfigures.Get(" + fmt.Sprintf("%q", r.Definition.ID) + ")" + with + last + "\n"
}
