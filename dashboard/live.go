package dashboard

import (
	"fmt"
	"math"
	"net/http"
	"sort"
	"strconv"

	"drtmx/cluster"
	"drtmx/dashboard/charts"
	"drtmx/engine"
)

// drawn is the most points a line of the timeline has; older windows are
// averaged together.
const drawn = 400

// timeline draws throughput and latency of all systems on one time axis.
// ?last=N takes the latest N windows of system a and what the others did then;
// without it, all that are kept.
func (p *page) timeline(w http.ResponseWriter, r *http.Request) {
	last, _ := strconv.Atoi(r.URL.Query().Get("last"))
	throughput := charts.Track{Y: charts.Axis{Label: "throughput", Unit: "txn/s"}}
	latency := charts.Track{Y: charts.Axis{Label: "latency", Unit: "µs"}}
	var marks []charts.Mark
	from := int64(math.MinInt64)
	for _, s := range p.source.Systems() {
		windows, err := p.source.Windows(r.Context(), s.Sys, 0)
		if err != nil {
			continue // closed since
		}
		if s.Sys == "a" && last > 0 && len(windows) > last {
			from = windows[len(windows)-last].T0NS
		}
		windows = since(windows, from)
		name, ghost := lineName(s)
		throughput.Series = append(throughput.Series, line(name, ghost, windows, func(w *engine.Window) float64 { return w.Throughput }))
		latency.Series = append(latency.Series,
			line("p50 "+name, ghost, windows, func(w *engine.Window) float64 { return absentIfZero(w.LatencyUS.P50) }),
			line("p99 "+name, ghost, windows, func(w *engine.Window) float64 { return absentIfZero(w.LatencyUS.P99) }))
		if events, err := p.source.Events(r.Context(), s.Sys); err == nil && s.ForkedFrom == "" {
			marks = append(marks, marksOf(events, from)...)
		}
	}
	draw(w, r, charts.Timeline("", charts.Axis{Label: "virtual time", Unit: "ms"}, []charts.Track{throughput, latency}, marks))
}

// lineName names a system's line; a fork is a ghost: what would have happened.
func lineName(s cluster.Snapshot) (name string, ghost bool) {
	if s.ForkedFrom == "" {
		return "system " + s.Sys, false
	}
	return fmt.Sprintf("ghost %s", s.Sys), true
}

func since(ws []engine.Window, from int64) []engine.Window {
	return ws[sort.Search(len(ws), func(i int) bool { return ws[i].T0NS >= from }):]
}

func line(name string, dashed bool, ws []engine.Window, of func(*engine.Window) float64) charts.Series {
	s := charts.Series{Name: name, Dashed: dashed}
	step := (len(ws) + drawn - 1) / drawn
	for i := 0; i < len(ws); i += max(step, 1) {
		end := min(i+max(step, 1), len(ws))
		sum, n := 0.0, 0
		for k := i; k < end; k++ {
			if v := of(&ws[k]); !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		if n > 0 {
			s.X = append(s.X, float64(ws[i].T0NS+ws[end-1].T1NS)/2e6)
			s.Y = append(s.Y, sum/float64(n))
		}
	}
	return s
}

func marksOf(events []cluster.Event, from int64) []charts.Mark {
	var out []charts.Mark
	for _, e := range events {
		if e.VirtualNS < from {
			continue
		}
		text := e.Kind
		if len(e.Set) > 0 {
			text = title(e)
		}
		out = append(out, charts.Mark{X: float64(e.VirtualNS) / 1e6, Text: text})
	}
	return out
}

// phaseOrder is the order in which a transaction goes through its phases.
var phaseOrder = []string{"execution", "lock", "validation", "logging", "commit", "ro_read", "ro_validation", "backoff", "reclaim", "other"}

// phases draws where the latency of a transaction goes now, a bar a system.
func (p *page) phases(w http.ResponseWriter, r *http.Request) {
	var bars []charts.Bars
	used := map[string]bool{}
	type entry struct {
		name string
		mean map[string]float64
	}
	var all []entry
	for _, s := range p.source.Systems() {
		windows, err := p.source.Windows(r.Context(), s.Sys, 0)
		if err != nil || len(windows) == 0 {
			continue
		}
		windows = windows[max(0, len(windows)-20):]
		name, _ := lineName(s)
		e := entry{name, phaseMeans(windows)}
		for ph := range e.mean {
			used[ph] = true
		}
		all = append(all, e)
	}
	var parts []string
	for _, ph := range phaseOrder {
		if used[ph] {
			parts = append(parts, ph)
		}
	}
	for _, e := range all {
		b := charts.Bars{Name: e.name}
		for _, ph := range parts {
			b.Values = append(b.Values, math.Round(e.mean[ph]*1000)/1000)
		}
		bars = append(bars, b)
	}
	draw(w, r, charts.Stacked("", charts.Axis{Label: "mean latency", Unit: "µs"}, parts, bars))
}

// phaseMeans weights the windows by their commits.
func phaseMeans(ws []engine.Window) map[string]float64 {
	out := map[string]float64{}
	total := 0.0
	for i := range ws {
		n := float64(ws[i].Commits)
		total += n
		for ph, s := range ws[i].Phases {
			out[ph] += s.MeanUS * n
		}
	}
	for ph := range out {
		if total > 0 {
			out[ph] /= total
		}
	}
	return out
}

// draw answers with the chart's echarts option, or as SVG.
func draw(w http.ResponseWriter, r *http.Request, c *charts.Chart) {
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Query().Get("format") == "svg" || !charts.HasLibrary() {
		w.Header().Set("Content-Type", "image/svg+xml")
		fmt.Fprint(w, c.SVG())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, c.Option())
}
