package cluster

import (
	"fmt"
	"runtime"
	"time"

	"drtmx/cluster/system"
	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
)

// Versus is two clusters that differ in some knobs and run side by side.
type Versus struct {
	a, b *Client
	ka   Knobs
	kb   Knobs
}

// AB opens two clusters: spec with a, and spec with b.
func AB(spec Spec, a, b Knobs) *Versus {
	v, err := StartAB(spec, a, b)
	must(err)
	return v
}

// StartAB is AB for programs.
func StartAB(spec Spec, a, b Knobs) (*Versus, error) {
	sa, err := spec.With(a)
	if err != nil {
		return nil, err
	}
	sb, err := spec.With(b)
	if err != nil {
		return nil, err
	}
	for _, s := range []Spec{sa, sb} { // a system each
		if _, err := experiment.Resolve(s); err != nil {
			return nil, err
		}
	}
	l, all, err := newLocal(sa, sb)
	if err != nil {
		return nil, err
	}
	return &Versus{a: &Client{d: l, sys: all[0].Sys, by: "notebook"}, b: &Client{d: l, sys: all[1].Sys, by: "notebook"}, ka: a, kb: b}, nil
}

// Watch runs both for d of virtual time, shows them as they go, and compares.
func (v *Versus) Watch(d time.Duration) *Comparison {
	c, err := v.WatchFor(d)
	must(err)
	return c
}

// WatchFor is Watch for programs.
func (v *Versus) WatchFor(d time.Duration) (*Comparison, error) {
	defer runtime.KeepAlive(v)
	ctx := v.a.context()
	type half struct {
		r   *Result
		err error
	}
	run := func(c *Client, out chan<- half) {
		r, err := c.d.Run(ctx, c.sys, d.Nanoseconds())
		if err != nil {
			out <- half{nil, err}
			return
		}
		ws, err := c.d.WindowsFrom(ctx, c.sys, r.FromNS)
		out <- half{newResult(r, ws), err}
	}
	as, bs := make(chan half, 1), make(chan half, 1)
	go run(v.a, as)
	go run(v.b, bs)
	var a, b half
	var id string
	var line holdLine
	defer func() { line.show(system.Snapshot{}) }()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for n := 0; n < 2; {
		select {
		case a = <-as:
			n++
			as = nil
		case b = <-bs:
			n++
			bs = nil
		case <-tick.C:
			v.show(&id)
			v.waits(&line)
		}
	}
	if a.err != nil {
		return nil, fmt.Errorf("a (%s): %w", words.Knobs(v.ka), a.err)
	}
	if b.err != nil {
		return nil, fmt.Errorf("b (%s): %w", words.Knobs(v.kb), b.err)
	}
	if id != "" {
		v.show(&id)
	}
	return Compare(a.r, b.r), nil
}

// show draws both as they stand; the display is the same one each time.
func (v *Versus) show(id *string) {
	if !charts.HasFrontend() {
		return
	}
	as, aerr := v.a.d.WindowsFrom(v.a.context(), v.a.sys, 0)
	bs, berr := v.b.d.WindowsFrom(v.b.context(), v.b.sys, 0)
	if aerr != nil || berr != nil {
		return // the run itself reports what is wrong
	}
	b := charts.Bundle{
		"text/plain": fmt.Sprintf("a: %s, b: %s", words.Knobs(v.ka), words.Knobs(v.kb)),
		"text/html":  timeline("", []namedWindows{{"a: " + words.Knobs(v.ka), as}, {"b: " + words.Knobs(v.kb), bs}}, nil).HTML(),
	}
	if *id == "" {
		*id = charts.Display(b)
	} else {
		charts.Update(*id, b)
	}
}

// waits says whether one of both is paused.
func (v *Versus) waits(line *holdLine) {
	if !charts.HasFrontend() {
		return
	}
	s, err := v.a.State()
	if err == nil && !s.Held {
		s, err = v.b.State()
	}
	if err == nil {
		line.show(s)
	}
}

// Dashboard serves the page with both.
func (v *Versus) Dashboard() *Link {
	l, err := v.a.Dashboard()
	must(err)
	return l
}

// Close ends both.
func (v *Versus) Close() { must(v.a.Close()) }

func (v *Versus) String() string {
	return fmt.Sprintf("a: %s\nb: %s\nWatch(d) runs both for d of virtual time", words.Knobs(v.ka), words.Knobs(v.kb))
}
