package table

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// UnitOf reads the unit from the name of a number, or of a knob.
func UnitOf(name string) string {
	switch {
	case strings.HasPrefix(name, "throughput"), strings.HasSuffix(name, "_per_s"):
		return "1/s"
	case strings.HasSuffix(name, "_us"), strings.Contains(name, "_us."):
		return "µs"
	case strings.HasSuffix(name, "_ns"), strings.Contains(name, "_ns."):
		return "ns"
	case strings.HasSuffix(name, "_ms"):
		return "ms"
	}
	if knob.Find(name) != nil {
		return experiment.Unit(name)
	}
	return ""
}

// drawn is a plot as its builders take it: tracks over an axis, or bars.
type drawn struct {
	title  string
	x, y   charts.Axis
	tracks []charts.Track
	parts  []charts.Part
	bars   []charts.Bars
}

func (p *Plot) drawn() (*drawn, error) {
	sets, err := p.sets()
	if err != nil {
		return nil, err
	}
	d := &drawn{title: p.title}
	if d.title == "" {
		d.title = p.heading()
	}
	switch p.kind {
	case bars:
		return d, p.asBars(d, sets)
	case hist:
		p.asHistogram(d, sets)
		return d, nil
	}
	return d, p.asTracks(d, sets)
}

// heading is a title made of the columns.
func (p *Plot) heading() string {
	text := strings.Join(slices.Concat(p.ys, p.right), " and ")
	switch {
	case p.kind == hist:
		text = "distribution of " + text
	case p.kind == bars:
		text += " by " + p.x
	default:
		text += " over " + p.x
	}
	if p.by != "" {
		text += ", by " + p.by
	}
	return text
}

// asTracks draws lines and points: columns of a unit on one axis, further units below.
func (p *Plot) asTracks(d *drawn, sets []set) error {
	ok, names := numeric(sets)
	if err := tooMany("an axis", p.x, len(names)); err != nil {
		return err
	}
	d.x = charts.Axis{Label: p.x, Names: names, Log: p.logX && ok}
	if ok {
		d.x.Unit, d.x.Whole = UnitOf(p.x), whole(sets)
	}
	for _, s := range sets {
		i := p.track(d, s)
		d.tracks[i].Series = append(d.tracks[i].Series, p.series(s, ok, names))
	}
	return nil
}

func whole(sets []set) bool {
	for _, s := range sets {
		for _, v := range s.x {
			if _, is := v.(int64); !is {
				return false
			}
		}
	}
	return true
}

// track is the one that a set belongs to.
func (p *Plot) track(d *drawn, s set) int {
	axis := charts.Axis{Label: s.column, Unit: UnitOf(s.column), Log: p.logY && !s.right}
	join := func(a *charts.Axis) {
		if !slices.Contains(strings.Split(a.Label, ", "), s.column) {
			a.Label += ", " + s.column
		}
	}
	if s.right && len(d.tracks) > 0 {
		t := &d.tracks[0]
		if t.Right == nil {
			t.Right = &axis
		}
		join(t.Right)
		return 0
	}
	for i := range d.tracks {
		if d.tracks[i].Y.Unit == axis.Unit && (axis.Unit != "" || len(p.right) > 0 || d.tracks[i].Y.Label == axis.Label) {
			join(&d.tracks[i].Y)
			return i
		}
	}
	d.tracks = append(d.tracks, charts.Track{Y: axis})
	return len(d.tracks) - 1
}

// series is a set as it is drawn, with no more points than can be seen.
func (p *Plot) series(s set, numbers bool, names []string) charts.Series {
	out := charts.Series{Name: s.name, Dots: p.kind == scatter, Right: s.right}
	xs := make([]float64, len(s.x))
	order := make([]int, 0, len(s.x))
	place := map[string]int{}
	for i, name := range names {
		place[name] = i
	}
	for i, v := range s.x {
		if xs[i], _ = numberOf(v); !numbers {
			xs[i] = float64(place[shown(v)])
		}
		if !math.IsNaN(xs[i]) && !math.IsInf(xs[i], 0) {
			order = append(order, i)
		}
	}
	if p.kind == lines {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(xs[a], xs[b]) })
	}
	if s.half == nil {
		order = seen(order, xs, s.y, p.kind == lines)
	}
	for _, i := range order {
		out.X, out.Y = append(out.X, xs[i]), append(out.Y, s.y[i])
		if s.half != nil {
			out.CI = append(out.CI, s.half[i])
		}
	}
	return out
}

// A picture has so many columns and rows of places for points; of several points in one place a reader sees one.
const placesX, placesY = 190, 96

