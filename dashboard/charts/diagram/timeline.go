package diagram

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"drtmx/dashboard/charts/palette"
	"drtmx/engine"
)

// The measures of a timeline, in pixels.
const (
	margin  = 8.0
	barHigh = 14.0
	rowHigh = 22.0
	// requestsDrawn bounds a picture: a transaction that aborts again and again has thousands.
	requestsDrawn = 400
	// afterwards is how much is shown of what goes on when the latency is over, as a share of it.
	afterwards = 0.3
)

// timeline is one transaction while it is drawn.
type timeline struct {
	*drawing
	x     *engine.TxnTrace
	from  float64
	to    float64
	scale float64 // pixels per ns
	used  map[string]bool
	index map[*engine.VerbTrace]int // of a request among those of the transaction
}

// Timeline draws a transaction over time: its phases on the machine that runs it, and below, a lane
// for each machine that it asks, with the requests, their milestones as segments in the order of the
// way. Of a milestone that a request passes on the way there and back, both are in one segment. At
// the end stands where the latency went, phase by phase.
func Timeline(x *engine.TxnTrace, o Options) string {
	t := &timeline{drawing: newDrawing(o), x: x, from: x.BeginNS, used: map[string]bool{}, index: map[*engine.VerbTrace]int{}}
	inSight := t.w
	t.w *= float64(min(max(o.Zoom, 1), 20))
	end := x.EndNS
	for _, p := range x.Phases {
		end = math.Max(end, p.EndNS)
	}
	for _, v := range x.Verbs {
		end = math.Max(end, v.EndNS)
	}
	t.to = math.Min(end, x.EndNS+afterwards*(x.EndNS-x.BeginNS))
	t.scale = (t.w - 2*margin - 4) / math.Max(t.to-t.from, 1)
	for _, line := range wrapped(Caption(x), int(inSight/7.2)) {
		t.h += 17
		t.text(margin, t.h, line, `font-weight="bold"`)
	}
	t.h += 20
	axis := t.h
	t.h += 8
	t.own()
	t.lanes()
	t.grid(axis)
	t.h += 14
	whole := t.w
	t.w = inSight
	t.waits()
	t.keys()
	t.w = whole
	return t.svg(Caption(x))
}

// Caption says which transaction it is.
func Caption(x *engine.TxnTrace) string {
	s := fmt.Sprintf("%s on node %d, thread %d: %s in %s", x.Type, x.Machine, x.Thread, x.Outcome, micros(x.EndNS-x.BeginNS))
	if x.Attempts > 1 {
		s += fmt.Sprintf(", %d attempts", x.Attempts)
	}
	if x.QueuedNS > 0 {
		s += fmt.Sprintf(", after waiting %s for a free client", micros(x.QueuedNS))
	}
	return s
}

// at is the place of a time; what comes later than is shown is at the edge.
func (t *timeline) at(ns float64) float64 { return margin + (math.Min(ns, t.to)-t.from)*t.scale }

// span draws a bar from a time to another.
func (t *timeline) span(from, to, y, high, least float64, fill, tip string, more ...string) {
	t.rect(t.at(from), y, math.Max(t.at(to)-t.at(from), least), high, fill, tip, more...)
}

// own is the lane of the transaction itself.
func (t *timeline) own() {
	t.lane(fmt.Sprintf("node %d, thread %d: the transaction", t.x.Machine, t.x.Thread))
	if len(t.x.AbortsNS) > 0 {
		from := t.x.BeginNS
		for i, at := range append(slices.Clone(t.x.AbortsNS), t.x.EndNS) {
			what := "aborted"
			if i == len(t.x.AbortsNS) {
				what = t.x.Outcome
			}
			name, w := fmt.Sprintf("attempt %d", i+1), (at-from)*t.scale
			t.span(from, at, t.h, 3, 0, map[bool]string{true: palette.Good, false: hotColor}[what == "committed"], fmt.Sprintf("%s, %s: %s", name, what, micros(at-from)))
			if w > wide(name+", "+what) {
				t.text(t.at(from), t.h+15, name+", "+what, `font-size="11"`, soft)
			}
			from = at
			for _, p := range t.x.Phases {
				if p.Phase == "backoff" && p.BeginNS == at {
					from = p.EndNS
				}
			}
		}
		t.h += 20
	}
	for _, p := range t.x.Phases {
		name, fill, w := phaseName(p.Phase), phaseColour(p.Phase), t.at(p.EndNS)-t.at(p.BeginNS)
		after := ""
		if p.BeginNS >= t.x.EndNS {
			after = ", after the commit was decided: not waited for"
		}
		words := fmt.Sprintf("phase %s: %s%s", name, micros(p.EndNS-p.BeginNS), after)
		t.step(p.BeginNS, -1, words, func() { t.span(p.BeginNS, p.EndNS, t.h, 20, 0.8, fill, words) })
		if w > wide(name)+6 {
			t.text(t.at(p.BeginNS)+4, t.h+14, name, `font-size="11.5"`, `fill="`+palette.InkOn(fill)+`"`)
		}
	}
	t.h += 26
}

