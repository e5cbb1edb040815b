package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/web"
	"drtmx/dashboard/card"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/lineage"
	"drtmx/dashboard/windows"
	"drtmx/engine/experiment"
)

// drawn is about the most points that a line of the timeline has; neighbouring
// windows are averaged.
const drawn = 400

// tracksHeight is what suits so many tracks, in pixels; web/charts.js has the same.
func tracksHeight(n int) int { return 70 + 105*max(n, 1) }

// measure is a number of each window.
type measure struct {
	axis charts.Axis
	of   func(m *windows.Moment) float64
	rare bool                          // no track where there is none
	over func(m *windows.Moment) int32 // windows that its number is of, as Moment.Over99; nil: each has its own
}

// timelineTracks are those of the timeline of a workload, one above the other.
func timelineTracks(workload any) []measure {
	out := slices.Clone(tracks)
	if !runsTransactions(workload) {
		out[0].axis.Unit = "req/s"
	}
	return out
}

// runsTransactions says whether a workload does; one that is not known may.
func runsTransactions(workload any) bool {
	name, ok := workload.(string)
	return !ok || experiment.Workloads.Of(experiment.Knobs{"workload": name}).Transactions
}

// tracks of the timeline of a workload with transactions.
var tracks = []measure{
	{charts.Axis{Label: "throughput", Unit: "txn/s"}, func(m *windows.Moment) float64 { return m.Throughput }, false, nil},
	{charts.Axis{Label: "median latency", Unit: "µs"}, func(m *windows.Moment) float64 { return m.P50 }, false, func(m *windows.Moment) int32 { return m.Over50 }},
	{charts.Axis{Label: "99th percentile", Unit: "µs"}, func(m *windows.Moment) float64 { return m.P99 }, false, func(m *windows.Moment) int32 { return m.Over99 }},
	{charts.Axis{Label: "failed or lost", Unit: "/s"}, func(m *windows.Moment) float64 {
		return float64(m.Failed+m.Lost) / float64(max(m.T1-m.T0, 1)) * 1e9
	}, true, nil},
}

// history is a system's part of a chart.
type history struct {
	snap    system.Snapshot
	ghost   bool
	called  string // by its spec's name, where systems side by side have different ones; "": by its letter
	epoch   string
	moments []windows.Moment
	events  []session.Event
}

// histories of all systems, and a stamp that changes when they do.
func (p *page) histories(ctx context.Context) (out []history, stamp string) {
	systems := p.source.Systems()
	for _, s := range systems {
		ms, epoch, err := p.keeper.Moments(ctx, s.Sys)
		if err != nil {
			continue // closed since
		}
		events, err := p.source.Events(ctx, s.Sys)
		if err != nil {
			continue
		}
		ghost := isGhost(s, systems)
		if ghost { // before the fork it is its parent
			ms = windows.Between(ms, s.ForkNS-1, math.MaxInt64)
		}
		out = append(out, history{snap: s, ghost: ghost, epoch: epoch, moments: ms, events: events})
		stamp += fmt.Sprintf("%s %s %v", s.Sys, epoch, ghost)
		if n := len(ms); n > 0 {
			stamp += fmt.Sprintf(" %d", ms[n-1].Index)
		}
		if n := len(events); n > 0 {
			stamp += fmt.Sprintf(" %d/%d", n, events[n-1].VirtualNS)
		}
		stamp += "\n"
	}
	callByName(out)
	return out, stamp
}

// callByName calls systems side by side by their specs' names, if these tell them apart.
func callByName(hs []history) {
	seen := map[string]bool{"": true} // a spec without a name tells nothing
	for _, h := range hs {
		if !h.ghost && seen[h.snap.Name] {
			return
		}
		if !h.ghost {
			seen[h.snap.Name] = true
		}
	}
	if len(seen) < 3 { // a single system
		return
	}
	for i := range hs {
		if h := &hs[i]; !h.ghost {
			h.called = h.snap.Sys + ": " + h.snap.Name
		}
	}
}

// alike are the histories of systems with the workload of one of them, if it is known: numbers of
// others are not to be compared.
func (p *page) alike(ctx context.Context, hs []history, sys string) []history {
	var want any
	for _, h := range hs {
		if h.snap.Sys == sys {
			want = p.workloadOf(ctx, h.snap)
		}
	}
	if want == nil {
		return hs
	}
	return slices.DeleteFunc(slices.Clone(hs), func(h history) bool { return p.workloadOf(ctx, h.snap) != want })
}

