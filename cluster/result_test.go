package cluster

import (
	"testing"

	"drtmx/engine"
)

// The notebook and the terminal say the same of a run without transactions.
func TestChecksWithoutTransactions(t *testing.T) {
	k := &engine.Checks{Mode: "full", OK: true}
	for _, want := range []string{"nothing to check: no transactions", "ok: total; no transactions"} {
		if got := (&Checks{k}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		k.Invariant("total", true)
	}
	k.Invariant("total", false)
	if got := (&Checks{k}).String(); got != "no transactions; total VIOLATED" {
		t.Errorf("%q", got)
	}
}
