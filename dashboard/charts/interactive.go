package charts

import (
	"fmt"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// interactiveTimeline is the echarts form of Timeline and Lines. Only echarts'
// own JSON options are used, no functions, so that pages under a strict
// content policy can take it as data.
func interactiveTimeline(title string, x Axis, tracks []Track, marks []Mark, height int) Renderer {
	line := charts.NewLine()
	line.SetGlobalOptions(
		charts.WithInitializationOpts(opts.Initialization{Width: px(defaultWidth), Height: px(height), PageTitle: title}),
		charts.WithTitleOpts(opts.Title{Title: title, TitleStyle: &opts.TextStyle{FontSize: 14}}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis", AxisPointer: &opts.AxisPointer{Type: "line"}}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Bottom: "0", Type: "scroll"}),
		charts.WithColorsOpts(palette[:]),
		charts.WithAnimation(false),
	)
	line.XAxisList, line.YAxisList = nil, nil
	line.GridList = nil
	part := 78.0 / float64(len(tracks))
	for i, t := range tracks {
		top := 12 + part*float64(i)
		line.GridList = append(line.GridList, opts.Grid{
			Left: "70", Right: "24", Top: percent(top), Height: percent(part - 6), ContainLabel: opts.Bool(false),
		})
		last := i == len(tracks)-1
		xa := opts.XAxis{Type: axisType(x), GridIndex: i, Scale: opts.Bool(true), AxisLabel: &opts.AxisLabel{Show: opts.Bool(last)}}
		if last {
			xa.Name, xa.NameLocation, xa.NameGap = x.title(), "middle", 24
		}
		line.XAxisList = append(line.XAxisList, xa)
		line.YAxisList = append(line.YAxisList, opts.YAxis{
			Name: t.Y.title(), Type: axisType(t.Y), GridIndex: i, NameLocation: "end",
			AxisLabel: &opts.AxisLabel{Show: opts.Bool(true)}, SplitLine: &opts.SplitLine{Show: opts.Bool(true)},
		})
	}
	colours := seriesColours(tracks)
	for i, t := range tracks {
		for k, s := range t.Series {
			line.AddSeries(s.Name, lineData(s), seriesOptions(i, s, colours[s.Name], markLines(marks, k == 0))...)
		}
	}
	return line
}

// seriesColours gives a name the same colour in every track.
func seriesColours(tracks []Track) map[string]string {
	c := map[string]string{}
	for _, t := range tracks {
		for _, s := range t.Series {
			if c[s.Name] == "" {
				c[s.Name] = colour(len(c))
			}
		}
	}
	return c
}

func seriesOptions(track int, s Series, colour string, marks charts.SeriesOpts) []charts.SeriesOpts {
	style := opts.LineStyle{Color: colour, Width: 2}
	if s.Dashed {
		style.Type = "dashed"
	}
	return []charts.SeriesOpts{
		charts.WithLineChartOpts(opts.LineChart{XAxisIndex: track, YAxisIndex: track,
			ShowSymbol: opts.Bool(len(s.X) <= 60), Symbol: "circle", SymbolSize: 5}),
		charts.WithLineStyleOpts(style),
		charts.WithItemStyleOpts(opts.ItemStyle{Color: colour}),
		marks,
	}
}

func markLines(marks []Mark, wanted bool) charts.SeriesOpts {
	if !wanted || len(marks) == 0 {
		return func(*charts.SingleSeries) {}
	}
	var items []opts.MarkLineNameXAxisItem
	for _, m := range marks {
		items = append(items, opts.MarkLineNameXAxisItem{Name: m.Text, XAxis: m.X})
	}
	return charts.WithMarkLineNameXAxisItemOpts(items...)
}

func lineData(s Series) []opts.LineData {
	var out []opts.LineData
	for i := range s.X {
		if !finite(s.X[i], s.Y[i]) {
			continue
		}
		d := opts.LineData{Value: []float64{s.X[i], s.Y[i]}}
		if i < len(s.Notes) {
			d.Name = s.Notes[i]
		}
		out = append(out, d)
	}
	return out
}

func interactiveStacked(title string, y Axis, parts []string, bars []Bars) Renderer {
	bar := charts.NewBar()
	bar.SetGlobalOptions(
		charts.WithInitializationOpts(opts.Initialization{Width: px(defaultWidth), Height: px(stackedHeight(bars)), PageTitle: title}),
		charts.WithTitleOpts(opts.Title{Title: title, TitleStyle: &opts.TextStyle{FontSize: 14}}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item"}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Bottom: "0", Type: "scroll"}),
		charts.WithColorsOpts(palette[:]),
		charts.WithAnimation(false),
		charts.WithGridOpts(opts.Grid{Left: "120", Right: "30", Top: "40", Bottom: "70"}),
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Name: y.title(), NameLocation: "middle", NameGap: 26}),
		charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: barNames(bars), Inverse: opts.Bool(true)}),
	)
	for p, name := range parts {
		var data []opts.BarData
		for _, b := range bars {
			data = append(data, opts.BarData{Name: b.Name, Value: b.Values[p]})
		}
		bar.AddSeries(name, data, charts.WithBarChartOpts(opts.BarChart{Stack: "all"}))
	}
	return bar
}

func stackedHeight(bars []Bars) int { return 130 + 44*len(bars) }

func barNames(bars []Bars) []string {
	var out []string
	for _, b := range bars {
		out = append(out, b.Name)
	}
	return out
}

func axisType(a Axis) string {
	if a.Log {
		return "log"
	}
	return "value"
}

func px(n int) string          { return fmt.Sprintf("%dpx", n) }
func percent(f float64) string { return fmt.Sprintf("%.2f%%", f) }