// seen are the points that show: of each place one, and of a line the lowest and the highest in each column of places.
func seen(order []int, xs, ys []float64, line bool) []int {
	if len(order) <= 2*placesX {
		return order
	}
	loX, hiX, loY, hiY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, i := range order {
		if !math.IsNaN(ys[i]) && !math.IsInf(ys[i], 0) {
			loX, hiX, loY, hiY = min(loX, xs[i]), max(hiX, xs[i]), min(loY, ys[i]), max(hiY, ys[i])
		}
	}
	column := func(i int) int { return int((xs[i] - loX) / (hiX - loX) * (placesX - 1)) }
	var out []int
	if !line {
		taken := map[[2]int]bool{}
		for _, i := range order {
			at := [2]int{column(i), int((ys[i] - loY) / (hiY - loY) * (placesY - 1))}
			if !math.IsNaN(ys[i]) && !taken[at] {
				taken[at], out = true, append(out, i)
			}
		}
		return out
	}
	for from := 0; from < len(order); {
		to, low, high := from, order[from], order[from]
		for ; to < len(order) && column(order[to]) == column(order[from]); to++ {
			if i := order[to]; ys[i] < ys[low] || math.IsNaN(ys[low]) {
				low = i
			}
			if i := order[to]; ys[i] > ys[high] || math.IsNaN(ys[high]) {
				high = i
			}
		}
		if out = append(out, min(low, high)); low != high {
			out = append(out, max(low, high))
		}
		from = to
	}
	return out
}

// asBars draws a bar for each row of each set; sets have a colour each.
func (p *Plot) asBars(d *drawn, sets []set) error {
	d.y = charts.Axis{Label: strings.Join(p.ys, ", "), Unit: UnitOf(p.ys[0])}
	rows := 0
	for k, s := range sets {
		d.parts = append(d.parts, charts.Part{Name: s.name, Colour: charts.Colour(k)})
		rows = max(rows, len(s.y))
	}
	if err := tooMany("bars", p.x, rows*len(sets)); err != nil {
		return err
	}
	for i := range rows {
		for k, s := range sets {
			if i >= len(s.y) || math.IsNaN(s.y[i]) {
				continue
			}
			b := charts.Bars{Name: shown(s.x[i]), Values: make([]float64, len(sets))}
			if b.Values[k] = s.y[i]; s.half != nil && !math.IsNaN(s.half[i]) {
				b.CI = s.half[i]
			}
			d.bars = append(d.bars, b)
		}
	}
	return nil
}

// asHistogram counts all sets in the same bins.
func (p *Plot) asHistogram(d *drawn, sets []set) {
	lo, hi, n := math.Inf(1), math.Inf(-1), 0
	for _, s := range sets {
		for _, v := range s.y {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		n = max(n, len(s.y))
	}
	if lo > hi {
		lo, hi = 0, 1
	}
	if lo == hi {
		lo, hi = lo-0.5, hi+0.5
	}
	bins := cmp.Or(p.bins, min(60, max(5, int(math.Ceil(math.Sqrt(float64(n)))))))
	d.x = charts.Axis{Label: strings.Join(p.ys, ", "), Unit: UnitOf(p.ys[0])}
	t := charts.Track{Y: charts.Axis{Label: "rows", Log: p.logY}}
	for _, s := range sets {
		xs, counts := counted(s.y, lo, hi, bins)
		t.Series = append(t.Series, charts.Series{Name: s.name, X: xs, Y: counts, Filled: true})
	}
	d.tracks = append(d.tracks, t)
}

// Chart is the plot for a notebook and a page.
func (p *Plot) Chart() *charts.Chart {
	d, err := p.drawn()
	Must(err)
	switch {
	case d.bars != nil:
		return charts.Ranking(d.title, d.y, d.parts, d.bars)
	case len(d.tracks) == 1:
		return charts.TimelineSized(charts.Size{Height: 380}, d.title, d.x, d.tracks, nil)
	}
	return charts.Timeline(d.title, d.x, d.tracks, nil)
}

// SimpleRender is for the kernel.
func (p *Plot) SimpleRender() charts.Bundle { return p.Chart().SimpleRender() }

// Show displays the plot below the running cell; as last value of a cell it shows itself.
func (p *Plot) Show() { charts.Display(p.SimpleRender()) }

func (p *Plot) String() string { return "a plot: " + cmp.Or(p.title, p.heading()) }

// Save writes the plot to a file, whose name says how: .pdf, .svg, .png or .pgf (for LaTeX).
func (p *Plot) Save(file string) *Written {
	d, err := p.drawn()
	Must(err)
	style := charts.Style{WidthMM: p.width}
	var pic charts.Picture
	if d.bars != nil {
		pic = charts.RankingPicture(style, d.title, d.y, d.parts, d.bars)
	} else {
		pic = charts.TracksPicture(style, d.title, d.x, d.tracks)
	}
	var b []byte
	switch strings.ToLower(filepath.Ext(file)) {
	case ".pdf":
		b, err = pic.PDF()
	case ".svg":
		b, err = pic.SVG()
	case ".png":
		b, err = pic.PNG()
	case ".pgf", ".tikz":
		b, err = pic.PGF()
	default:
		err = &experiment.SpecError{Field: "file", Value: knob.Clip(file), Rule: "a plot is written as .pdf, .svg, .png or .pgf"}
	}
	Must(err)
	return write(file, b)
}
