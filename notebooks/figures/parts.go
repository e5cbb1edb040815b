package figures

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"drtmx/cluster"
	"drtmx/cluster/shell"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/prediction"
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
func part(name, title string, data any) cluster.FigurePart {
	var b bytes.Buffer
	if err := partsForm.ExecuteTemplate(&b, name, data); err != nil {
		panic("figures: part " + name + ": " + err.Error()) // the form is a part of the binary
	}
	return cluster.FigurePart{Name: name, Title: title, HTML: b.String()}
}

// Parts are the claims with their verdicts, the published numbers, the recorded predictions, how the figure is made, and the
// specs behind it with what limited their runs. A part that is empty is left out.
func (f *Figure) Parts() []cluster.FigurePart {
	r := Get(f.ID).and(f.Set)
	var out []cluster.FigurePart
	if len(f.Claims) > 0 {
		out = append(out, part(partClaims, "What the thesis says, and what was measured", f.toldClaims()))
	}
	out = append(out, f.publishedPart(true)...)
	out = append(out, r.predictionsPart()...)
	return append(out, part(partMake, "To make it again", r.made(f.Scale, f.BandFactor > 0)), part(partRuns, "Spec, seed and runs", r.behind(f)))
}

// Parts are those of a figure that is not computed: what is published and predicted, and how it is made.
func (r *Recipe) Parts(scale string) []cluster.FigurePart {
	var out []cluster.FigurePart
	if r.def.form != formTable && r.def.form != formDots && len(r.set) == 0 {
		out = append(out, r.From(Quick, r.unmeasured()).publishedPart(false)...)
	}
	out = append(out, r.predictionsPart()...)
	f := r.planned(scale)
	return append(out, part(partMake, "To make it again", r.made(scale, false)), part(partRuns, "Spec, seed and runs", r.behind(f)))
}

// planned is the figure before its runs.
func (r *Recipe) planned(scale string) *Figure {
	return &Figure{ID: r.def.id, Title: r.def.title, Section: r.def.section, Scale: scale, Form: cmp.Or(r.def.form, formLines), X: r.def.x, Y: r.def.y, Set: r.set, Partial: &Partial{}}
}

// Parts are those of a figure that is not computed.
func (Runner) Parts(id string) []cluster.FigurePart {
	r, err := Find(id)
	if err != nil {
		return nil
	}
	return r.Parts(Quick)
}

// toldClaims are the claims as a page tells them.
func (f *Figure) toldClaims() any {
	type verdict struct{ Status, Mark, Why, Name, Own string }
	type claim struct {
		ID, Claim, Facts, Why string
		Verdicts              []verdict
	}
	out := struct {
		Split  bool
		Claims []claim
	}{Split: f.split()}
	for i := range f.Claims {
		c := &f.Claims[i]
		told := claim{ID: c.ID, Claim: c.Claim, Facts: c.facts(), Why: c.Why}
		for _, s := range c.states() {
			v := verdict{Status: s.Status, Mark: c.mark(s.Status), Why: verdictText[s.Status]}
			if c.Withheld {
				v.Status, v.Why = "withheld", "the thesis's number is not open yet"
			}
			if len(c.States) > 0 {
				v.Name, v.Own = s.Name, s.own()
			}
			told.Verdicts = append(told.Verdicts, v)
		}
		out.Claims = append(out.Claims, told)
	}
	return out
}

// verdictText is what a verdict means.
var verdictText = map[string]string{
	Holds:        "with its 95 % interval the measured value is on the side that the thesis says, or as near to its number as is asked",
	Contradicted: "with its 95 % interval the measured value is on the other side, or too far from the number",
	Undecided:    "the 95 % interval reaches over the limit, or a run is too short or missing: longer runs, as at paper scale, may tell",
}

// facts are the numbers of a claim. A ratio over a line has three.
func (c *Claim) facts() string {
	var list []string
	if c.Says != "" {
		list = append(list, c.Says+c.told())
	}
	if c.First != "" {
		list = append(list, "first predicted "+c.First)
	}
	if c.Says == "" && c.Reference != "" {
		list = append(list, "thesis "+c.published())
	}
	if c.Says == "" && c.Measured != nil {
		word := "measured "
		if c.Withheld {
			word = "predicted "
		}
		list = append(list, word+c.measured())
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

// published is the thesis's number with its unit.
func (c *Claim) published() string {
	return prediction.UnitOf(strings.ReplaceAll(c.Reference, "..", " to "), c.Unit)
}

// publishedRow is a number of the thesis, and what it is here.
type publishedRow struct{ ID, Text, Published, Here, Section string }

// publishedPart are these numbers, beside what was measured if it was; none if there are none.
func (f *Figure) publishedPart(measured bool) []cluster.FigurePart {
	rows := f.publishedRows()
	if len(rows) == 0 {
		return nil
	}
	return []cluster.FigurePart{part(partPublished, "Published numbers", struct {
		Rows     []publishedRow
		Measured bool
	}{rows, measured})}
}

// publishedRows are the open numbers of the thesis about the figure: those of its claims, and others on its axes.
func (f *Figure) publishedRows() (out []publishedRow) {
	taken := map[string]bool{}
	for i := range f.Claims {
		c := &f.Claims[i]
		taken[c.ID] = true
		if c.Reference == "" || c.Withheld {
			continue
		}
		row := publishedRow{ID: c.ID, Text: c.Claim, Published: c.published(), Section: f.sectionOf(c.ID)}
		if v := c.predicted(); v.Compared() != "" {
			row.Here = prediction.UnitOf(strings.ReplaceAll(v.Compared(), "..", " to "), c.Unit)
		}
		out = append(out, row)
	}
	for i := range f.References {
		if r := &f.References[i]; !taken[r.ID] {
			out = append(out, publishedRow{ID: r.ID, Text: r.Text, Published: r.number(f), Section: r.Section})
		}
	}
	return out
}

// sectionOf is where the thesis has a number.
func (f *Figure) sectionOf(id string) string {
	if p, ok := row(id); ok {
		return p.Section
	}
	if p, ok := systemResult(id); ok {
		return cmp.Or(p.Section, f.Section)
	}
	return f.Section
}

// number is a published number with its unit, and its bound where it is a limit.
func (r *Reference) number(f *Figure) string {
	if r.From == nil {
		return strings.TrimSpace(f.X.at(*r.X))
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
func (r *Recipe) made(scale string, band bool) any {
	command := []string{"drtmx", "figure", r.def.id, "--scale", scale}
	for _, name := range sortedNames(r.set) {
		command = append(command, "--set", shell.Word(name+"="+experiment.Format(name, r.set[name])))
	}
	if band {
		command = append(command, "--band")
	}
	return struct{ Command, Cell string }{strings.Join(command, " "), r.cell(scale, band)}
}

// cell is a notebook cell that makes the figure.
func (r *Recipe) cell(scale string, band bool) string {
	with, imports := "", []string{`"drtmx/notebooks/figures"`}
	if len(r.set) > 0 {
		var set []string
		for _, name := range sortedNames(r.set) {
			set = append(set, fmt.Sprintf("%q: %#v", name, r.set[name]))
		}
		with, imports = ".With(cluster.Knobs{"+strings.Join(set, ", ")+"})", slices.Insert(imports, 0, `"drtmx/cluster"`)
	}
	last := ".Show()"
	switch {
	case band && scale == Quick:
		last = ".Band()"
	case scale == Paper:
		last = ".Paper()"
	}
	return "import (\n\t" + strings.Join(imports, "\n\t") + "\n)\n\nfigures.Get(" + fmt.Sprintf("%q", r.def.id) + ")" + with + last + "\n"
}
