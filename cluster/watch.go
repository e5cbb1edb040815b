package cluster

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"drtmx/cluster/system"
	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/engine/result"
)

// pollIntervals is when a notebook asks how far a run is.
type pollIntervals struct {
	after time.Duration // how long a run may take before it does
	every time.Duration // how often it does from then on
}

var usualPolls = pollIntervals{time.Second, 200 * time.Millisecond}

// watched runs d of virtual time. A notebook shows how far it is, by the same
// questions in this process and behind an address.
func (c *Client) watched(ctx context.Context, d time.Duration) (*result.Result, error) {
	defer runtime.KeepAlive(c)
	if !charts.HasFrontend() {
		return c.d.Run(ctx, c.sys, d.Nanoseconds())
	}
	before, err := c.d.State(ctx, c.sys)
	if err != nil {
		return nil, err
	}
	w := &watch{bar: charts.Progress(fmt.Sprintf("run %v", d)), from: before.VirtualNS, d: d.Nanoseconds()}
	asking, stop := context.WithCancel(ctx)
	when := cmp.Or(c.polls, &usualPolls)
	var asked sync.WaitGroup
	asked.Go(func() {
		for wait := when.after; ; wait = when.every {
			select {
			case <-time.After(wait):
			case <-asking.Done():
				return
			}
			if s, err := c.d.State(asking, c.sys); err == nil { // else the run itself says what is wrong
				w.show(s)
			}
		}
	})
	r, err := c.d.Run(ctx, c.sys, d.Nanoseconds())
	stop()
	asked.Wait()
	w.end()
	return r, err
}

// watch is what a notebook shows of a run that takes long.
type watch struct {
	bar     func(done, total int)
	from, d int64
	line    holdLine
}

// show draws how far the run is, and whether it waits. That it is over, its answer says.
func (w *watch) show(s system.Snapshot) {
	w.line.show(s)
	w.bar(int(min(max(s.VirtualNS-w.from, 0), w.d-1)), int(w.d))
}

// end takes away what stands in the notebook, however the run ended.
func (w *watch) end() {
	w.bar(1, 1)
	w.line.show(system.Snapshot{})
}

// holdLine says in a notebook that a run waits because it is paused elsewhere.
type holdLine struct{ id, text string }

// show draws the line, and takes it away again.
func (l *holdLine) show(s system.Snapshot) {
	text, page := "", ""
	if s.Held {
		text = fmt.Sprintf("system %s is paused at %s; resume it on the page", s.Sys, words.NS(s.VirtualNS))
		page = `<div style="font:13px sans-serif">` + esc(text) + "</div>"
	}
	if text == l.text {
		return
	}
	l.text = text
	b := charts.Bundle{"text/plain": text, "text/html": page}
	if l.id == "" {
		l.id = charts.Display(b)
	} else {
		charts.Update(l.id, b)
	}
}
