package session

import (
	"context"
	"testing"

	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine"
)

// inState is a system that says how it is.
type inState struct {
	system.System
	state string
}

func (s inState) State() string { return s.state }

// What a drain barrier makes quick does not make the slices long that come after it: the
// first of them would let the next change wait.
func TestSlicesDoNotGrowInADrain(t *testing.T) {
	grows := func(state string) int64 {
		sys, err := systemtest.Opener(systemtest.Options{})(context.Background(), systemtest.Spec(), nil)
		if err != nil {
			t.Fatal(err)
		}
		track := NewTrack(inState{sys, state})
		was := track.Slice()
		for range 20 { // one may be slow on a machine that is busy
			if err := track.Slide(track.Slice(), SliceWall); err != nil {
				t.Fatal(err)
			}
		}
		return track.Slice() / was
	}
	if n := grows(engine.StateDraining); n > 1 {
		t.Errorf("in a drain slices become %d times as long", n)
	}
	if n := grows(engine.StateRunning); n < 2 {
		t.Errorf("slices become %d times as long, however quick they are", n)
	}
}
