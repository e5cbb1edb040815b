package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"drtmx/cluster/job"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// figureRow is a figure in the list.
type figureRow struct {
	job.FigureInfo
	Status string `json:"status"` // computed, running, failed or "" where there is nothing yet
	Scale  string `json:"scale,omitempty"`
	WallMS int64  `json:"wall_ms"`
	Done   int    `json:"done"`
	Total  int    `json:"total"`
	Waits  bool   `json:"waits,omitempty"` // for another figure
	Sketch string `json:"sketch"`          // tells the versions of its small picture apart
	// Claims is what became of them, nil before the figure was computed.
	Claims *job.Verdicts `json:"claims,omitempty"`
	Made   *made         `json:"made,omitempty"` // of one that was computed before
}

// made is when and by which code a figure was computed before this program began.
type made struct {
	Text    string `json:"text"`
	Differs bool   `json:"differs"` // from what this program would compute
}

func madeOf(m *job.Made) *made {
	if m == nil {
		return nil
	}
	return &made{m.String(), m.Differs}
}

// figures is the list.
func (p *page) figures(w http.ResponseWriter, _ *http.Request) {
	rows := []figureRow{}
	for _, info := range p.source.Figures() {
		s, err := p.source.FigureBrief(info.ID)
		if err != nil {
			fail(w, err)
			return
		}
		row := figureRow{FigureInfo: info, Sketch: p.stampOf(&s)}
		if s.Base != nil {
			row.Claims, row.Made = s.Base.Claims, madeOf(s.Base.Made)
			if row.Claims == nil {
				v := s.Base.Figure.Verdicts()
				row.Claims = &v
			}
		}
		switch {
		case s.Running != nil:
			row.Status, row.Scale, row.Done, row.Total, row.Waits = "running", s.Running.Scale, s.Running.Done, s.Running.Total, s.Running.Waits
		case s.Base != nil:
			row.Status, row.Scale, row.WallMS = "computed", s.Base.Scale, s.Base.WallMS
		case s.Failed != "":
			row.Status = "failed"
		}
		rows = append(rows, row)
	}
	answer(w, rows)
}

// drawnFigure is what the page shows of one computed figure: its JSON without the
// runs.
type drawnFigure struct {
	N          int             `json:"n"`
	Made       *made           `json:"made,omitempty"`
	Name       string          `json:"name"` // the knobs that were changed
	Scale      string          `json:"scale"`
	Scope      string          `json:"scope"`
	Note       string          `json:"note,omitempty"`
	Computed   json.RawMessage `json:"computed,omitempty"` // of what, if no run is behind it
	Form       string          `json:"form"`               // lines, curves, bars, stacked, ranking or table
	Results    int             `json:"results"`            // as many as there are; a point may name none
	X          json.RawMessage `json:"x"`
	Y          json.RawMessage `json:"y"`
	Series     []drawnSeries   `json:"series"`
	References json.RawMessage `json:"references,omitempty"`
	PaperGap   float64         `json:"paper_gap"`
	GapAt      *struct {
		Series string  `json:"series"`
		X      float64 `json:"x"`
		Run    int     `json:"run"`
	} `json:"paper_gap_at,omitempty"`
	Runs []*struct {
		WallMS int64 `json:"wall_ms"`
	} `json:"runs,omitempty"`
}

type drawnSeries struct {
	Name   string       `json:"name"`
	Points []drawnPoint `json:"points"`
}

type drawnPoint struct {
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	CI95 float64 `json:"ci95"`
	Load int     `json:"load"`
	Run  int     `json:"run"`
	Name string  `json:"name,omitempty"`
	Text string  `json:"text,omitempty"`
}

// decode reads the JSON of a figure.
func decode(r *job.FigureRun) (d drawnFigure, err error) {
	text, err := json.Marshal(r.Figure)
	if err != nil {
		return d, err
	}
	err = json.Unmarshal(text, &d)
	d.N, d.Name, d.Results, d.Made = r.N, settings(r.Set), len(d.Runs), madeOf(r.Made)
	for i := range d.Series {
		if d.Series[i].Points == nil { // the page counts on a list
			d.Series[i].Points = []drawnPoint{}
		}
	}
	return d, err
}

