package agent

import (
	"context"
	"testing"

	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
)

// newFake starts an agent over fake systems.
func newFake(t *testing.T, o Options, fo systemtest.Options) *Agent {
	t.Helper()
	o.Open = systemtest.Opener(fo)
	a, err := New(systemtest.Spec(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func stateOf(t *testing.T, a *Agent, sys string) system.Snapshot {
	t.Helper()
	s, err := a.State(sys)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var bg = context.Background()
