package windows

import (
	"context"
	"testing"

	"drtmx/cluster/system"
	"drtmx/engine/result"
)

// growing is a system that has so many windows.
type growing int

func (g growing) Systems() []system.Snapshot { return []system.Snapshot{{Sys: "a", Epoch: "e1"}} }

func (g growing) Windows(_ context.Context, _ string, from int) (out []result.Window, _ error) {
	for i := from; i < int(g); i++ {
		out = append(out, result.Window{Index: i})
	}
	return out, nil
}

func TestKeeperIsBounded(t *testing.T) {
	g := growing(0)
	k := NewKeeper(&g)
	for i := range 4 { // they come little by little
		g = growing(MomentsKept * (i + 1) / 2)
		if _, _, err := k.Moments(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	ms, _, err := k.Moments(t.Context(), "a")
	if err != nil || len(ms) > MomentsKept*3/2 || ms[len(ms)-1].Index != 2*MomentsKept-1 {
		t.Errorf("%d moments, %v", len(ms), err)
	}
}
