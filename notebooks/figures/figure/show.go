package figure

import (
	"fmt"
	"time"

	"drtmx/dashboard/charts"
)

// drawnEvery bounds how often a figure is drawn again while its points come.
const drawnEvery = 400 * time.Millisecond

// Show computes the figure at quick scale and displays it below the cell, its points
// as they come. An interrupt leaves those that are there.
func (r *Recipe) Show() {
	d := display{drawn: time.Now()}
	f := r.watch(Quick, d.soFar)
	d.show(f.SimpleRender())
}

// Compare is Show of the figure with the thesis's knobs and, drawn over it, with
// those of With.
func (r *Recipe) Compare() {
	d := display{drawn: time.Now()}
	base := New(r.Definition).watch(Quick, d.soFar)
	if len(r.Changed) == 0 {
		d.show(base.SimpleRender())
		return
	}
	over := func(f *Figure) charts.Bundle { return (&Comparison{base, f}).SimpleRender() }
	d.show(over(r.watch(Quick, func(done, total int, soFar func() *Figure) {
		d.showThrottled(done, total, func() charts.Bundle { return over(soFar()) })
	})))
}

func (r *Recipe) watch(scale string, report func(done, total int, soFar func() *Figure)) *Figure {
	f, err := r.Watch(charts.Context(), scale, nil, report)
	Must(err)
	f.Keep("")
	return f
}

// display is the place of a figure below its cell.
type display struct {
	id    string
	drawn time.Time
}

func (d *display) soFar(done, total int, f func() *Figure) {
	d.showThrottled(done, total, func() charts.Bundle { return f().SimpleRender() })
}

// showThrottled shows what there is, unless it did so a moment ago or all will be there at
// once. What runs report comes from one goroutine at a time.
func (d *display) showThrottled(done, total int, b func() charts.Bundle) {
	if done < total && time.Since(d.drawn) >= drawnEvery && charts.HasFrontend() {
		d.show(b())
	}
}

func (d *display) show(b charts.Bundle) {
	d.drawn = time.Now()
	if d.id == "" {
		d.id = charts.Display(b)
		return
	}
	charts.Update(d.id, b)
}

// Comparison is a figure and the same with other knobs, drawn over it.
type Comparison struct{ Base, With *Figure }

// SimpleRender is every form that a notebook can show.
func (c *Comparison) SimpleRender() charts.Bundle {
	return charts.Bundle{"text/plain": c.String(), "text/html": c.HTML(), "image/svg+xml": c.Base.Chart(c.With).SVG()}
}

// HTML is the picture of both.
func (c *Comparison) HTML() string {
	return c.Base.Chart(c.With).HTML() + paragraph(c.Base.Caption()) + paragraph(c.With.Caption())
}

func (c *Comparison) String() string { return fmt.Sprintf("%s\n\n%s", c.Base, c.With) }
