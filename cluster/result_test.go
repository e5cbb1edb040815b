package cluster

import (
	"strings"
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

// A verdict over nothing is no verdict, and what a live cluster cannot judge is not passed over.
func TestChecksOverNothing(t *testing.T) {
	k := engine.Checks{Mode: "sampled", Claimed: "strict-serializable", OK: true, Seen: 12, AtDrain: true}
	none := Checks{&k}
	if text := none.String(); none.OK() || !strings.Contains(text, "undecided") || !strings.Contains(text, "batch run") {
		t.Errorf("%v, %q", none.OK(), text)
	}
	some, off := k, k
	some.Transactions, off.Mode = 3, "off"
	if c := (&Checks{&some}); !c.OK() || strings.Contains(c.String(), "undecided") {
		t.Errorf("%v, %q", c.OK(), c)
	}
	if (&Checks{&off}).OK() || (&Checks{}).OK() {
		t.Error("OK without checks")
	}
}