// timeline draws throughput and latency of the systems with the same workload on one time axis.
// ?last=N takes the latest N windows of the system shown and what the others did
// then, ?from=&to= a span in virtual ns; without either, all that are kept.
func (p *page) timeline(w http.ResponseWriter, r *http.Request) {
	var workload any
	if s, err := windows.SnapshotOf(p.source, sysOf(r)); err == nil {
		workload = p.workloadOf(r.Context(), s)
	}
	p.tracks(w, r, timelineTracks(workload))
}

// workloadOf is the workload of a system, nil if it is not known.
func (p *page) workloadOf(ctx context.Context, s system.Snapshot) any {
	l, err := p.lines.Get(ctx, s)
	if err != nil {
		return nil
	}
	return l.Spec.Workload
}

func (p *page) tracks(w http.ResponseWriter, r *http.Request, tracks []measure) {
	hs, stamp := p.histories(r.Context())
	hs = p.alike(r.Context(), hs, sysOf(r))
	from, to := spanOf(r, hs)
	p.draw(w, r, stamp, func() *charts.Chart { return drawTracks(hs, from, to, tracks, sizeOf(r)) })
}

// drawTracks draws a span of some histories, a track above the other.
func drawTracks(hs []history, from, to int64, tracks []measure, size charts.Size) *charts.Chart {
	out := make([]charts.Track, len(tracks))
	together := make([]int, len(tracks))
	var marks []charts.Mark
	for _, h := range hs {
		ms := windows.Between(h.moments, from, to)
		for i, t := range tracks {
			for k := range ms {
				together[i] = max(together[i], t.windows(&ms[k]))
			}
			if s := line(h, ms, t); !t.rare || slices.ContainsFunc(s.Y, func(y float64) bool { return y > 0 }) {
				out[i].Series = append(out[i].Series, s)
			}
		}
		if !h.ghost {
			marks = append(marks, marksOf(h.events, from, to)...)
		}
	}
	for i, t := range tracks {
		out[i].Y = t.axis
		if n := together[i]; n > 1 {
			out[i].Y.Label += fmt.Sprintf(", of up to %d windows each", n)
		}
		out[i].Y.From = floor(out[i].Series)
	}
	first := out[0].Y.Label // is drawn even when it is empty
	shown := slices.DeleteFunc(out, func(t charts.Track) bool { return t.Y.Label != first && empty(t) })
	if size.Height == 0 { // as much as they need
		size.Height = tracksHeight(len(shown))
	}
	return charts.TimelineSized(size, "", charts.Axis{Label: "virtual time", Unit: "ms"}, shown, legible(marks, shown, size))
}

// empty is true for a percentile of which no window has enough samples.
func empty(t charts.Track) bool {
	for _, s := range t.Series {
		if len(s.X) > 0 {
			return false
		}
	}
	return true
}

func spanOf(r *http.Request, hs []history) (from, to int64) {
	from, to = 0, math.MaxInt64
	q := r.URL.Query()
	if n, err := web.Nanoseconds(q.Get("from")); err == nil {
		from = n
	}
	if n, err := web.Nanoseconds(q.Get("to")); err == nil {
		to = n
	}
	last, err := strconv.Atoi(q.Get("last"))
	if err != nil || last <= 0 {
		return from, to
	}
	for _, h := range hs {
		if n := len(h.moments); h.snap.Sys == sysOf(r) && n > 0 {
			from, to = h.moments[max(n-last, 0)].T0, h.snap.VirtualNS
		}
	}
	return from, to
}

// isGhost is true for a fork whose parent has not begun again since it was
// forked from: it shows what would have happened.
func isGhost(s system.Snapshot, systems []system.Snapshot) bool {
	for _, o := range systems {
		if s.ForkedFrom == o.Sys {
			return s.ForkEpoch == o.Epoch
		}
	}
	return false
}

func (h *history) name() string {
	if h.ghost {
		return "ghost " + h.snap.Sys
	}
	return cmp.Or(h.called, "system "+h.snap.Sys)
}

