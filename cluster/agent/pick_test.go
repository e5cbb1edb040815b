package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// A running system is only watched while a transaction is looked for, one that is paused goes on: a
// replay of either session comes to the same digest.
func TestTraceOfLeavesTheRunAsItIs(t *testing.T) {
	for _, paused := range []bool{true, false} {
		a, err := New(systemtest.Contended(), Options{Paused: paused, Pace: 20_000_000})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		looks := 0
		p, err := a.TraceOf(bg, "", engine.Choice{Type: "rotate", Quantile: 0.9}, func(done, total int) { looks++ })
		if err != nil {
			t.Fatal(err)
		}
		if p.Txn.Type != "rotate" || looks == 0 || p.Sample < 100 {
			t.Errorf("%d looks, %+v", looks, p)
		}
		b, err := a.Session(bg, "")
		if err != nil {
			t.Fatal(err)
		}
		r, err := session.Replay(bg, strings.NewReader(string(b)), session.ReplayOptions{})
		if err != nil || !r.OK || r.VirtualNS == 0 {
			t.Errorf("paused %v: %v, %+v", paused, err, r)
		}
	}
}

// Afterwards a paused system is at the same time however slow the computer was: what a notebook
// measures then is the same whenever it is run.
func TestTraceOfEndsAtTheSameTime(t *testing.T) {
	var first int64
	for _, slow := range []time.Duration{0, 300 * time.Microsecond} {
		open := func(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.System, error) {
			s, err := system.OpenEngine(ctx, spec, progress)
			return laggard{s, slow}, err
		}
		a, err := New(systemtest.Contended(), Options{Paused: true, Open: open})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if _, err := a.TraceOf(bg, "", engine.Choice{Quantile: 0.9}, nil); err != nil {
			t.Fatal(err)
		}
		s, err := a.State("")
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			first = s.VirtualNS
		} else if s.VirtualNS != first {
			t.Errorf("at %d ns, on a slow computer %d", first, s.VirtualNS)
		}
	}
}

// laggard is a system that takes its time.
type laggard struct {
	system.System
	by time.Duration
}

func (s laggard) Advance(d int64) error {
	time.Sleep(time.Duration(d) * s.by / pickStep)
	return s.System.Advance(d)
}

// Both ends of the range that the rule names are in it.
func TestChoiceOfEnds(t *testing.T) {
	for percentile, ok := range map[float64]bool{0.9: false, 1: true, 55.5: true, 99.9: true, 99.91: false} {
		if err := engine.CheckChoice(ChoiceOf("", percentile), nil); (err == nil) != ok {
			t.Errorf("%g: %v", percentile, err)
		}
	}
}

// A search that is given up, or whose system begins again, leaves nothing behind.
func TestTraceOfEnds(t *testing.T) {
	a, err := New(systemtest.Contended(), Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx, cancel := context.WithCancel(bg)
	if _, err := a.TraceOf(ctx, "", engine.Choice{Quantile: 0.999}, func(int, int) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	once := false
	_, err = a.TraceOf(bg, "", engine.Choice{Quantile: 0.999}, func(int, int) {
		if !once {
			once = true
			if err := a.Reset(bg, "", nil, nil, "page"); err != nil {
				t.Error(err)
			}
		}
	})
	var ended *EndedError
	if !errors.As(err, &ended) {
		t.Error(err)
	}
	if _, err := a.TraceOf(bg, "", engine.Choice{Quantile: 0.5}, nil); err != nil {
		t.Error(err)
	}
}
