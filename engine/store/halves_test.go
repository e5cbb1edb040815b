package store

import (
	"strings"
	"testing"
)

// Records come and go on a machine without threads where a one-sided half takes them there; others stay.
func TestHalvesOnMemoryNodes(t *testing.T) {
	for _, x := range []struct {
		halves  Halves
		fixed   bool
		threads int
		want    string
	}{
		{Served, false, 4, ""}, {Served, true, 0, ""}, {Served | OneSided, false, 0, ""}, {OneSided, false, 0, ""},
		{Served, false, 0, "table few: its records come and go, and machine 2 has no threads; tables of the store change by RPC:"},
		{0, false, 0, "change never: use a store with a one-sided half, or a Fixed table"},
	} {
		err := x.halves.CheckOn(Spec{Name: "few", Fixed: x.fixed}, 2, x.threads)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, fixed %v, %d threads: %v, want %q", x.halves, x.fixed, x.threads, err, x.want)
		}
	}
	if s := (Served | OneSided).String() + ", " + OneSided.String(); s != "by RPC or one-sided, one-sided" {
		t.Error(s)
	}
}
