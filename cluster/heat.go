package cluster

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"drtmx/cluster/table"
	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
)

// heatPanels bounds the small heat maps of a chart, so that a reader can take them in.
const heatPanels = 24

// HeatMap draws a number of the points, by its path in the JSON, as a colour over the last two axes:
// the last is X. Every combination of values of further axes is a small heat map of its own, all in
// the same colours. Points that did not run are hatched and say why; those that are not steady, or
// whose checks failed, have a dashed frame.
func (s *SweepResult) HeatMap(metric string) *charts.Chart {
	c, err := s.HeatMapSized(charts.Size{}, metric)
	must(err)
	return c
}

// HeatMapSized is HeatMap for programs, and for a place of a known size.
func (s *SweepResult) HeatMapSized(size charts.Size, metric string) (*charts.Chart, error) {
	g, err := s.Grid(metric)
	if err != nil {
		return nil, err
	}
	title := metric + " over " + g.X.Label + " and " + g.Y.Label
	return charts.HeatMapSized(size, title, g.X, g.Y, g.Z, g.Panels), nil
}

// HeatGrid are the points of a sweep where a heat map draws them.
type HeatGrid struct {
	X, Y, Z charts.Axis
	Panels  []charts.HeatPanel
	Points  [][][]int // the point of each cell: by panel, by Y, by X
}

// Grid lays the points out over the last two axes.
func (s *SweepResult) Grid(metric string) (*HeatGrid, error) {
	axes := s.Raw.Axes
	if len(axes) < 2 {
		return nil, &experiment.SpecError{Field: "heat map", Rule: fmt.Sprintf("needs two axes, and the sweep has %d", len(axes)), Next: "give Sweep a second Axis, or draw lines with Chart"}
	}
	y, x := axes[len(axes)-2], axes[len(axes)-1]
	per := len(y.Values) * len(x.Values)
	if n := len(s.Raw.Points) / per; n > heatPanels {
		return nil, &experiment.SpecError{Field: "heat map", Rule: fmt.Sprintf("the axes before the last two make %d small heat maps, and %d is the most", n, heatPanels), Next: "give those axes fewer values"}
	}
	if err := s.have([]string{metric}); err != nil {
		return nil, err
	}
	xs, ys := ascending(x), ascending(y)
	g := &HeatGrid{X: heatAxis(x, xs), Y: heatAxis(y, ys), Z: charts.Axis{Label: metric, Unit: table.UnitOf(metric)}}
	for first := 0; first < len(s.Raw.Points); first += per {
		p := charts.HeatPanel{Name: s.others(first)}
		var points [][]int
		for _, row := range ys {
			var cells []charts.HeatCell
			var at []int
			for _, column := range xs {
				i := first + row*len(x.Values) + column
				cells, at = append(cells, heatCell(s.Raw.Points[i], metric)), append(at, i)
			}
			p.Cells, points = append(p.Cells, cells), append(points, at)
		}
		g.Panels, g.Points = append(g.Panels, p), append(g.Points, points)
	}
	return g, nil
}

// others are the values of the axes before the last two at a point, "" where there are only two.
func (s *SweepResult) others(point int) string {
	var out []string
	for _, a := range s.Raw.Axes[:len(s.Raw.Axes)-2] {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s = %v %s", a.Knob, s.Raw.Points[point].Set[a.Knob], experiment.Unit(a.Knob))))
	}
	return strings.Join(out, ", ")
}

// ascending are the places of an axis' values in the order in which they are drawn: numbers by size,
// others as they were given.
func ascending(a experiment.Axis) []int {
	order := make([]int, len(a.Values))
	for i := range order {
		order[i] = i
	}
	if isNumeric(a) {
		slices.SortStableFunc(order, func(i, j int) int {
			x, _ := numberOf(a.Values[i])
			y, _ := numberOf(a.Values[j])
			return cmp.Compare(x, y)
		})
	}
	return order
}

// heatAxis marks the values themselves.
func heatAxis(a experiment.Axis, order []int) charts.Axis {
	out := charts.Axis{Label: a.Knob, Unit: experiment.Unit(a.Knob)}
	for _, i := range order {
		out.Names = append(out.Names, fmt.Sprint(a.Values[i]))
	}
	return out
}

func heatCell(p batch.SweepPoint, metric string) charts.HeatCell {
	switch v, ok := pointMean(p, metric); {
	case p.Error != "":
		return charts.HeatCell{Value: math.NaN(), Why: words.OneLine(p.Error)}
	case len(p.Runs) == 0:
		return charts.HeatCell{Value: math.NaN(), Why: "was not run: the sweep ended before"}
	case !ok:
		return charts.HeatCell{Value: math.NaN(), Why: "the run has no " + metric}
	default:
		return charts.HeatCell{Value: v, CI: half95(p, metric), Doubt: strings.TrimSpace(doubts(p))}
	}
}

// heatMaps are those of the HTML of a sweep: of throughput and p50 over two axes with at least two
// values each, "" for any other sweep.
func (s *SweepResult) heatMaps() string {
	if !s.IsGrid() {
		return ""
	}
	out := ""
	for _, metric := range []string{"throughput", "latency_us.p50"} {
		if c, err := s.HeatMapSized(charts.Size{}, metric); err == nil { // else no point has the number
			out += c.HTML()
		}
	}
	return out
}
