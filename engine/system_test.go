package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// small is a cluster that runs in a fraction of a second.
func small(k experiment.Knobs) experiment.Spec {
	s := experiment.Spec{Name: "small", Set: experiment.Knobs{
		"nodes": 3, "threads": 2, "coroutines": 4, "workload.accounts": 500, "window_ns": "20us",
		"warmup_ns": "60us", "duration_ns": "240us", "cache.bytes": "1MB",
	}}
	s, err := s.With(k)
	if err != nil {
		panic(err)
	}
	return s
}

func open(t testing.TB, spec experiment.Spec) *System {
	t.Helper()
	s, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func advance(t testing.TB, s *System, ns int64) {
	t.Helper()
	if err := s.Advance(ns); err != nil {
		t.Fatal(err)
	}
}

func mustRun(t testing.TB, spec experiment.Spec) *result.Result {
	t.Helper()
	r, err := Run(context.Background(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// comparable is a result without what may differ between equal runs.
func comparable(t testing.TB, r *result.Result) string {
	t.Helper()
	c := *r
	c.WallMS = 0
	text, err := json.MarshalIndent(&c, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRunOfEachPresetAndWorkload(t *testing.T) {
	specs := map[string]experiment.Spec{
		"cycle":   small(experiment.Knobs{"workload": "cycle"}),
		"cells":   small(experiment.Knobs{"workload": "registers", "workload.keys": 200}),
		"ycsb":    small(experiment.Knobs{"workload": "ycsb", "workload.keys": 1000}),
		"tpcc":    small(experiment.Knobs{"workload": "tpcc", "workload.customers": 300, "workload.items": 2_000}),
		"tpcc-no": small(experiment.Knobs{"workload": "tpcc-no", "workload.customers": 300, "workload.items": 2_000}),
		"tpce":    small(experiment.Knobs{"workload": "tpce", "workload.customers": 40, "workload.securities": 40}),
		"tpce-cp": small(experiment.Knobs{"workload": "tpce-cp", "workload.customers": 40, "workload.securities": 40}),
		"open":    small(experiment.Knobs{"clients.arrival": "open:200k"}),
		"split":   small(experiment.Knobs{"servers": 3, "clients": 1, "client.threads": 3}),
		"fresh":   small(experiment.Knobs{"warm": false, "ddio": false, "torn_reads": false, "check": "sampled"}),
		"lossy":   small(experiment.Knobs{"preset": "fasst", "fault.drop": 0.01}),
		"narrow":  small(experiment.Knobs{"opt.co": false, "opt.or": false, "opt.db": false, "opt.pa": false}),
	}
	for _, p := range experiment.PresetNames() {
		specs[p] = small(experiment.Knobs{"preset": p})
	}
	for _, m := range []string{"micro-read", "micro-write", "micro-atomic", "micro-rpc"} {
		specs[m] = small(experiment.Knobs{"workload": m, "workload.keys": 1000})
	}
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			r := mustRun(t, spec)
			w := experiment.Workloads.Of(r.Spec)
			switch {
			case r.Commits == 0 || r.Throughput <= 0 || r.LatencyUS.Mean <= 0:
				t.Errorf("nothing happened: %v", r)
			case r.Checks.Mode != "off" && !r.Checks.Passed():
				t.Errorf("checks: %s", r.ChecksText())
			case w.Transactions && len(r.Checks.Invariants) < 2:
				t.Errorf("invariants: %v", r.Checks.Invariants)
			case r.VirtualNS != 240_000 || r.FromNS != 60_000:
				t.Errorf("measured %d ns from %d", r.VirtualNS, r.FromNS)
			}
			var byType uint64
			for _, s := range r.ByType {
				byType += s.Commits
			}
			if byType != r.Commits {
				t.Errorf("types have %d commits of %d", byType, r.Commits)
			}
			var share float64
			for _, p := range r.Phases {
				share += p.Share
			}
			if share < 0.999 || share > 1.001 {
				t.Errorf("shares of the phases add up to %f: %v", share, r.Phases)
			}
		})
	}
}

// The outcome is the same whatever the slicing, whoever looks, and however many processors or
// garbage collections there are.
func TestDeterminism(t *testing.T) {
	for _, p := range experiment.PresetNames() {
		t.Run(p, func(t *testing.T) { deterministic(t, small(experiment.Knobs{"preset": p, "fault.drop": 0.002})) })
	}
	t.Run("open", func(t *testing.T) { deterministic(t, small(experiment.Knobs{"clients.arrival": "open:300k"})) })
	t.Run("tpcc", func(t *testing.T) {
		deterministic(t, small(experiment.Knobs{"workload": "tpcc", "workload.customers": 30, "workload.items": 200, "fault.drop": 0.002}))
	})
	t.Run("tpce", func(t *testing.T) {
		deterministic(t, small(experiment.Knobs{"workload": "tpce", "workload.customers": 20, "workload.securities": 20, "fault.drop": 0.002}))
	})
	t.Run("micro-rpc", func(t *testing.T) { deterministic(t, small(experiment.Knobs{"workload": "micro-rpc"})) })
}

func deterministic(t *testing.T, spec experiment.Spec) {
	want := comparable(t, mustRun(t, spec))
	same := func(name string, r *result.Result) {
		t.Helper()
		if got := comparable(t, r); got != want {
			t.Errorf("%s: differs\n%s", name, firstDifference(want, got))
		}
	}
	func() {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		defer debug.SetGCPercent(debug.SetGCPercent(5))
		same("GOMAXPROCS=1, GOGC=5", mustRun(t, spec))
	}()

	rnd := rand.New(rand.NewPCG(1, 2))
	s := open(t, spec)
	slice := func(until int64) {
		for s.NowNS() < until {
			advance(t, s, min(rnd.Int64N(17_000), until-s.NowNS()))
			// An observer.
			s.Windows(0)
			s.Result()
			s.Digest()
			s.Knobs()
			s.Changes()
		}
	}
	slice(60_000)
	s.Mark()
	traced, err := s.follow(&tracer{want: 3}) // not Trace, which moves time until they end: TPC-C's outlast this run
	if err != nil {
		t.Fatal(err)
	}
	slice(300_000)
	s.unfollow()
	if len(traced.all) != 3 || len(traced.all[0].phases) == 0 {
		t.Errorf("%d transactions were followed", len(traced.all))
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	same("slices and observers", s.Result())
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return fmt.Sprintf("line %d: %s, want %s", i, strings.Join(y[i:min(i+1, len(y))], ""), x[i])
		}
	}
	return "more lines"
}

// Over a longer interval the edges do not matter and Little's law is exact.
func TestLittlesLaw(t *testing.T) {
	for _, arrival := range []string{"closed", "open:1M"} {
		r := mustRun(t, small(experiment.Knobs{"clients.arrival": arrival, "duration_ns": "4ms", "check": "off"}))
		if l := r.Little; l.Error > 0.01 || l.Error < -0.01 || l.InFlight < 1 {
			t.Errorf("%s: %+v", arrival, l)
		}
		if ended := r.Commits + r.Rollbacks; arrival != "closed" && (ended < 3_800 || ended > 4_200) {
			t.Errorf("%s: %d requests ended in 4 ms", arrival, ended)
		}
	}
}

func TestSeedsDiffer(t *testing.T) {
	a, b := mustRun(t, small(nil)), mustRun(t, small(experiment.Knobs{"seed": 2}))
	if a.Digest == b.Digest {
		t.Error("two seeds have one digest")
	}
}

// Another seed is another population: intervals over seeds contain what depends on the rows.
func TestSeedsPopulate(t *testing.T) {
	for _, workload := range []string{"smallbank", "tpcc", "tpce"} {
		rows := func(seed int) (n int, all []byte) {
			db := open(t, small(experiment.Knobs{"workload": workload, "workload.scale": 0.01, "seed": seed})).load.db
			for id := range uint8(64) {
				for key := range uint64(64) {
					table := db.Table(id)
					if table == nil {
						break
					}
					if row := make([]byte, table.RowBytes()); db.Row(id, key, row) {
						n, all = n+1, append(all, row...)
					}
				}
			}
			return n, all
		}
		n, one := rows(1)
		_, again := rows(1)
		_, other := rows(2)
		if n < 50 || !bytes.Equal(one, again) || bytes.Equal(one, other) {
			t.Errorf("%s: of %d rows, seed 1 twice equal: %v, seeds 1 and 2 equal: %v", workload, n, bytes.Equal(one, again), bytes.Equal(one, other))
		}
	}
}

// A district or a machine without rows left ends the run with the knob's name.
func TestOrdersRunOut(t *testing.T) {
	for _, load := range []experiment.Knobs{
		{"workload": "tpcc-no", "workload.items": 200}, {"workload": "tpce", "workload.securities": 40},
		{"workload": "tpcc", "workload.items": 200, "workload.mix.new-order": 0, "workload.mix.order-status": 0, "workload.mix.delivery": 0, "workload.mix.stock-level": 0},
	} {
		load["workload.customers"], load["workload.orders"] = 30, 8
		s := open(t, small(load))
		err := s.Advance(20_000_000)
		if err == nil || !strings.Contains(err.Error(), "raise workload.orders from 8") {
			t.Errorf("%v: got %v", load, err)
		}
	}
}

// Fewer rows than the first orders may need are refused before anything begins.
func TestTooFewOrders(t *testing.T) {
	for _, c := range []struct {
		set   experiment.Knobs
		least int
	}{
		{experiment.Knobs{"workload": "tpcc-no", "nodes": 2, "replicas": 2, "threads": 1, "coroutines": 8}, 8},
		{experiment.Knobs{"workload": "tpcc", "nodes": 3, "threads": 2, "coroutines": 4}, 4},
		{experiment.Knobs{"workload": "tpcc", "nodes": 3, "threads": 2, "coroutines": 4, "workload.warehouses": 1}, 8},
		{experiment.Knobs{"workload": "tpcc", "nodes": 3, "threads": 2, "coroutines": 4, "opt.co": false}, 1},
		{experiment.Knobs{"workload": "tpcc-no", "servers": 3, "clients": 1, "threads": 2, "client.threads": 5, "coroutines": 4}, 4},
		{experiment.Knobs{"workload": "tpcc", "workload.mix.new-order": 0, "coroutines": 8}, 1},
	} {
		for n := c.least; n >= max(1, c.least-1); n-- {
			c.set["workload.orders"] = n
			_, err := experiment.Resolve(experiment.Spec{Set: c.set})
			if n == c.least && err != nil {
				t.Errorf("%v: %v", c.set, err)
			}
			if n < c.least && (!experiment.IsSpecError(err) || !strings.Contains(err.Error(), fmt.Sprintf("workload.orders = %d: ", n)) || !strings.Contains(err.Error(), fmt.Sprintf("set workload.orders=%d", c.least))) {
				t.Errorf("%v: got %v", c.set, err)
			}
		}
	}
}

// Where several threads of a client talk to one of a server, reclaims that nobody waits for
// come from all of them at once: every one finds a RECV.
func TestAsymmetricFindsRecvs(t *testing.T) {
	for _, preset := range []string{"drtm+h", "fasst"} {
		y, err := Open(experiment.Spec{Preset: preset, Workload: "smallbank", Set: experiment.Knobs{
			"servers": 2, "replicas": 2, "clients": 4, "client.threads": 24, "check": "off"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := y.Advance(2_000_000); err != nil {
			t.Fatal(err)
		}
		if n := y.fab.Counts().NoRecv; n != 0 {
			t.Errorf("%s: %d messages found no RECV", preset, n)
		}
		y.Close()
	}
}