// lane writes the head of a lane.
func (t *timeline) lane(name string) {
	t.line(0, t.h, t.w, t.h, `stroke-opacity="0.25"`)
	t.h += 15
	t.text(margin, t.h, name, `font-size="11.5"`, soft)
	t.h += 5
}

// lanes draws the requests, by the machine that serves them.
func (t *timeline) lanes() {
	verbs := t.x.Verbs
	if len(verbs) > requestsDrawn {
		verbs = verbs[:requestsDrawn]
	}
	var nodes []int
	to := map[int][]*engine.VerbTrace{}
	for i := range verbs {
		v := &verbs[i]
		t.index[v] = i
		if to[v.To] == nil {
			nodes = append(nodes, v.To)
		}
		to[v.To] = append(to[v.To], v)
	}
	slices.Sort(nodes)
	for _, n := range nodes {
		name := fmt.Sprintf("requests to node %d", n)
		if n == t.x.Machine {
			name += ", its own, by the RNIC"
		}
		t.lane(name)
		t.requests(to[n])
	}
	if more := len(t.x.Verbs) - len(verbs); more > 0 || t.x.Cut {
		t.h += 14
		t.text(margin, t.h, fmt.Sprintf("%d more requests are not drawn", more), soft)
		t.h += 6
	}
}

// label is where the name of a request stands; 0: there is no room for it.
type label uint8

const (
	behind label = 1 + iota
	before
)

// requests packs bars into as few rows as do not overlap.
func (t *timeline) requests(verbs []*engine.VerbTrace) {
	var free []float64 // by row, in pixels
	rows, labels := make([]int, len(verbs)), make([]label, len(verbs))
	for i, v := range verbs {
		from, to := t.at(v.BeginNS), t.at(v.EndNS)
		switch w := 8 + 0.95*wide(short(v)); {
		case to+w < t.w:
			labels[i], to = behind, to+w
		case from-w >= margin:
			labels[i], from = before, from-w
		}
		row := slices.IndexFunc(free, func(x float64) bool { return x <= from })
		if row < 0 {
			row, free = len(free), append(free, 0)
		}
		rows[i], free[row] = row, to+3
	}
	for i, v := range verbs {
		t.step(v.BeginNS, t.index[v], t.details(v), func() { t.request(v, t.h+rowHigh*float64(rows[i]), labels[i]) })
	}
	t.h += rowHigh*float64(len(free)) + 4
}

// short names a request beside its bar.
func short(v *engine.VerbTrace) string { return fmt.Sprintf("%s %d B", v.Verb, v.Bytes) }

// details is all that there is to say of a request.
func (t *timeline) details(v *engine.VerbTrace) string {
	var at []string
	for _, m := range v.Milestones {
		at = append(at, micros(m.NS)+" "+milestoneWords(m.Milestone))
	}
	s := fmt.Sprintf("%s, posted after %s", about(v), micros(v.BeginNS-t.from))
	if len(at) > 0 {
		s += ": " + strings.Join(at, ", ")
	}
	return s
}

func about(v *engine.VerbTrace) string {
	return fmt.Sprintf("%s of %d bytes to node %d, phase %s: %s", v.Verb, v.Bytes, v.To, phaseName(v.Phase), micros(v.EndNS-v.BeginNS))
}

func (t *timeline) request(v *engine.VerbTrace, y float64, name label) {
	tip := about(v)
	if v.Passive {
		tip += "; passive: not waited for"
	}
	style := `stroke="currentColor" stroke-opacity="0.5" stroke-width="0.7"`
	if v.Passive {
		style += ` stroke-dasharray="3 2"`
	}
	if len(v.Milestones) == 0 && !v.Passive {
		tip += "; the completion of a later request confirmed it"
	}
	t.span(v.BeginNS, v.EndNS, y, barHigh, 1, "currentColor", tip, style, `fill-opacity="0.08"`)
	at := v.BeginNS
	for _, m := range v.Milestones {
		t.used[m.Milestone] = true
		t.span(at, at+m.NS, y, barHigh, 0, milestoneColour(m.Milestone), fmt.Sprintf("%s: %s of it %s", tip, micros(m.NS), milestoneWords(m.Milestone)))
		at += m.NS
	}
	if h := v.Handler; h != nil {
		t.span(h.BeginNS, h.EndNS, y+barHigh+1, 3, 1.5, "currentColor",
			fmt.Sprintf("its handler on node %d, thread %d: %s, an answer of %d bytes", v.To, h.Thread, micros(h.EndNS-h.BeginNS), h.Reply))
	}
	switch name {
	case behind:
		t.text(math.Max(t.at(v.EndNS), t.at(v.BeginNS)+1)+4, y+11, short(v), `font-size="10.5"`, soft)
	case before:
		t.text(t.at(v.BeginNS)-4, y+11, short(v), `font-size="10.5"`, `text-anchor="end"`, soft)
	}
}

