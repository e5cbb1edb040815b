package dashboard

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"drtmx/cluster"
	"drtmx/cluster/agent"
	"drtmx/dashboard/card"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/windows"
	"drtmx/engine/experiment"
	"drtmx/engine/metrics/panel"
)

// The panels of parts: the page knows of them what they were made known with.

// shownPanel is what a panel shows of the system on view.
type shownPanel struct {
	Part    string       `json:"part"`
	Title   string       `json:"title"`
	Doc     string       `json:"doc,omitempty"`
	Open    bool         `json:"open,omitempty"`
	Charts  []shownChart `json:"charts"`
	Text    string       `json:"text,omitempty"`
	Settles bool         `json:"settles,omitempty"` // its text belongs beside the knobs too
	Settled bool         `json:"settled"`
	Done    float64      `json:"done"`
	Because string       `json:"because,omitempty"`
	Facts   []fact       `json:"facts"`
}

// shownChart says how a chart is to be asked for and laid out.
type shownChart struct {
	Label string `json:"label"`
	Lines bool   `json:"lines,omitempty"` // over virtual time, as high as its tracks need
	High  int    `json:"high,omitempty"`  // else; 0: as high as its bars need
}

// fact is a number of the panel.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Unit  string `json:"unit,omitempty"`
	Doc   string `json:"doc"`
}

// panelOver is how many windows a panel's numbers are means of.
const panelOver = 10

