package figure

import (
	"strings"
	"testing"

	"drtmx/engine/result"
)

// A run whose drain was given up has numbers that hold: the figure keeps its claims and says that not
// all was checked.
func TestDrainThatIsGivenUp(t *testing.T) {
	f := &Figure{ID: "4-2a", Note: "a note", Series: []Series{{Name: "FaSST", Points: []Point{{X: 3, Run: 0}, {X: 4, Run: 1}}}},
		Claims: []Claim{{Status: Holds}}, Runs: []*result.Result{{Drain: &result.DrainStat{Left: "2 transactions"}}, {Drain: &result.DrainStat{}}}}
	f.judgeFailures()
	if open := f.Undrained(); len(open) != 1 || !strings.HasPrefix(open[0], "FaSST at ") || len(f.Failed()) != 0 {
		t.Errorf("%q, failed %q", open, f.Failed())
	}
	if f.Claims[0].Status != Holds || !strings.HasPrefix(f.Note, "a note; checks are incomplete, for the drain was given up: FaSST at ") {
		t.Errorf("%+v, %q", f.Claims, f.Note)
	}
}