// settings are knobs as one types them.
func settings(k experiment.Knobs) string {
	var parts []string
	for _, name := range experiment.SortedNames(k) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, k[name]))
	}
	return strings.Join(parts, " ")
}

// layers are the figures that are drawn over each other, the first with the thesis's
// knobs if there is one. What is running is among them.
func layers(s *job.FigureState, hidden []string) (out []*job.FigureRun) {
	running := s.Running
	if running != nil && running.Figure == nil {
		running = nil
	}
	switch {
	case running != nil && len(running.Set) == 0:
		out = append(out, running)
	case s.Base != nil:
		out = append(out, s.Base)
	}
	for i := range s.Variants {
		if !slices.Contains(hidden, strconv.Itoa(s.Variants[i].N)) {
			out = append(out, &s.Variants[i])
		}
	}
	if running != nil && len(running.Set) > 0 {
		out = append(out, running)
	}
	return out
}

// hiddenIn are the numbers of the variants that a reader put out of sight.
func hiddenIn(r *http.Request) []string { return strings.Split(r.URL.Query().Get("hide"), ",") }

// figure is what there is of a figure: the points of all that is drawn, the claims,
// and what a computation at paper scale would take.
func (p *page) figure(w http.ResponseWriter, r *http.Request) {
	s, err := p.source.Figure(r.URL.Query().Get("id"))
	if err != nil {
		fail(w, err)
		return
	}
	type run struct {
		Scale string `json:"scale"`
		Name  string `json:"name"`
		Done  int    `json:"done"`
		Total int    `json:"total"`
		Waits bool   `json:"waits,omitempty"`
	}
	out := struct {
		job.FigureInfo
		Running *run          `json:"running,omitempty"`
		Failed  string        `json:"failed,omitempty"`
		WallMS  int64         `json:"wall_ms"`
		Base    bool          `json:"base"`
		PaperMS int64         `json:"paper_ms,omitempty"`
		Drawn   []drawnFigure `json:"drawn"`
		Hidden  []string      `json:"hidden"` // the names of variants out of sight
	}{FigureInfo: s.FigureInfo, Failed: s.Failed, Base: s.Base != nil, Drawn: []drawnFigure{}, Hidden: []string{}}
	if s.Running != nil {
		out.Running = &run{s.Running.Scale, settings(s.Running.Set), s.Running.Done, s.Running.Total, s.Running.Waits}
	}
	if s.Base != nil {
		out.WallMS = s.Base.WallMS
	}
	for _, v := range s.Variants {
		if slices.Contains(hiddenIn(r), strconv.Itoa(v.N)) {
			out.Hidden = append(out.Hidden, settings(v.Set))
		}
	}
	for _, l := range layers(&s, hiddenIn(r)) {
		d, err := decode(l)
		if err != nil {
			fail(w, err)
			return
		}
		out.PaperMS = max(out.PaperMS, d.paperMS())
		d.Runs = nil
		out.Drawn = append(out.Drawn, d)
	}
	answer(w, out)
}

// paperMS is about how long the figure takes at paper scale, 0 if unknown: all
// points as long as the one that was computed there.
func (d *drawnFigure) paperMS() int64 {
	if d.GapAt == nil || d.GapAt.Run >= len(d.Runs) || d.Runs[d.GapAt.Run] == nil {
		return 0
	}
	points := 0
	for _, s := range d.Series {
		points += len(s.Points)
	}
	return d.Runs[d.GapAt.Run].WallMS * int64(points) / int64(runtime.GOMAXPROCS(0))
}

