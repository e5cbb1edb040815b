package cluster

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"drtmx/dashboard/charts"
	"drtmx/engine"
)

// Trace is some transactions as they went: phases, requests, and where each
// request's time was spent.
type Trace struct {
	Raw []engine.TxnTrace
}

// Trace advances until n transactions that begin from now on have ended, and
// returns them. It ends with ctx, and with the agent.
func (a *Agent) Trace(ctx context.Context, sys string, n int) ([]engine.TxnTrace, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(a.life, stop)()
	return fetch(ctx, a, sys, func(m *member) ([]engine.TxnTrace, error) {
		if err := m.free(); err != nil {
			return nil, err
		}
		for m.sys.State() == engine.StateDraining && m.err == nil {
			m.advance(settleStep) // else it shows transactions that wait for the drain
		}
		if m.err != nil {
			return nil, m.failedError()
		}
		ts, err := m.sys.TraceWith(ctx, n, nil)
		m.collect()
		m.anchor(time.Now())
		switch {
		case m.sys.State() == engine.StateFailed:
			m.fail(err)
		case err != nil && ctx.Err() == nil && !engine.IsSpecError(err):
			err = m.untraced(err)
		}
		m.publish(time.Now())
		return ts, err
	})
}

// UntracedError says that too few transactions of a system end to show as many as
// were asked for (HTTP 409).
type UntracedError struct {
	Sys  string
	Err  error
	Next string
}

func (e *UntracedError) Error() string {
	return fmt.Sprintf("system %s: %s; %s", e.Sys, oneLine(e.Err.Error()), e.Next)
}

func (e *UntracedError) Unwrap() error { return e.Err }

// untraced names what helps: a machine that is down, or time, which has gone by.
func (m *member) untraced(err error) error {
	next := fmt.Sprintf("it is at %d ns now: ask again, or for fewer", m.sys.NowNS())
	if n, ok := m.sys.Values()["fault.crash"].(int); ok && n >= 0 {
		next = fmt.Sprintf("it is at %d ns now and machine %d is down: set fault.restart=%d and ask again", m.sys.NowNS(), n, n)
	}
	return &UntracedError{m.id, err, next}
}

// Trace returns n transactions that begin from now on.
func (c *Client) Trace(n int) (*Trace, error) {
	ts, err := c.d.trace(c.context(), c.sys, n)
	if err != nil {
		return nil, err
	}
	return &Trace{ts}, nil
}

// Trace returns n transactions that begin from now on. As last value of a cell
// the first of them draws itself.
func (c *Cluster) Trace(n int) *Trace {
	t, err := c.c.Trace(n)
	must(err)
	return t
}

// String is a line per phase and request.
func (t *Trace) String() string {
	var b strings.Builder
	for i, x := range t.Raw {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s on machine %d thread %d, %s after %d attempt(s), %s", x.Type, x.Machine, x.Thread, x.Outcome, x.Attempts, usText((x.EndNS-x.BeginNS)/1e3))
		at := func(ns float64) string { return fmt.Sprintf("%8.3f", (ns-x.BeginNS)/1e3) }
		for _, p := range x.Phases {
			fmt.Fprintf(&b, "\n  %s .. %s us  %s", at(p.BeginNS), at(p.EndNS), p.Phase)
			for _, v := range x.Verbs {
				if v.BeginNS >= p.BeginNS && v.BeginNS < p.EndNS {
					fmt.Fprintf(&b, "\n  %s .. %s us    %s", at(v.BeginNS), at(v.EndNS), verbText(v))
				}
			}
		}
	}
	return b.String()
}

func verbText(v engine.VerbTrace) string {
	s := fmt.Sprintf("%s to %d, %d bytes", v.Verb, v.To, v.Bytes)
	if v.Passive {
		s += ", passive"
	}
	return s
}

// HTML draws the first transaction; the text of all of them is folded up.
func (t *Trace) HTML() string {
	out := ""
	if len(t.Raw) > 0 {
		out = charts.New("a transaction", nil, t.SVG()).HTML()
	}
	return out + "<details><summary>As text</summary><pre>" + esc(t.String()) + "</pre></details>"
}

// milestoneColours follow a request on its way: sender, network, receiver, and
// back to the coroutine.
var milestoneColours = map[string]string{
	"post": "#56B4E9", "doorbell": "#0072B2", "nic_send": "#E69F00", "wire": "#999999", "nic_receive": "#D55E00", "pcie": "#CC79A7",
	"memory": "#009E73", "handler_queue": "#F0E442", "handler": "#7A5195", "completion": "#8C6D31", "poll": "#BBBBBB",
}

const (
	traceWidth = 900
	traceLeft  = 190
	traceRow   = 20
)