// line is a system's line, dashed for a ghost. A number of several windows stands in their middle.
func line(h history, ms []windows.Moment, t measure) charts.Series {
	out := charts.Series{Name: h.name(), System: h.snap.Sys, Dashed: h.ghost}
	// Averaged windows keep their neighbours when more come: the step is a power
	// of two and the groups begin at its multiples.
	step := 1
	for len(ms)/step > drawn {
		step *= 2
	}
	covered := t.covered(ms)
	for i := 0; i < len(ms); {
		from, sum, n, gap := ms[i].T0, 0.0, 0, false
		for group := ms[i].Index / step; i < len(ms) && ms[i].Index/step == group; i++ {
			if v := t.of(&ms[i]); !math.IsNaN(v) {
				sum, n = sum+v, n+1
				from = min(from, ms[max(0, i+1-t.windows(&ms[i]))].T0)
			} else if !covered[i] {
				gap = true
			}
		}
		y := math.NaN() // a gap: nothing was measured
		if n > 0 {
			y = sum / float64(n)
		}
		if n > 0 || gap && len(out.X) > 0 {
			out.X, out.Y = append(out.X, float64(from+ms[i-1].T1)/2e6), append(out.Y, y)
		}
	}
	return out
}

// windows is how many a number is of.
func (t *measure) windows(m *windows.Moment) int {
	if t.over == nil {
		return 1
	}
	return int(max(t.over(m), 1))
}

// covered marks the windows whose number a later one has.
func (t *measure) covered(ms []windows.Moment) []bool {
	out := make([]bool, len(ms))
	left := 0
	for i := len(ms) - 1; i >= 0; i-- {
		if n := t.windows(&ms[i]); n > 1 {
			left = n - 1
		} else if left > 0 {
			out[i] = true
			left--
		}
	}
	return out
}

// floor is where an axis may begin so that a step of a few percent can be seen:
// at most at two thirds of what is shown, so that it does not look like a wall.
func floor(ss []charts.Series) float64 {
	lo := math.Inf(1)
	hi := 0.0
	for _, s := range ss {
		for _, y := range s.Y {
			if !math.IsNaN(y) {
				lo, hi = min(lo, y), max(hi, y)
			}
		}
	}
	if hi <= 0 || lo < hi/4 {
		return 0
	}
	from := min(lo-(hi-lo)/4, hi*2/3)
	for range 3 { // a lower beginning may need wider steps
		step := nice((hi - from) / 3)
		from = math.Floor(from/step) * step
	}
	return max(from, 0)
}

// nice is a distance between ticks as echarts chooses it, so that the axis
// begins at a tick.
func nice(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, n := range []float64{1, 2, 3, 5} {
		if v/unit < map[float64]float64{1: 1.5, 2: 2.5, 3: 4, 5: 7}[n] {
			return n * unit
		}
	}
	return 10 * unit
}

// marksOf are the changes of a system; a mark carries the number of its card.
func marksOf(events []session.Event, from, to int64) []charts.Mark {
	var out []charts.Mark
	for _, e := range events {
		if e.VirtualNS < from || e.VirtualNS > to {
			continue
		}
		m := charts.Mark{X: float64(e.VirtualNS) / 1e6, Text: e.Kind, Label: e.Kind}
		if e.VirtualNS == 0 { // there stands the axis
			m.Label = " "
		}
		if e.Version > 0 && len(e.Set) > 0 {
			m.Text, m.Label = card.Title(e), strconv.Itoa(e.Version-1)+sign(e.Set)
		}
		out = append(out, m)
	}
	if n := len(out); n > marksDrawn {
		out = out[n-marksDrawn:]
	}
	return out
}

// sign tells crashes and restarts from other changes.
func sign(set experiment.Knobs) string {
	s := ""
	for _, o := range []struct{ knob, sign string }{{lineage.Restart, " ↻"}, {lineage.Crash, " ✕"}} {
		if v, ok := set[o.knob]; ok && lineage.NamesMachine(v) {
			s += o.sign
		}
	}
	return s
}

// legible gives one label to marks whose own would overlap: 2–5.
func legible(marks []charts.Mark, ts []charts.Track, size charts.Size) []charts.Mark {
	slices.SortStableFunc(marks, func(a, b charts.Mark) int { return cmp.Compare(a.X, b.X) })
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, t := range ts {
		for _, s := range t.Series {
			if n := len(s.X); n > 0 {
				lo, hi = min(lo, s.X[0]), max(hi, s.X[n-1])
			}
		}
	}
	perPixel := (hi - lo) / float64(max(size.Width, 300)-frame)
	var at []int // of the labels so far
	for i := range marks {
		at = append(at, i)
		for n := len(at); n > 1; n-- {
			a, b := &marks[at[n-2]], &marks[at[n-1]]
			if b.X-a.X >= perPixel*(labelGap+(wide(a.Label)+wide(b.Label))/2) {
				break
			}
			if a.Label != b.Label { // else it is the same change in two systems
				a.Label = first(a.Label) + "–" + last(b.Label)
			}
			b.Label = " "
			at = at[:n-1]
		}
	}
	return marks
}