// figureChart draws a figure and its variants; ?hide= has the numbers of those that
// are not wanted.
func (p *page) figureChart(w http.ResponseWriter, r *http.Request) {
	s, err := p.source.Figure(r.URL.Query().Get("id"))
	if err != nil {
		fail(w, err)
		return
	}
	all := layers(&s, hiddenIn(r))
	if len(all) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	stamp := ""
	var over []job.Figure
	for _, l := range all {
		stamp += fmt.Sprintf("%d %d %t\n", l.N, l.Done, l == s.Running) // all runs may have ended before the figure has its claims and references
		over = append(over, l.Figure)
	}
	p.draw(w, r, stamp, func() *charts.Chart { return over[0].Draw(sizeOf(r), over[1:]...) })
}

// point tells of the run behind a point: the knobs in which it differs from the other
// runs of its figure, what limits it, and a notebook cell that repeats it.
func (p *page) point(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s, err := p.source.Figure(q.Get("id"))
	if err != nil {
		fail(w, err)
		return
	}
	n, err1 := strconv.Atoi(q.Get("n"))
	run, err2 := strconv.Atoi(q.Get("run"))
	if err1 != nil || err2 != nil {
		fail(w, fmt.Errorf("n = %.20q, run = %.20q: must be whole numbers", q.Get("n"), q.Get("run")))
		return
	}
	spec, result, err := s.PointSpec(n, run)
	if err != nil {
		fail(w, err)
		return
	}
	of, _ := s.Run(n)
	knobs, err := differing(of, run)
	if err != nil {
		fail(w, err)
		return
	}
	out := struct {
		Knobs []knobDiff `json:"knobs"` // a is the point's
		Limit string     `json:"limit,omitempty"`
		Live  string     `json:"live"` // the same run in the units of the live page
		Cell  string     `json:"cell"`
	}{Knobs: knobs, Live: inUnitsOfLive(result), Cell: pointCell(spec, result, fmt.Sprintf("%.200s", strings.ReplaceAll(q.Get("what"), "\n", " ")))}
	if result.Limit != nil {
		out.Limit = result.Limit.Text
	}
	answer(w, out)
}

// inUnitsOfLive is what the live page will show of a run: there the throughput is that of
// the whole cluster and counts requests, whatever the figure's axis is.
func inUnitsOfLive(r *result.Result) string {
	s := charts.SI(r.Throughput) + "/s of the whole cluster"
	if r.LatencyUS.P50 > 0 {
		s += ", p50 " + result.Digits(r.LatencyUS.P50) + " µs"
	}
	return s
}

// differing are the knobs of a run that are not the same in all points of its figure.
func differing(f *job.FigureRun, run int) ([]knobDiff, error) {
	d, err := decode(f)
	if err != nil {
		return nil, err
	}
	own := f.Figure.Result(run).Spec
	out := []knobDiff{}
	for _, name := range experiment.SortedNames(own) {
		_, changed := f.Set[name]
		for _, s := range d.Series {
			for _, pt := range s.Points {
				if other := f.Figure.Result(pt.Run); other != nil && other.Spec[name] != own[name] {
					changed = true
				}
			}
		}
		if changed && !experiment.IsGroup(name) {
			d := knobDiff{Name: name, A: experiment.Format(name, own[name])}
			if typed, ok := f.Set[name]; ok { // in the unit that was typed
				d.A = fmt.Sprint(typed)
			}
			out = append(out, d)
		}
	}
	return out, nil
}

// pointCell is a notebook cell that repeats a run: what is before its measured time is
// its warm-up.
func pointCell(s experiment.Spec, r *result.Result, what string) string {
	warm := ""
	if r.FromNS > 0 {
		warm = "c.Run(" + duration(r.FromNS) + ") // warm-up\n"
	}
	comment := ""
	if what != "" {
		comment = "// " + what + "\n"
	}
	return comment + upOf(s) + warm + "c.Run(" + duration(r.VirtualNS) + ")\n"
}

// duration is virtual time as one writes it in Go.
func duration(ns int64) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{time.Millisecond, "Millisecond"}, {time.Microsecond, "Microsecond"}} {
		if ns%int64(u.of) == 0 {
			return fmt.Sprintf("%d * time.%s", ns/int64(u.of), u.name)
		}
	}
	return fmt.Sprintf("%d * time.Nanosecond", ns)
}
