package cluster

import (
	"context"
	"testing"

	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// fakeAgent starts an agent over fake systems.
func fakeAgent(t *testing.T, o Options, of systemtest.Options) *Agent {
	t.Helper()
	o.Open = systemtest.Opener(of)
	a, err := NewAgent(systemtest.Spec(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// fakeAgents starts an agent with a paused system for each of the options.
func fakeAgents(t *testing.T, of ...systemtest.Options) *Agent {
	t.Helper()
	n := 0
	a, err := NewAgent(systemtest.Spec(), Options{Paused: true, Open: func(ctx context.Context, s experiment.Spec, progress engine.Progress) (system.System, error) {
		n++
		return systemtest.Opener(of[min(n, len(of))-1])(ctx, s, progress)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	for range of[1:] {
		if _, err := a.Add(systemtest.Spec()); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// stateIn is how a system stands.
func stateIn(t *testing.T, a *Agent, sys string) system.Snapshot {
	t.Helper()
	s, err := a.State(sys)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