// grid writes the time above the lanes and draws it through them.
func (t *timeline) grid(axis float64) {
	span := t.to - t.from
	step := math.Pow(10, math.Floor(math.Log10(math.Max(span, 1))))
	for _, k := range []float64{5, 2.5, 2} { // as fine as there is room for words
		for step*t.scale/k > 70 {
			step /= k
		}
	}
	for at := 0.0; at <= span; at += step {
		x := t.at(t.from + at)
		t.line(x, axis, x, t.h, `stroke-opacity="0.12"`)
		if word := fmt.Sprintf("%g", math.Round(at)/1e3); x+wide(word) < t.w {
			t.text(x, axis-3, word+map[bool]string{true: " µs"}[at == 0], `font-size="11"`, soft)
		}
	}
	if t.x.EndNS < t.to {
		x := t.at(t.x.EndNS)
		t.line(x, axis, x, t.h, `stroke-dasharray="4 3"`, `stroke-opacity="0.8"`)
		word, anchor := "latency ends here", `text-anchor="start"`
		if x > t.w/2 {
			anchor, x = `text-anchor="end"`, x-7
		}
		t.text(x+4, t.h+11, word, `font-size="11"`, anchor)
		t.h += 8
	}
}

// waits draws where the latency went: a bar for each phase, by milestone.
func (t *timeline) waits() {
	if len(t.x.Waits) == 0 {
		return
	}
	total := 0.0
	var phases []string
	sum, most := map[string]float64{}, 0.0
	for _, w := range t.x.Waits {
		if !slices.Contains(phases, w.Phase) {
			phases = append(phases, w.Phase)
		}
		total += w.NS
		sum[w.Phase] += w.NS
		most = math.Max(most, sum[w.Phase])
	}
	const left = 184.0
	t.text(margin, t.h+12, fmt.Sprintf("Where its %s went", micros(total)), `font-weight="bold"`)
	t.h += 22
	scale := (t.w - left - margin) / math.Max(most, 1)
	for _, p := range phases {
		t.text(margin, t.h+11, fmt.Sprintf("%s %s", phaseName(p), micros(sum[p])), `font-size="11.5"`)
		x := left
		for _, w := range t.x.Waits {
			if w.Phase == p {
				t.used[w.Milestone] = true
				t.rect(x, t.h, w.NS*scale, barHigh, milestoneColour(w.Milestone), fmt.Sprintf("%s, %s: %s, %.0f %% of its latency", phaseName(p), milestoneWords(w.Milestone), micros(w.NS), 100*w.NS/total))
				x += w.NS * scale
			}
		}
		t.h += 19
	}
	t.h += 6
}

// keys names the colours that occur.
func (t *timeline) keys() {
	var items [][2]string
	for _, m := range palette.Milestones.Looks() {
		if t.used[m.Name] {
			items = append(items, [2]string{m.Colour, m.Label})
		}
	}
	t.key(items)
	words := "The segments of a request are in the order in which it reaches them; what it passes twice, there and back, is one segment."
	if slices.ContainsFunc(t.x.Verbs, func(v engine.VerbTrace) bool { return v.Handler != nil }) {
		words += " The thin bar below an RPC shows when its handler ran on the other node."
	}
	if slices.ContainsFunc(t.x.Verbs, func(v engine.VerbTrace) bool { return !v.Passive && len(v.Milestones) == 0 }) {
		words += " A frame without segments: the completion of a later request confirmed this one."
	}
	if slices.ContainsFunc(t.x.Verbs, func(v engine.VerbTrace) bool { return v.Passive }) {
		words += " A dashed frame: a passive request, for which nothing waits."
	}
	for _, line := range wrapped(words, int((t.w-2*margin)/5.8)) {
		t.h += 13
		t.text(margin, t.h, line, `font-size="11"`, soft)
	}
	t.h += 8
}

// wrapped breaks words into lines of so many letters.
func wrapped(words string, n int) (out []string) {
	line := ""
	for _, w := range strings.Fields(words) {
		if line != "" && len(line)+1+len(w) > n {
			out, line = append(out, line), ""
		}
		line = strings.TrimSpace(line + " " + w)
	}
	return append(out, line)
}
