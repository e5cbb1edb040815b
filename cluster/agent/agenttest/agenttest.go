package agenttest

import (
	"context"
	"testing"

	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// New starts an agent over fake systems.
func New(t *testing.T, o agent.Options, of systemtest.Options) *agent.Agent {
	t.Helper()
	o.Open = systemtest.Opener(of)
	a, err := agent.New(systemtest.Spec(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// Several starts an agent with a paused system for each of the options.
func Several(t *testing.T, of ...systemtest.Options) *agent.Agent {
	t.Helper()
	n := 0
	a, err := agent.New(systemtest.Spec(), agent.Options{Paused: true, Open: func(ctx context.Context, s experiment.Spec, progress engine.Progress) (system.System, error) {
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

// State is how a system stands.
func State(t *testing.T, a *agent.Agent, sys string) system.Snapshot {
	t.Helper()
	s, err := a.State(sys)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
