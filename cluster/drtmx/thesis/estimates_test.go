package thesis

import (
	"strings"
	"testing"

	"drtmx/cluster/lab"
	"drtmx/cluster/work"
	"drtmx/notebooks/figures"
)

// What figures are going to take is said before a long time passes.
func TestEstimates(t *testing.T) {
	var out strings.Builder
	list := []figures.Needs{{ID: "1-1", Runs: 10, Kept: 2, CPUMS: 7_200_000, LongestMS: 600_000, MemoryBytes: 3e9}, {ID: "1-2", Runs: 1, CPUMS: 3_600_000, LongestMS: 3_600_000, MemoryBytes: 12e9}}
	workers := &lab.Workers{Same: []work.Info{{Parallel: 2}, {Parallel: 4}}}
	if err := estimates(&out, "paper", list, workers); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1-1", "2.00", "3000 MB", "all", "3.00", "12 GB", "about 1h0m0s on 2 workers (6 points at once)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	r, err := figures.Find("2-5a")
	if err != nil {
		t.Fatal(err)
	}
	n, err := r.Needs(figures.Quick, nil, nil)
	if err != nil || n.Runs < 5 || n.CPUMS == 0 || n.MemoryBytes == 0 || n.LongestMS > n.CPUMS {
		t.Errorf("%+v, %v", n, err)
	}
}
