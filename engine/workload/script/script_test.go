package script

import (
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// bed opens a script on three machines with one client each.
func bed(t *testing.T, script string) (*workloadtest.Bed, *Script) {
	t.Helper()
	w, err := New(Options{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := occ.Preset("drtm+h")
	b := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 1, Seed: 1, Txn: cfg, Mode: history.Full, Requests: 3}, w)
	return b, w
}

// Every transaction runs once, and each finds what it should, or its absence.
func TestScripts(t *testing.T) {
	for _, script := range []string{
		"w0 r1; w1 r0; r0 r1", "w0; w0; w0", "w0 w0 r0; w0", "r0", "w7",
		"i8; d0; r0 r8", "i8; i8; i8", "d0; d0; w0", "w9; r9; d9", "d0 i0 w0; w0; r0", "i8 d8; r8; i11",
		"w0 | r1; w1 | r0 w0", "w0 | w0 | w0", "a0 w1; w0 | f0; a1 f0 w0",
	} {
		b, w := bed(t, script)
		if err := b.Run(sim.Millisecond); err != nil {
			t.Fatal(err)
		}
		b.Check(t)
		if want := strings.Count(script, ";") + strings.Count(script, "|") + 1; int(b.Commits) != want || len(w.Types()) != want {
			t.Errorf("%q: %d of %d transactions have committed", script, b.Commits, want)
		}
		for typ, name := range w.Types() {
			if b.ByType[typ] != 1 {
				t.Errorf("%q: %q has committed %d times", script, name, b.ByType[typ])
			}
		}
		b.Close()
	}
}

// What writes a record otherwise is noticed.
func TestInvariants(t *testing.T) {
	for _, c := range []struct {
		script string
		harm   func(w *Script)
		want   string
	}{
		{"w0; r0", func(*Script) {}, ""},
		{"w0; r0", func(w *Script) { w.outcome.Of(1).counts[0]++ }, "script.values"},
		{"w0; r0", func(w *Script) { w.outcome.Of(1).torn++ }, "script.whole"},
		{"w0; d0", func(w *Script) { w.outcome.Of(1).counts[0]++ }, ""}, // it comes and goes
	} {
		b, w := bed(t, c.script)
		if err := b.Run(sim.Millisecond); err != nil {
			t.Fatal(err)
		}
		c.harm(w)
		if bad := strings.Join(b.Verdict(), "; "); (bad == "") != (c.want == "") || !strings.HasPrefix(bad, c.want) {
			t.Errorf("%q: %q, want %q", c.script, bad, c.want)
		}
		b.Close()
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"r0 w1;w1  r0 ;r0 r1": "r0 w1; w1 r0; r0 r1", "i8 d8": "i8 d8", "r0|w0 ;w1": "r0 | w0; w1",
	} {
		if got, rule := normal(text); got != want || rule != "" {
			t.Errorf("%q is %q, %q, want %q", text, got, rule, want)
		}
	}
	for _, text := range []string{"", "r0;", "r0|", "x1", "r", "w-1", "r65536", "r0 r0 r0 r0 r0 r0 r0 r0 r0", strings.Repeat("r0;", 16) + "r0"} {
		if got, rule := normal(text); rule == "" {
			t.Errorf("%q is taken as %q", text, got)
		}
	}
}

// A step that follows takes one READ more than one that reads, and one that announces none before the end.
func TestSteps(t *testing.T) {
	trips := func(script string) (n uint32) {
		b, _ := bed(t, script)
		defer b.Close()
		b.OnDone = func(o *txn.Outcome) {
			if o.ReadOnly {
				n = o.RoundTrips[txn.RORead]
			}
		}
		if err := b.Run(sim.Millisecond); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if read, follow := trips("w1 | r1"), trips("w1 | f1"); follow != read+1 {
		t.Errorf("from record 1 to record 2, of another machine: %d round trips, to read record 1 alone %d", follow, read)
	}
	if one, both := trips("r1 r2"), trips("a1 r2"); both > one {
		t.Errorf("with an announcement %d round trips, without %d", both, one)
	}
}
