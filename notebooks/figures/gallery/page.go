package gallery

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"

	"drtmx/cluster/job"
	"drtmx/cluster/shell"
	"drtmx/dashboard/charts"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures"
	"drtmx/notebooks/figures/page"
)

//go:embed page.html
var pageFile string

//go:embed index.html
var indexForm string

//go:embed style.css
var style string

var forms = template.Must(template.Must(template.New("page").Parse(pageFile)).New("index").Parse(indexForm))

// phone is the picture for a phone: its letters are as large there as those around it. The page has its title.
var phone = charts.Style{WidthMM: 124, Points: 9, Untitled: true}

// shownPage is the page of a figure as its form takes it.
type shownPage struct {
	Style                 template.CSS
	Figure                job.FigureInfo
	Heading               string
	Before, After         *job.FigureInfo
	Wide, Narrow          template.HTML // the picture
	Caption, Structure    string
	Made                  string // when and by which code it was computed before
	Failed, Command, Code string
	Verdicts              *job.Verdicts // nil: it is not computed
	Files                 bool
	Parts                 []shownPart
}

type shownPart struct {
	Name, Title string
	HTML        template.HTML
}

func partsOf(list []job.FigurePart) (out []shownPart) {
	for _, p := range list {
		out = append(out, shownPart{p.Name, p.Title, template.HTML(p.HTML)})
	}
	return out
}

// heading names a figure; tables and predictions name themselves.
func heading(x job.FigureInfo) string {
	if strings.HasPrefix(x.ID, "t") || strings.HasPrefix(x.ID, "p") {
		return x.Title
	}
	return "Figure " + x.ID + ": " + x.Title
}

func (g *Gallery) shown(i int) shownPage {
	p := shownPage{Style: template.CSS(style), Figure: g.list[i], Heading: heading(g.list[i]), Command: g.command(), Code: g.code(g.list[i].ID)}
	if i > 0 {
		p.Before = &g.list[i-1]
	}
	if i+1 < len(g.list) {
		p.After = &g.list[i+1]
	}
	return p
}

// page is that of a computed figure.
func (g *Gallery) page(i int, f *figures.Figure, wide string) ([]byte, error) {
	p := g.shown(i)
	v := f.Verdicts()
	narrow, err := f.Picture(phone).SVG()
	if err != nil {
		return nil, err
	}
	says := p.Heading + ". " + f.Caption() + ". The numbers are in a table on this page."
	p.Wide, p.Narrow = inline(wide, "wide", says), inline(string(narrow), "narrow", says)
	p.Caption, p.Structure, p.Verdicts, p.Files = f.Caption(), f.Structure, &v, true
	if f.Made != nil {
		p.Made = f.Made.String()
	}
	parts := figures.Parts(f)
	at := slices.IndexFunc(parts, func(x job.FigurePart) bool { return x.Name == "make" })
	p.Parts = partsOf(slices.Insert(parts, at, page.Numbers(f)))
	return fill("page", p), nil
}

// planned is the page of a figure that is not there, and why it is not if it failed.
func (g *Gallery) planned(i int, failed string) []byte {
	p := g.shown(i)
	p.Failed = failed
	p.Wide = inline(figures.Runner{}.Sketch(p.Figure.ID), "planned", "what is published of it: "+p.Heading)
	r := figures.Get(p.Figure.ID)
	if (figures.Runner{}).Check(p.Figure.ID, g.o.Scale, g.o.Set) == nil { // else it fails, and says why
		r = r.With(g.o.Set)
	}
	p.Parts = partsOf(figures.PlannedParts(r, g.o.Scale))
	return fill("page", p)
}

func fill(form string, data any) []byte {
	var b bytes.Buffer
	if err := forms.ExecuteTemplate(&b, form, data); err != nil {
		panic("gallery: " + form + ": " + err.Error()) // the form is a part of the binary
	}
	return b.Bytes()
}

// inline makes of a picture's file an element of a page, with what it shows in words.
func inline(svg, class, says string) template.HTML {
	_, svg, ok := strings.Cut(svg, "<svg ")
	if !ok {
		return ""
	}
	return template.HTML(fmt.Sprintf(`<svg class="%s" role="img" aria-label="%s" %s`, class, html.EscapeString(says), svg))
}

// command makes the gallery, in whatever folder.
func (g *Gallery) command() string {
	words := []string{"drtmx", "figure", "all", "--scale", g.o.Scale}
	for _, name := range experiment.SortedNames(g.o.Set) {
		words = append(words, "--set", shell.Word(name+"="+experiment.Format(name, g.o.Set[name])))
	}
	if g.o.Band {
		words = append(words, "--band")
	}
	return strings.Join(append(words, "--html", "DIR"), " ")
}

// shownIndex is the index as its form takes it.
type shownIndex struct {
	Style          template.CSS
	Scale, Command string
	Code           string
	Computed, All  int
	Verdicts       job.Verdicts
	Missing        []job.FigureInfo
	Known, Older   int // figures that were computed before, and those that other code made
	Chapters       []shownChapter
}

type shownChapter struct {
	N        int
	Computed int
	Verdicts job.Verdicts
	Figures  []shownCard
}

// shownCard is a figure in the index.
type shownCard struct {
	job.FigureInfo
	Sketch   template.HTML
	Computed bool
	Failed   bool
	Older    string // the version of the code that made it, if it is another one
	Verdicts job.Verdicts
}

// Claims says that there is something to tell of claims.
func (c shownCard) Claims() bool { return c.Verdicts != job.Verdicts{} }

// index writes the index.
func (g *Gallery) index() error {
	x := shownIndex{Style: template.CSS(style), Scale: g.o.Scale, Command: g.command(), Code: code.Build()}
	x.Computed, x.All = g.Count()
	for _, info := range g.list {
		if len(x.Chapters) == 0 || x.Chapters[len(x.Chapters)-1].N != info.Chapter {
			x.Chapters = append(x.Chapters, shownChapter{N: info.Chapter})
		}
		c := &x.Chapters[len(x.Chapters)-1]
		e, card := g.state.Figures[info.ID], shownCard{FigureInfo: info, Computed: g.computed(info.ID)}
		sketch := e.Sketch
		switch {
		case card.Computed:
			card.Verdicts = e.Verdicts
			c.Computed++
			add(&c.Verdicts, e.Verdicts)
			if !info.Instant { // its claims are those of the others
				add(&x.Verdicts, e.Verdicts)
			}
			if e.Differs || e.Code != g.code(info.ID) {
				card.Older = e.Code
				x.Older++
			}
			if e.Made != "" {
				x.Known++
			}
		default:
			card.Failed = e.Failed != ""
			sketch = figures.Runner{}.Sketch(info.ID)
			x.Missing = append(x.Missing, info)
		}
		card.Sketch = inline(sketch, "sketch", "")
		c.Figures = append(c.Figures, card)
	}
	return g.write(indexFile, fill("index", x))
}

func add(to *job.Verdicts, v job.Verdicts) {
	to.Holds, to.Contradicted, to.Undecided = to.Holds+v.Holds, to.Contradicted+v.Contradicted, to.Undecided+v.Undecided
}

// stepsOf is what the links to the neighbours of a page take.
type stepsOf struct {
	Label string
	Page  shownPage
}

// Steps are those links under a label, which tells the two places of them apart.
func (p shownPage) Steps(label string) stepsOf { return stepsOf{label, p} }
