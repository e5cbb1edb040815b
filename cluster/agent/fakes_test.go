package agent

import (
	"context"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"testing"
)

// newFakes starts an agent with a paused system for each of the options.
func newFakes(t *testing.T, of ...systemtest.Options) *Agent {
	t.Helper()
	n := 0
	a, err := New(systemtest.Spec(), Options{Paused: true, Open: func(ctx context.Context, s experiment.Spec, progress engine.Progress) (system.System, error) {
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