// SVG draws the first transaction on a time line: the phases above, a row per
// request below, coloured by where its time was spent.
func (t *Trace) SVG() string {
	if len(t.Raw) == 0 {
		return ""
	}
	x := t.Raw[0]
	end := x.EndNS
	for _, p := range x.Phases {
		end = math.Max(end, p.EndNS)
	}
	for _, v := range x.Verbs {
		end = math.Max(end, v.EndNS)
	}
	scale := float64(traceWidth-traceLeft-20) / math.Max(end-x.BeginNS, 1)
	at := func(ns float64) float64 { return traceLeft + (ns-x.BeginNS)*scale }
	var b strings.Builder
	rows := len(x.Verbs) + 1
	height := 60 + rows*traceRow + 44
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="11">`, traceWidth, height, traceWidth, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`, traceWidth, height)
	fmt.Fprintf(&b, `<text x="8" y="18" font-size="13" font-weight="bold">%s on machine %d, %s, %s</text>`, esc(x.Type), x.Machine, esc(x.Outcome), esc(usText((x.EndNS-x.BeginNS)/1e3)))
	for i, p := range x.Phases {
		fill := []string{"#cfe3f1", "#e3eef7"}[i%2]
		w := (p.EndNS - p.BeginNS) * scale
		fmt.Fprintf(&b, `<g><title>%s: %s</title><rect x="%.1f" y="30" width="%.1f" height="%d" fill="%s"/>`, esc(p.Phase), esc(usText((p.EndNS-p.BeginNS)/1e3)), at(p.BeginNS), w, 18+rows*traceRow, fill)
		if w > 7*float64(len(p.Phase)) {
			fmt.Fprintf(&b, `<text x="%.1f" y="43">%s</text>`, at(p.BeginNS)+3, esc(p.Phase))
		}
		b.WriteString(`</g>`)
	}
	for i, v := range x.Verbs {
		drawVerb(&b, v, 54+float64(i)*traceRow, at, scale)
	}
	fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="30" y2="%d" stroke="#000000" stroke-dasharray="3 3"/><text x="%.1f" y="26" text-anchor="end">decided</text>`, at(x.EndNS), at(x.EndNS), 48+rows*traceRow, at(x.EndNS))
	drawTicks(&b, x.BeginNS, end, at, 48+rows*traceRow)
	drawLegend(&b, x, height-8)
	b.WriteString(`</svg>`)
	return b.String()
}

// drawVerb draws one request: its name, and a bar of its milestones.
func drawVerb(b *strings.Builder, v engine.VerbTrace, y float64, at func(float64) float64, scale float64) {
	fmt.Fprintf(b, `<g><title>%s: %s</title><text x="8" y="%.1f">%s</text>`, esc(verbText(v)), esc(usText((v.EndNS-v.BeginNS)/1e3)), y+12, esc(verbText(v)))
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="13" fill="#dddddd" stroke="#666666" stroke-width="0.5"/>`, at(v.BeginNS), y+2, math.Max((v.EndNS-v.BeginNS)*scale, 1))
	from := v.BeginNS
	for _, m := range v.Milestones {
		colour := milestoneColours[m.Milestone]
		if colour == "" {
			colour = "#444444"
		}
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="13" fill="%s"><title>%s %.0f ns</title></rect>`, at(from), y+2, m.NS*scale, colour, esc(m.Milestone), m.NS)
		from += m.NS
	}
	b.WriteString(`</g>`)
}

// drawTicks writes microseconds along the bottom.
func drawTicks(b *strings.Builder, from, to float64, at func(float64) float64, y int) {
	step := math.Pow(10, math.Floor(math.Log10(math.Max(to-from, 1)/4)))
	for _, k := range []float64{5, 2} {
		if (to-from)/(step*k) >= 4 {
			step *= k
			break
		}
	}
	for t := 0.0; t <= to-from; t += step {
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#000000"/><text x="%.1f" y="%d" text-anchor="middle">%g</text>`, at(from+t), at(from+t), y, y+4, at(from+t), y+15, t/1e3)
	}
	fmt.Fprintf(b, `<text x="8" y="%d">microseconds</text>`, y+15)
}

// drawLegend names the colours that occur.
func drawLegend(b *strings.Builder, x engine.TxnTrace, y int) {
	left := 8
	seen := map[string]bool{}
	for _, v := range x.Verbs {
		for _, m := range v.Milestones {
			if seen[m.Milestone] || milestoneColours[m.Milestone] == "" {
				continue
			}
			seen[m.Milestone] = true
			fmt.Fprintf(b, `<rect x="%d" y="%d" width="10" height="10" fill="%s"/><text x="%d" y="%d">%s</text>`, left, y-9, milestoneColours[m.Milestone], left+13, y, esc(m.Milestone))
			left += 24 + 7*len(m.Milestone)
		}
	}
}
