package dashboard

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"drtmx/cluster"
	"drtmx/cluster/job"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
)

// sweeps adds the routes of heat maps over two knobs. The agent runs the sweep itself: see its
// /api/sweep.
func (p *page) sweeps(mux *http.ServeMux) {
	mux.HandleFunc("GET /page/sweep", p.sweep)
	mux.HandleFunc("GET /page/sweep/knobs", p.sweepKnobs)
	mux.HandleFunc("GET /page/sweep/chart", p.sweepChart)
	mux.HandleFunc("GET /page/sweep/cell", p.sweepCell)
}

// sweepMetrics are the numbers that the page draws; the first is drawn unless another is asked for.
var sweepMetrics = []string{"throughput", "latency_us.p50", "latency_us.p99", "abort_rate", "round_trips_per_txn"}

func metricOf(r *http.Request) string {
	if m := r.URL.Query().Get("metric"); m != "" {
		return m
	}
	return sweepMetrics[0]
}

// gridCell is a cell of the table beside the heat map.
type gridCell struct {
	Point int    `json:"point"`
	Text  string `json:"text"`
}

// sweep is how the latest sweep of a system stands, and its points by the number that is asked for.
func (p *page) sweep(w http.ResponseWriter, r *http.Request) {
	s, err := p.source.Sweep(sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	type axis struct {
		Title string   `json:"title"`
		Names []string `json:"names"`
	}
	out := struct {
		Task         string       `json:"task"`
		Number       int          `json:"number"`
		Running      bool         `json:"running"`
		Cancelled    bool         `json:"cancelled"`
		Failed       string       `json:"failed,omitempty"`
		KnobsVersion int          `json:"knobs_version"`
		Metrics      []string     `json:"metrics"`
		X            *axis        `json:"x,omitempty"`
		Y            *axis        `json:"y,omitempty"`
		Cells        [][]gridCell `json:"cells"` // by Y, then X
	}{s.Task, s.Number, s.Running, s.Cancelled, s.Failed, s.KnobsVersion, sweepMetrics, nil, nil, [][]gridCell{}}
	if res := sweptOf(&s); res != nil {
		switch g, err := res.Grid(metricOf(r)); {
		case err != nil && out.Failed == "":
			out.Failed = err.Error()
		case err == nil:
			out.X, out.Y = &axis{titled(g.X), g.X.Names}, &axis{titled(g.Y), g.Y.Names}
			for y, row := range g.Points[0] {
				var cells []gridCell
				for x, point := range row {
					cells = append(cells, gridCell{point, charts.HeatText(g.Z, g.Panels[0].Cells[y][x])})
				}
				out.Cells = append(out.Cells, cells)
			}
		}
	}
	answer(w, out)
}

func titled(a charts.Axis) string {
	if a.Unit == "" {
		return a.Label
	}
	return a.Label + " (" + a.Unit + ")"
}

// sweptKnob is a knob that the page offers as an axis, with values to begin with.
type sweptKnob struct {
	Name   string `json:"name"`
	Unit   string `json:"unit,omitempty"`
	Values string `json:"values"` // as they are typed
}

// sweepKnobs are the knobs that can be an axis: those that have an effect, and values to begin with.
func (p *page) sweepKnobs(w http.ResponseWriter, r *http.Request) {
	states, err := p.source.Knobs(r.Context(), sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	out := []sweptKnob{}
	for _, k := range states {
		if values := around(k); k.Active && len(values) > 1 && k.Name != "seed" && !experiment.IsGroup(k.Name) && !experiment.IsOrder(k.Name) {
			out = append(out, sweptKnob{k.Name, k.Unit, strings.Join(values, ", ")})
		}
	}
	answer(w, out)
}

// around are values to begin with: all choices, or of a number what the system has now, its half and
// its double, as far as the knob allows them.
func around(k experiment.KnobState) []string {
	if len(k.Choices) > 0 {
		return k.Choices
	}
	v, ok := numeric(k.Value)
	if !ok {
		if _, ok := k.Value.(bool); ok {
			return []string{"false", "true"}
		}
		return nil
	}
	lo, hasLo := numeric(k.Min)
	hi, hasHi := numeric(k.Max)
	_, whole := k.Value.(int)
	var out []float64
	for _, x := range []float64{v / 2, v, 2 * v} {
		if whole {
			x = math.Trunc(x)
		}
		if hasLo {
			x = max(x, lo)
		}
		if hasHi {
			x = min(x, hi)
		}
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	if len(out) == 1 && hasHi && hi > out[0] { // zero is its own half and double
		out = append(out, min(hi, 1))
	}
	var texts []string
	for _, x := range out {
		texts = append(texts, strconv.FormatFloat(x, 'g', 6, 64))
		if whole {
			texts[len(texts)-1] = strconv.FormatInt(int64(x), 10)
		}
	}
	return texts
}

func numeric(v any) (float64, bool) {
	switch x := v.(type) {
	case int:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

// sweptOf draws what was swept, nil if there is nothing yet.
func sweptOf(s *job.SweepState) *cluster.SweepResult {
	if s.Sweep == nil {
		return nil
	}
	return &cluster.SweepResult{Raw: s.Sweep}
}

// sweepChart draws the heat map.
func (p *page) sweepChart(w http.ResponseWriter, r *http.Request) {
	s, err := p.source.Sweep(sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	res := sweptOf(&s)
	if res == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	c, err := res.HeatMapSized(sizeOf(r), metricOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	p.draw(w, r, fmt.Sprint(s.Number), func() *charts.Chart { return c })
}

// sweepCell tells of the run behind a cell: what was measured, and how to run it again.
func (p *page) sweepCell(w http.ResponseWriter, r *http.Request) {
	s, err := p.source.Sweep(sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	point, err := strconv.Atoi(r.URL.Query().Get("point"))
	if err != nil {
		fail(w, fmt.Errorf("point = %.20q: must be a whole number", r.URL.Query().Get("point")))
		return
	}
	at, err := s.Point(point)
	if err != nil {
		fail(w, err)
		return
	}
	out := map[string]string{"set": settings(at.Set), "failed": at.Error}
	spec, err := s.Spec.With(at.Set)
	if run := at.Result(); run != nil {
		out["measured"] = inUnitsOfLive(run)
		if run.Limit != nil {
			out["limit"] = run.Limit.Text
		}
	}
	if !at.Refused && err == nil {
		if out["command"], err = commandOf(spec); err != nil {
			fail(w, err)
			return
		}
		out["notebook"] = cellOf(spec)
		if run := at.Result(); run != nil {
			out["notebook"] = pointCell(spec, run, "the point "+out["set"]+" of a sweep")
		}
	}
	answer(w, out)
}
