package cluster

import (
	"context"
	"testing"
)

// newFake starts an agent over fake systems.
func newFake(t *testing.T, o Options, fo fakeOptions) *Agent {
	t.Helper()
	o.Open = fakeOpener(fo)
	a, err := NewAgent(smallSpec(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func stateOf(t *testing.T, a *Agent, sys string) Snapshot {
	t.Helper()
	s, err := a.State(sys)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var bg = context.Background()
