package cluster

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"drtmx/cluster/agent/agenttest"
	"drtmx/cluster/system/systemtest"
	"drtmx/dashboard/charts"
)

// cellPage is a notebook that keeps what each display shows.
type cellPage struct {
	mu    sync.Mutex
	shown map[string]string // text by display
}

func (p *cellPage) Publish(_ string, content map[string]any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, _ := content["data"].(charts.Bundle)
	at, _ := content["transient"].(map[string]any)
	id, _ := at["display_id"].(string)
	p.shown[id], _ = b["text/plain"].(string)
	return nil
}

// text is what stands in the notebook.
func (p *cellPage) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, s := range p.shown {
		if s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, "\n")
}

func newCellPage(t *testing.T) *cellPage {
	p := &cellPage{shown: map[string]string{}}
	charts.SetFrontend(p)
	t.Cleanup(func() { charts.SetFrontend(nil) })
	return p
}

// bothWays are clients of a slow cluster: of this process, and behind an address. They ask at once and
// often how far a run is.
func bothWays(t *testing.T) map[string]*Client {
	l := &local{Agent: agenttest.Several(t, systemtest.Options{Slow: 20 * time.Millisecond})}
	r, err := Dial(behind(t, agenttest.Several(t, systemtest.Options{Slow: 20 * time.Millisecond})).URL)
	if err != nil {
		t.Fatal(err)
	}
	r.polls = &pollIntervals{time.Millisecond, 10 * time.Millisecond}
	return map[string]*Client{"in this process": {d: l, sys: "a", by: "notebook", polls: r.polls}, "attached": r}
}

// endlessRun begins a run that ends by its interrupt, which gives its error.
func endlessRun(c *Client) (interrupt func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := c.WithContext(ctx).Run(1000 * time.Second)
		ended <- err
	}()
	return func() error {
		cancel()
		return <-ended
	}
}

// A run that takes long shows how far it is, and nothing once it has ended, also early.
func TestRunShowsHowFarItIs(t *testing.T) {
	p := newCellPage(t)
	for name, c := range bothWays(t) {
		interrupt := endlessRun(c)
		systemtest.Eventually(t, "a bar", func() bool { return strings.HasPrefix(p.text(), "run 16m40s: 0 %") })
		if err := interrupt(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if s := p.text(); s != "" {
			t.Errorf("%s: after its end there stands %q", name, s)
		}
		if _, err := c.Run(10 * time.Microsecond); err != nil {
			t.Errorf("%s: the next run: %v", name, err)
		}
	}
}

// A run that someone else has paused says so, until it goes on.
func TestRunShowsThatItIsHeld(t *testing.T) {
	p := newCellPage(t)
	for name, c := range bothWays(t) {
		interrupt := endlessRun(c)
		systemtest.Eventually(t, "a bar", func() bool { return p.text() != "" })
		for range 2 {
			if err := c.Pause(); err != nil {
				t.Fatal(err)
			}
			systemtest.Eventually(t, "it is said to be paused", func() bool { return strings.Contains(p.text(), "system a is paused at ") })
			if err := c.Resume(); err != nil {
				t.Fatal(err)
			}
			systemtest.Eventually(t, "it is said to run", func() bool { s := p.text(); return s != "" && !strings.Contains(s, "paused") })
		}
		if err := c.Pause(); err != nil {
			t.Fatal(err)
		}
		systemtest.Eventually(t, "it is said to be paused", func() bool { return strings.Contains(p.text(), "; resume it on the page") })
		if err := interrupt(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if s := p.text(); s != "" {
			t.Errorf("%s: after its end there stands %q", name, s)
		}
	}
}
