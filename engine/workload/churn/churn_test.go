package churn

import (
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/workload/workloadtest"
)

// TestCorrect: the presets keep every invariant under contention, with torn reads, whatever
// the size of key space and records.
func TestCorrect(t *testing.T) {
	commits := uint64(6000)
	if testing.Short() {
		commits = 800
	}
	for i, o := range []Options{{Keys: 40}, {Keys: 16, ValueBytes: 104}, {Keys: 400}} {
		for _, preset := range occ.PresetNames() {
			cfg, _ := occ.Preset(preset)
			b, w := workloadtest.Open(t, i, cfg, New, o)
			if bad := b.Stress(commits); len(bad) > 0 {
				t.Errorf("%+v, %s: %s", o, preset, strings.Join(bad, "\n"))
			}
			for typ, n := range b.ByType[:len(Types)] {
				if n == 0 {
					t.Errorf("%+v, %s: no %s has committed", o, preset, Types[typ].Name)
				}
			}
			stale := uint64(0)
			for m := range b.Cluster.Machines() {
				stale += w.DB().Cache(m).Stats().Stale
			}
			if cfg.CacheEnabled && cfg.Execution != occ.TwoSided && stale == 0 {
				t.Errorf("%+v, %s: no cached location was ever stale", o, preset)
			}
			b.Close()
		}
	}
}

// TestInvariants: what is wrong is noticed, each by its own name.
func TestInvariants(t *testing.T) {
	for _, x := range []struct {
		name string
		harm func(w *Churn, c *r2.Co)
		want string
	}{
		{"nothing", func(*Churn, *r2.Co) {}, ""},
		{"a lost update", func(w *Churn, c *r2.Co) { w.counts.Add(c, 2) }, "churn.tokens: token 2 in"},
		{"a lost row", func(w *Churn, _ *r2.Co) { w.pairs += 2 }, "churn.tokens: token"},
		{"a row of another slot", func(w *Churn, _ *r2.Co) { w.clients.Of(1).foreign = "slot 3" }, "churn.whole: slot 3"},
		{"two tokens", func(w *Churn, _ *r2.Co) { w.clients.Of(1).doubled = "pair 1" }, "churn.pairs: pair 1"},
	} {
		w, err := New(Options{Keys: 40})
		if err != nil {
			t.Fatal(err)
		}
		cfg, _ := occ.Preset("drtm+h")
		b := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 1, Txn: cfg, Mode: history.Full, Requests: 60}, w)
		if bad := b.Verdict(); len(bad) > 0 {
			t.Fatal(bad)
		}
		x.harm(w, b.Cluster.Spawn(1, 0, func(*r2.Co) {}))
		got := ""
		for _, inv := range w.Check() {
			if !inv.OK {
				got += inv.Name + ": " + inv.Text
			}
		}
		if (got == "") != (x.want == "") || !strings.HasPrefix(got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
		b.Close()
	}
}
