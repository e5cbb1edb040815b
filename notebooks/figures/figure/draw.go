package figure

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"drtmx/cluster/job"
	"drtmx/cluster/tidy"
	"drtmx/dashboard/charts"
)

// title is what stands over the picture.
func (f *Figure) title() string {
	if f.ID > ":" { // tables and predictions name themselves: their ids begin with a letter
		return f.Title
	}
	return "Figure " + f.ID + ": " + f.Title
}

// pictured is the title of a picture that stands alone: a reader of its numbers has to
// know what the note says.
func (f *Figure) pictured() string {
	title := f.title()
	if f.Note != "" && f.Form != FormDots {
		title += "; " + f.Note
	}
	if k := f.knobs(); k != "" {
		title += "; with " + k
	}
	switch {
	case len(f.BandCosts) == 1:
		title += "; bands: " + f.BandCosts[0]
	case len(f.BandCosts) > 1:
		title += fmt.Sprintf("; bands: less and more, by up to %g times, of the assumed cost that moves a point most", f.BandFactor)
	}
	return title
}

// Title is the label with the unit.
func (a Axis) Title() string { return a.Label + " (" + a.Unit + ")" }

// ownX is the X axis with ticks at the figure's own values and at the published ones.
func (f *Figure) ownX() charts.Axis {
	x := f.X.chart()
	if f.Form != FormLines {
		return x
	}
	if x.Ticks = f.xs(); len(x.Ticks) > mostTicks {
		x.Ticks = nil
		return x
	}
	for _, r := range f.References {
		if r.X != nil && r.Relative == "" {
			x.Ticks = append(x.Ticks, *r.X)
		}
	}
	slices.Sort(x.Ticks)
	if x.Ticks = slices.Compact(x.Ticks); len(x.Ticks) < 2 {
		x.Ticks = nil
	}
	return x
}

// mostTicks is how many values of X are marked one by one, and written in text.
const mostTicks = 20

func (a Axis) chart() charts.Axis { return charts.Axis{Label: a.Label, Unit: a.Unit, Log: a.Log} }

// lines are the series as the chart builders take them, with the published numbers.
func (f *Figure) lines() (title string, x, y charts.Axis, series []charts.Series, refs []charts.Reference) {
	for _, s := range f.Series {
		c := charts.Series{Name: s.Name}
		if of, published := strings.CutSuffix(s.Name, AbortsIgnored); published {
			c.Of, c.Variant = of, 1
		}
		for _, p := range s.Points {
			c.X, c.Y, c.CI = append(c.X, p.X), append(c.Y, p.Y), append(c.CI, p.CI95)
			c.Notes = append(c.Notes, Coroutines(p.Load))
			if f.Form == FormCurves {
				c.Labels = append(c.Labels, strconv.Itoa(p.Load))
			}
			if f.BandFactor > 0 {
				c.Band = append(c.Band, p.Band.chart())
			}
		}
		series = append(series, c)
	}
	return f.pictured(), f.ownX(), f.Y.chart(), series, f.marks()
}

// Chart is the figure's picture, with others of the same figure drawn over it.
func (f *Figure) Chart(over ...*Figure) *charts.Chart {
	if f.Form == FormTable {
		return charts.Table(f.title(), f.cells())
	}
	return f.draw(charts.Size{}, f.pictured(), over)
}

// Draw is Chart for a page that has the title already. Of a table, which the page has
// too, it is the bars.
func (f *Figure) Draw(size charts.Size, over ...job.Figure) *charts.Chart {
	var others []*Figure
	for _, o := range over {
		if o, ok := o.(*Figure); ok {
			others = append(others, o)
		}
	}
	return f.draw(size, "", others)
}

func (f *Figure) draw(size charts.Size, title string, others []*Figure) *charts.Chart {
	switch f.Form {
	case FormDots:
		return charts.DotRowsSized(size, title, f.DotRows())
	case FormRanking, FormBars, FormStacked, FormTable:
		_, y, parts, bars := f.Bars(others)
		return charts.RankingSized(size, title, y, parts, bars)
	}
	_, x, y, series, refs := f.over(others)
	return charts.LinesSized(size, title, x, y, series, refs)
}

