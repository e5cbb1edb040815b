package charts

import (
	"math"
	"strconv"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"drtmx/dashboard/charts/palette"
)

// heatItem is a cell as echarts takes it: go-echarts has no style for one.
type heatItem struct {
	Name      string     `json:"name"`
	Value     [3]any     `json:"value"`
	Label     *heatLabel `json:"label,omitempty"`
	ItemStyle heatStyle  `json:"itemStyle"`
	VisualMap *bool      `json:"visualMap,omitempty"` // false: it has a colour of its own
}

type heatLabel struct {
	Show      bool   `json:"show"`
	Formatter string `json:"formatter"`
	Color     string `json:"color"`
	FontSize  int    `json:"fontSize"`
	// A frame around the text of a value in doubt: that of the cell would lie on its neighbours'.
	BorderColor string `json:"borderColor,omitempty"`
	BorderWidth int    `json:"borderWidth,omitempty"`
	BorderType  string `json:"borderType,omitempty"`
	Padding     []int  `json:"padding,omitempty"`
}

type heatStyle struct {
	Color       string     `json:"color,omitempty"`
	BorderColor string     `json:"borderColor"`
	BorderWidth int        `json:"borderWidth"`
	Decal       *heatDecal `json:"decal,omitempty"`
}

type heatDecal struct {
	Symbol   string  `json:"symbol"`
	Color    string  `json:"color"`
	DashX    []int   `json:"dashArrayX"`
	DashY    []int   `json:"dashArrayY"`
	Rotation float64 `json:"rotation"`
}

// interactive is the echarts form. Like that of a timeline it is data without functions.
func (m *heatMap) interactive(size Size) Renderer {
	h := charts.NewHeatMap()
	h.SetGlobalOptions(
		charts.WithInitializationOpts(opts.Initialization{Width: px(size.Width), Height: px(size.Height), PageTitle: m.title}),
		charts.WithTitleOpts(m.heading(size)),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item", Formatter: "{b}"}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithVisualMapOpts(m.legend()),
		charts.WithAnimation(false),
		charts.WithColorsOpts(placeColours()), // not the library's own
	)
	h.XAxisList, h.YAxisList, h.GridList = nil, nil, nil
	h.SetXAxis(m.x.Names) // the first axis has its names from here
	for i, b := range m.boxes(size) {
		grid := opts.Grid{Left: strconv.Itoa(b.left), Top: strconv.Itoa(b.top), Width: strconv.Itoa(b.width), Height: strconv.Itoa(b.height), ContainLabel: opts.Bool(false)}
		if heatColumns(size.Width, len(m.panels)) == 1 { // it goes with its place's width
			grid.Width, grid.Right = "", "18"
		}
		h.GridList = append(h.GridList, grid)
		h.XAxisList = append(h.XAxisList, opts.XAxis{Type: "category", Data: m.x.Names, GridIndex: i, Name: m.x.Title(), NameLocation: "middle", NameGap: 22})
		h.YAxisList = append(h.YAxisList, opts.YAxis{Type: "category", Data: m.y.Names, GridIndex: i, Name: m.head(m.panels[i]), NameLocation: "end", NameGap: 8, AxisLabel: &opts.AxisLabel{Show: opts.Bool(true)}})
		items := m.items(m.panels[i], b)
		h.AddSeries(m.panels[i].Name, nil, charts.WithHeatMapChartOpts(opts.HeatMapChart{XAxisIndex: i, YAxisIndex: i}),
			func(s *charts.SingleSeries) { s.Data = items })
	}
	return h
}

// heading is the title and, under it, what the signs mean.
func (m *heatMap) heading(size Size) opts.Title {
	t := titleOf(m.title, size)
	t.Subtitle, t.SubtitleStyle = m.explained(), &opts.TextStyle{FontSize: 10}
	return t
}

// legend are the colours with their ends, below.
func (m *heatMap) legend() opts.VisualMap {
	lo, hi := m.lo, m.hi
	if hi <= lo { // one value alone has the middle of the scale
		half := max(math.Abs(lo), 1) / 2
		lo, hi = lo-half, hi+half
	}
	return opts.VisualMap{Type: "continuous", Calculable: opts.Bool(false), Min: float32(lo), Max: float32(hi), Dimension: "2", Orient: "horizontal", Left: "center", Bottom: "4",
		Text: []string{m.long(m.hi), m.z.Label + ": " + m.long(m.lo)}, InRange: &opts.VisualMapInRange{Color: palette.Utilisation}}
}

// items are the cells of a panel.
func (m *heatMap) items(p HeatPanel, b box) []heatItem {
	own := false
	out := []heatItem{}
	for y, row := range p.Cells {
		for x, c := range row {
			it := heatItem{Name: m.words(p, y, x), Value: [3]any{x, y, m.lo}, ItemStyle: heatStyle{BorderColor: palette.LightInk, BorderWidth: 1}}
			if !finite(c.Value, 0) {
				it.VisualMap = &own
				it.ItemStyle.Color = palette.Grid
				it.ItemStyle.Decal = &heatDecal{Symbol: "rect", Color: palette.Unknown, DashX: []int{1, 0}, DashY: []int{2, 5}, Rotation: -math.Pi / 4}
				out = append(out, it)
				continue
			}
			it.Value[2] = rounded(c.Value)
			it.Label = m.label(c, b)
			out = append(out, it)
		}
	}
	return out
}

// label is what stands in a cell, nil where there is no room.
func (m *heatMap) label(c HeatCell, b box) *heatLabel {
	ink := palette.InkOn(m.colour(c.Value))
	out := &heatLabel{Show: true, Formatter: m.short(c.Value), Color: ink, FontSize: 11}
	switch fits := m.fits(b, out.Formatter); {
	case c.Doubt != "" && fits:
		out.BorderColor, out.BorderWidth, out.BorderType, out.Padding = ink, 1, "dashed", []int{3, 4}
	case c.Doubt != "":
		out.Formatter = "?"
	case !fits:
		return nil
	}
	return out
}