// panels answers with those that the system on view shows.
func (p *page) panels(w http.ResponseWriter, r *http.Request) {
	ms, _, err := p.keeper.Moments(r.Context(), sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	var states []experiment.KnobState
	out := []shownPanel{}
	for _, x := range panel.All() {
		ws := latest(x, ms)
		if !slices.ContainsFunc(ws, func(w panel.Window) bool { return x.Shows(&w) }) {
			continue
		}
		s := panelOf(x, ws)
		if x.Because != "" && states == nil {
			states, _ = p.source.Knobs(r.Context(), sysOf(r)) // without them it says no more than that
		}
		if i := slices.IndexFunc(states, func(k experiment.KnobState) bool { return k.Name == x.Because }); i >= 0 && states[i].Active && states[i].Auto != nil {
			s.Because = x.Because + " was chosen: " + states[i].Auto.Because
		}
		out = append(out, s)
	}
	answer(w, out)
}

// latest are the last windows under the knobs as they are, as a panel sees them.
func latest(x *panel.Panel, ms []windows.Moment) (ws []panel.Window) {
	for i := max(0, len(ms)-panelOver); i < len(ms); i++ {
		if ms[i].Version == ms[len(ms)-1].Version {
			ws = append(ws, panelWindow(x, &ms[i]))
		}
	}
	return ws
}

func panelWindow(x *panel.Panel, m *windows.Moment) panel.Window {
	w := x.In(m.Gauge)
	w.Oldest, w.Promise = float64(m.Oldest), float64(m.Promise)
	return w
}

// panelOf is a panel after some windows.
func panelOf(x *panel.Panel, ws []panel.Window) shownPanel {
	s := shownPanel{Part: x.Part, Title: x.Title, Doc: x.Doc, Open: x.Open, Settles: x.Settles != "", Settled: true, Done: 1, Facts: []fact{}}
	for _, c := range x.Charts {
		s.Charts = append(s.Charts, shownChart{c.Label, c.Form == panel.Lines, chartHeight(&c)})
	}
	if x.Says != nil {
		state := x.Says(ws)
		s.Text, s.Settled, s.Done = state.Text, state.Settled, state.Done
	}
	for _, f := range x.Facts {
		v := f.Of(&ws[len(ws)-1])
		if f.Mean {
			v = meanOver(ws, f.Of)
		}
		if math.IsNaN(v) {
			continue
		}
		text, unit := factText(v, f.Unit)
		if f.Beside != nil {
			unit = f.Beside(&ws[len(ws)-1])
		}
		s.Facts = append(s.Facts, fact{f.Name, text, unit, f.Doc})
	}
	return s
}

// meanOver is the mean of the windows that have a value; NaN: none has.
func meanOver(ws []panel.Window, of func(w *panel.Window) float64) float64 {
	sum, n := 0.0, 0
	for i := range ws {
		if v := of(&ws[i]); !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
}

// chartHeight is what a chart needs that has no tracks over time; 0: what its bars need.
func chartHeight(c *panel.Chart) int {
	switch c.Form {
	case panel.Staleness:
		return 300
	case panel.Heat:
		return charts.HeatMapHeight(700, len(c.Tracks), 1)
	case panel.Table:
		return 40 + 24*(1+len(c.Tracks))
	}
	return 0
}

// panelChart draws a chart of a panel.
func (p *page) panelChart(w http.ResponseWriter, r *http.Request) {
	x := panel.Of(r.URL.Query().Get("part"))
	n, err := strconv.Atoi(r.URL.Query().Get("chart"))
	if x == nil || err != nil || n >= len(x.Charts) {
		fail(w, fmt.Errorf("part=%s&chart=%s names no chart: ask /page/panels which there are", r.URL.Query().Get("part"), r.URL.Query().Get("chart")))
		return
	}
	c := &x.Charts[n]
	switch c.Form {
	case panel.Lines:
		p.tracks(w, r, panelTracks(x, c))
		return
	case panel.Staleness:
		p.staleness(w, r)
		return
	}
	hs, stamp := p.histories(r.Context())
	shown := slices.DeleteFunc(p.alike(r.Context(), hs, sysOf(r)), func(h history) bool {
		return !slices.ContainsFunc(latest(x, h.moments), func(w panel.Window) bool { return x.Shows(&w) })
	})
	if c.Form == panel.Heat { // its columns are one system's windows
		shown = slices.DeleteFunc(shown, func(h history) bool { return h.snap.Sys != sysOf(r) })
	}
	if len(shown) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	p.draw(w, r, stamp, func() *charts.Chart {
		switch c.Form {
		case panel.Heat:
			return heatChart(x, c, shown[0], sizeOf(r))
		case panel.Table:
			return tableChart(x, c, shown)
		}
		return stackedChart(x, c, shown, sizeOf(r))
	})
}

// panelTracks are drawn one above the other.
func panelTracks(x *panel.Panel, c *panel.Chart) (out []measure) {
	for _, t := range c.Tracks {
		out = append(out, measure{charts.Axis{Label: t.Label, Unit: t.Unit, To: t.Most}, func(m *windows.Moment) float64 {
			w := panelWindow(x, m)
			return t.Of(&w)
		}, t.Rare, nil})
	}
	return out
}

// stackedChart has a bar for each system.
func stackedChart(x *panel.Panel, c *panel.Chart, hs []history, size charts.Size) *charts.Chart {
	parts := make([]charts.Part, len(c.Tracks))
	for i, t := range c.Tracks {
		parts[i].Name = t.Label
	}
	var bars []charts.Bars
	for _, h := range hs {
		b := charts.Bars{Name: h.name()}
		for _, t := range c.Tracks {
			v := meanOver(latest(x, h.moments), t.Of)
			if math.IsNaN(v) {
				v = 0 // no part of the bar
			}
			b.Values = append(b.Values, v)
		}
		bars = append(bars, b)
	}
	if size.Height == 0 {
		size.Height = charts.StackedHeight(len(bars))
	}
	return charts.StackedSized(size, "", charts.Axis{Label: c.Axis, Unit: c.Unit}, parts, bars)
}

// heatChart has a row for each track, the first at the top, and a column for each of the latest windows.
func heatChart(x *panel.Panel, c *panel.Chart, h history, size charts.Size) *charts.Chart {
	ms := h.moments[max(0, len(h.moments)-4*panelOver):]
	time, rows := charts.Axis{Label: "virtual time", Unit: "ms"}, charts.Axis{}
	for i := range ms {
		time.Names = append(time.Names, strconv.FormatFloat(float64(ms[i].T1)/1e6, 'g', 5, 64))
	}
	var cells [][]charts.HeatCell
	for _, t := range slices.Backward(c.Tracks) {
		rows.Names = append(rows.Names, t.Label)
		row := make([]charts.HeatCell, len(ms))
		for i := range ms {
			w := panelWindow(x, &ms[i])
			row[i] = charts.HeatCell{Value: t.Of(&w), Why: "nothing was measured"}
		}
		cells = append(cells, row)
	}
	return charts.HeatMapSized(size, "", time, rows, charts.Axis{Label: c.Axis, Unit: c.Unit}, []charts.HeatPanel{{Cells: cells}})
}

// tableChart has a row for each track and a column for each system.
func tableChart(x *panel.Panel, c *panel.Chart, hs []history) *charts.Chart {
	rows := [][]string{{""}}
	for _, h := range hs {
		rows[0] = append(rows[0], h.name())
	}
	for _, t := range c.Tracks {
		row := []string{t.Label}
		for _, h := range hs {
			text := "–"
			if v := meanOver(latest(x, h.moments), t.Of); !math.IsNaN(v) {
				var unit string
				if text, unit = factText(v, t.Unit); unit != "" {
					text += " " + unit
				}
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return charts.Table("", rows)
}

// staleness draws how old what snapshots read was, of all systems in which they run, each with its bound.
func (p *page) staleness(w http.ResponseWriter, r *http.Request) {
	hs, stamp := p.histories(r.Context())
	var lines []charts.Series
	var of []agent.Staleness
	for _, h := range hs {
		s, err := p.source.Staleness(r.Context(), h.snap.Sys)
		if err != nil || s.Reads.Count() == 0 { // it was closed since, or no snapshot has read
			continue
		}
		lines, of = append(lines, charts.Series{Name: h.name(), System: h.snap.Sys, Dashed: h.ghost}), append(of, s)
		stamp += fmt.Sprintf("%s %d %v\n", h.snap.Sys, s.BoundNS, s.Bounded)
	}
	if len(of) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	p.draw(w, r, stamp, func() *charts.Chart { return cluster.StalenessChart(sizeOf(r), lines, of) })
}

// factText writes a number in the unit that it has.
func factText(v float64, unit string) (text, shownUnit string) {
	switch {
	case unit == "count":
		return panel.Count(v), ""
	case unit == "%":
		return percentText(v), unit
	case unit == "bytes":
		return bytesText(v)
	}
	return card.Short(v), unit
}

// percentText keeps a small share apart from none.
func percentText(v float64) string {
	switch {
	case v == 0 || v == 100:
		return fmt.Sprintf("%.0f", v)
	case v < 0.01:
		return "< 0.01"
	case v > 99.9:
		return "> 99.9"
	}
	return card.Short(v)
}

func bytesText(v float64) (text, unit string) {
	switch {
	case v >= 1e9:
		return card.Short(v / 1e9), "GB"
	case v >= 1e6:
		return card.Short(v / 1e6), "MB"
	case v >= 1e3:
		return card.Short(v / 1e3), "KB"
	}
	return fmt.Sprintf("%.0f", v), "bytes"
}