// About how many pixels a label takes, and what is beside the panels of a chart.
const (
	labelGap = 4
	frame    = 82
)

func wide(label string) float64 { return 7.5 * float64(utf8.RuneCountInString(label)) }

// first and last are what a label begins and ends with.
func first(label string) string { s, _, _ := strings.Cut(label, "–"); return s }

func last(label string) string {
	if _, end, ok := strings.Cut(label, "–"); ok {
		return end
	}
	return label
}

// marksDrawn keeps a script that turns knobs in a loop from covering the lines.
const marksDrawn = 60

// phaseBar is where a transaction's time goes in one system.
type phaseBar struct {
	name string
	mean []float64 // by windows.Phases
}

// phasesOver is how many of the latest windows the breakdown is made of.
const phasesOver = 20

// phases draws where the latency of a transaction goes now, or with ?from=&to= then, a bar a
// system.
func (p *page) phases(w http.ResponseWriter, r *http.Request) {
	hs, stamp := p.histories(r.Context())
	from, to := spanOf(r, hs)
	past := r.URL.Query().Has("from")
	p.draw(w, r, stamp, func() *charts.Chart {
		var bars []phaseBar
		for _, h := range hs {
			ms := h.moments[max(0, len(h.moments)-phasesOver):]
			if past {
				ms = windows.Between(h.moments, from, to)
			}
			if len(ms) > 0 {
				bars = append(bars, phaseBar{h.name(), phaseMeans(ms)})
			}
		}
		return stackedPhases(sizeOf(r), bars)
	})
}

// phaseMeans weights the windows by their commits.
func phaseMeans(ms []windows.Moment) []float64 {
	out, total := make([]float64, len(windows.Phases)), 0.0
	for i := range ms {
		n := float64(ms[i].Commits)
		if n == 0 {
			continue
		}
		total += n
		for k, us := range ms[i].Phases {
			out[k] += float64(us) * n
		}
	}
	for k := range out {
		out[k] /= max(total, 1)
	}
	return out
}

// stackedPhases leaves out the phases without time; it is nil where that leaves none.
func stackedPhases(size charts.Size, bars []phaseBar) *charts.Chart {
	var parts []charts.Part
	out := make([]charts.Bars, len(bars))
	for k, name := range windows.Phases {
		used := false
		for _, b := range bars {
			used = used || b.mean[k] >= 0.002
		}
		if !used {
			continue
		}
		parts = append(parts, charts.PhaseParts([]string{name})...)
		for i, b := range bars {
			out[i].Name = b.name
			out[i].Values = append(out[i].Values, math.Round(b.mean[k]*1000)/1000)
		}
	}
	if parts == nil {
		return nil
	}
	return charts.StackedSized(size, "", charts.Axis{Label: "mean latency", Unit: "µs"}, parts, out)
}

// sizeOf is the room that the page has: ?w=&h= in CSS pixels.
func sizeOf(r *http.Request) (s charts.Size) {
	s.Width, _ = strconv.Atoi(r.URL.Query().Get("w"))
	s.Height, _ = strconv.Atoi(r.URL.Query().Get("h"))
	return s
}

// memo keeps the latest answer to each question, for many pages ask the same.
type memo struct {
	mu    sync.Mutex
	kept  map[string]answered
	limit int // of answers kept; 0: memoLimit
}

type answered struct {
	stamp string
	body  []byte
}

// memoLimit is far above the questions that pages ask.
const memoLimit = 64

func (m *memo) get(question, stamp string, draw func() []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, ok := m.kept[question]; ok && a.stamp == stamp && stamp != "" {
		return a.body
	}
	if m.kept == nil || len(m.kept) >= cmp.Or(m.limit, memoLimit) {
		m.kept = map[string]answered{}
	}
	a := answered{stamp, draw()}
	m.kept[question] = a
	return a.body
}

// draw answers with the chart as SVG or, for ?format=option, as data for
// echarts; where there is nothing to draw (nil) with nothing (204). stamp "" does not
// remember it.
func (p *page) draw(w http.ResponseWriter, r *http.Request, stamp string, chart func() *charts.Chart) {
	option := r.URL.Query().Get("format") == "option"
	body := p.memo.get(r.URL.String(), stamp, func() []byte {
		switch c := chart(); {
		case c == nil:
			return nil
		case option:
			return []byte(c.Option())
		default:
			return []byte(c.SVG())
		}
	})
	w.Header().Set("Cache-Control", "no-store")
	if len(body) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	if option {
		w.Header().Set("Content-Type", "application/json")
	}
	bytes.NewReader(body).WriteTo(w)
}