// over are the lines of the figure and of others: the colours are the figure's, each
// of the others has a dash and a sign of its own, and its knobs in its names.
func (f *Figure) over(others []*Figure) (title string, x, y charts.Axis, series []charts.Series, refs []charts.Reference) {
	title, x, y, series, refs = f.lines()
	for i, o := range others {
		_, _, _, more, _ := o.lines()
		for _, s := range more {
			s.Of, s.Variant, s.Labels = s.Name, i+1, nil
			s.Name += ", " + o.knobs()
			series = append(series, s)
		}
	}
	return title, x, y, series, refs
}

// knobs are those that were changed, as part of a name.
func (f *Figure) knobs() string {
	t := []rune(knobText(f.Set))
	if len(t) > 40 {
		t = append(t[:39], '…')
	}
	return string(t)
}

// SVG is the picture as text.
func (f *Figure) SVG() string { return f.Chart().SVG() }

// PNG is the picture at 192 dots per inch.
func (f *Figure) PNG() ([]byte, error) { return f.Picture(charts.Style{}).PNG() }

// PDF is the picture with its fonts.
func (f *Figure) PDF() ([]byte, error) { return f.Picture(charts.Style{}).PDF() }

// Picture is the figure as a file has it, in a style: SVG, PNG, PDF or PGF.
func (f *Figure) Picture(style charts.Style) charts.Picture {
	over := func(title string) string {
		if style.Untitled {
			return ""
		}
		return title
	}
	switch f.Form {
	case FormDots:
		return charts.DotRowsPicture(style, over(f.title()), f.DotRows())
	case FormTable:
		return charts.TablePicture(style, over(f.title()), f.cells())
	case FormRanking, FormBars, FormStacked:
		title, y, parts, bars := f.Bars(nil)
		return charts.RankingPicture(style, over(title), y, parts, bars)
	}
	title, x, y, series, refs := f.lines()
	return charts.LinesPicture(style, over(title), x, y, series, refs)
}

// SimpleRender is every form that a notebook can show.
func (f *Figure) SimpleRender() charts.Bundle {
	return charts.Bundle{"text/plain": f.String(), "text/html": f.HTML(), "image/svg+xml": f.SVG()}
}

// HTML is the picture and the claims below it.
func (f *Figure) HTML() string {
	var b strings.Builder
	if f.Form == FormTable {
		b.WriteString(f.Chart().HTML())
	} else { // a title of text is never cut off
		b.WriteString(`<p style="margin:4px 0"><strong>` + html.EscapeString(f.pictured()) + `</strong></p>`)
		b.WriteString(f.draw(charts.Size{}, "", nil).Named(f.pictured()).HTML())
	}
	b.WriteString(paragraph(f.Caption()))
	if f.Structure != "" {
		b.WriteString(paragraph("structure: " + f.Structure))
	}
	b.WriteString(f.numberTable())
	if len(f.Claims) == 0 {
		return b.String()
	}
	b.WriteString(f.claimTable())
	return b.String()
}

func paragraph(text string) string {
	return `<p style="margin:4px 0">` + html.EscapeString(text) + "</p>"
}

