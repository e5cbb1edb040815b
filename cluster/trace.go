package cluster

import (
	"fmt"
	"runtime"
	"strings"

	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/diagram"
	"drtmx/engine"
)

// Trace is some transactions as they went: phases, requests, and where each
// request's time was spent.
type Trace struct {
	Raw []engine.TxnTrace
	// Picked says how the transaction was chosen, if TraceOf did.
	Picked *engine.Picked
}

// Trace returns n transactions that begin from now on.
func (c *Client) Trace(n int) (*Trace, error) {
	defer runtime.KeepAlive(c)
	ts, err := c.d.Trace(c.context(), c.sys, n)
	if err != nil {
		return nil, err
	}
	return &Trace{Raw: ts}, nil
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
	if t.Picked != nil {
		b.WriteString(t.Words() + "\n")
	}
	for i, x := range t.Raw {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s on machine %d thread %d, %s after %s, %s", x.Type, x.Machine, x.Thread, x.Outcome, words.Counted(x.Attempts, "attempt"), words.Micros((x.EndNS-x.BeginNS)/1e3))
		at := func(ns float64) string { return fmt.Sprintf("%8.3f", (ns-x.BeginNS)/1e3) }
		for _, p := range x.Phases {
			fmt.Fprintf(&b, "\n  %s .. %s µs  %s", at(p.BeginNS), at(p.EndNS), p.Phase)
			for _, v := range x.Verbs {
				if v.BeginNS >= p.BeginNS && v.BeginNS < p.EndNS {
					fmt.Fprintf(&b, "\n  %s .. %s µs    %s", at(v.BeginNS), at(v.EndNS), verbText(v))
				}
			}
		}
	}
	return b.String()
}

func verbText(v engine.VerbTrace) string {
	s := fmt.Sprintf("%s to machine %d, %d bytes", v.Verb, v.To, v.Bytes)
	if v.Passive {
		s += ", passive"
	}
	return s
}

// HTML draws the first transaction; the text of all of them is folded up.
func (t *Trace) HTML() string {
	out := ""
	if t.Picked != nil {
		out = "<p>" + esc(t.Words()) + "</p>"
	}
	if len(t.Raw) > 0 {
		out += charts.New("a transaction", nil, t.SVG()).HTML()
	}
	return out + "<details><summary>As text</summary><pre>" + esc(t.String()) + "</pre></details>"
}

// SVG draws the first transaction on a time line: the phases above, a lane for each machine that it
// asks below, requests coloured by where their time was spent.
func (t *Trace) SVG() string {
	if len(t.Raw) == 0 {
		return ""
	}
	return diagram.Timeline(&t.Raw[0], diagram.Options{})
}