// Caption says at which scale and how far that is from paper scale.
func (f *Figure) Caption() string {
	s := f.Scale + " scale, values per " + f.Scope
	if f.Scope == "cluster" {
		s = f.Scale + " scale, values of the whole cluster"
	}
	if c := f.Computed; c != nil {
		s = f.Scale + " scale, computed without a run from " + c.Of
	}
	if f.Form == FormDots {
		s = "as they are recorded, as ratios by what is published"
	}
	if f.Form == FormCurves {
		s += ", coroutines per thread at the points"
	}
	if f.Note != "" {
		s += "; " + f.Note
	}
	if g := f.GapAt; g != nil {
		at := strings.TrimSpace(cmp.Or(g.Name, f.X.At(g.X)))
		if f.Form == FormBars {
			p, _ := f.Line(g.Series).At(g.X)
			at = p.Name
		}
		if g.Load > 0 {
			at = fmt.Sprintf("%s (%.4g %s, at paper scale %.4g)", Coroutines(g.Load), g.X, f.X.Unit, g.PaperX)
		}
		s += fmt.Sprintf("; %s at %s is %s paper scale's (%.4g for %.4g %s)", g.Series, at, off(f.PaperGap), g.OwnScale, g.Paper, f.Y.Unit)
	}
	if t := knobText(f.Set); t != "" {
		s += "; with " + t
	}
	if len(f.BandCosts) > 0 {
		s += "; bands: " + strings.Join(f.BandCosts, ", ")
	}
	if p := f.Partial; p != nil {
		s += fmt.Sprintf("; %d of %d runs", p.Done, p.Total)
	}
	return s
}

// off is a difference in words.
func off(share float64) string {
	if share < 0 {
		return fmt.Sprintf("%.1f %% below", -100*share)
	}
	return fmt.Sprintf("%.1f %% above", 100*share)
}

// String is the points as a table and the verdicts on the claims.
func (f *Figure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", f.title(), f.Caption())
	if f.Structure != "" {
		fmt.Fprintf(&b, "structure: %s\n", f.Structure)
	}
	if f.Form == FormDots && f.recipe != nil { // the rows are the claims
		b.WriteString(f.recipe.Definition.Text())
		return b.String()
	}
	switch f.Form {
	case FormRanking:
		b.WriteString(f.ranking())
	case FormCurves, FormBars, FormStacked, FormTable:
		f.grid(&b)
	default:
		f.table(&b)
	}
	b.WriteString(f.numbers())
	b.WriteString(f.heads())
	told := "" // why a run is not steady is said once
	for i := range f.Claims {
		c := f.Claims[i]
		if before, why, ok := strings.Cut(c.Why, notSteady); ok {
			if why == told {
				c.Why = before + "not steady either"
			}
			told = why
		}
		f.writeClaim(&b, &c)
	}
	return b.String()
}

// Where a reason stands below its claim in text, and how far it goes.
const (
	reasonIndent = 17
	reasonEnd    = 120
)

// wrap writes a reason, a line for each of its parts and more for long ones.
func wrap(b *strings.Builder, why string) {
	for _, part := range strings.Split(strings.ReplaceAll(why, ". Correct", "; Correct"), "; ") {
		at := reasonEnd // the first word begins a line
		for _, word := range strings.Fields(part) {
			n := utf8.RuneCountInString(word)
			if at+1+n > reasonEnd {
				fmt.Fprintf(b, "\n%*s", reasonIndent, "")
				at = reasonIndent
			} else {
				b.WriteByte(' ')
				at++
			}
			b.WriteString(word)
			at += n
		}
	}
}

// Rows is a row for each point.
func (f *Figure) Rows() *tidy.Table {
	t := &tidy.Table{}
	for _, s := range f.Series {
		for _, p := range s.Points {
			t.Row()
			t.Set("figure", f.ID)
			t.Set("series", s.Name)
			t.Set(f.X.Title(), p.X)
			t.Set(f.Y.Title(), p.Y)
			t.Set("ci95", p.CI95)
			t.Set("load", p.Load)
			t.Set("name", p.Name)
			if b := p.Band; b != nil {
				for _, side := range []struct {
					name string
					at   Place
				}{{"fewer cycles, ", b.Fewer}, {"more cycles, ", b.More}} {
					t.Set(side.name+f.X.Title(), side.at.X)
					t.Set(side.name+f.Y.Title(), side.at.Y)
				}
			}
		}
	}
	return t
}

// CSV is Rows as text.
func (f *Figure) CSV() string { return string(f.Rows().CSV()) }
