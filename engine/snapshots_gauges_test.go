package engine

import (
	"encoding/binary"
	"maps"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/record"
	"drtmx/engine/result"
	"drtmx/engine/store"
)

// hosts are protocols with snapshots, small and contended. Clients are on machines of their own, so that no read is of the own one.
func hosts(set experiment.Knobs) map[string]experiment.Spec {
	out := map[string]experiment.Spec{}
	for cc, own := range map[string]experiment.Knobs{
		"occ": {}, "2pl": {"2pl.timeout_ns": "500us"}, "rococo": {"replicas": 1},
	} { // order-free: fills a map
		k := experiment.Knobs{"cc": cc, "nodes": 0, "servers": 2, "clients": 2, "server.threads": 2, "client.threads": 2, "workload.keys": 60, "workload.scale": 1.0, "replicas": 2, "window_ns": "200us", "duration_ns": "4ms"}
		maps.Copy(k, own)
		maps.Copy(k, set)
		spec := versioned(k)
		delete(spec.Set, "threads")
		delete(spec.Set, "nodes")
		out[cc] = spec
	}
	return out
}

// What snapshots read, how many of the reads waited and what is kept for them shows in every host, and nobody asks an oracle.
func TestGaugesOfSnapshots(t *testing.T) {
	for cc, spec := range hosts(nil) { // order-free: each is a system of its own
		t.Run(cc, func(t *testing.T) {
			r := mustRun(t, spec)
			p := r.Parts["snapshots"]
			reads := p["reads"] * float64(r.VirtualNS) / 1e9
			if s := r.StalenessNS; s == nil || reads < 0.9*float64(s.Reads) || reads > 1.1*float64(s.Reads) {
				t.Errorf("the gauge has %.0f reads, staleness %+v", reads, s)
			}
			if p["blocked"] <= 0 || p["blocked"] > 100 || p["wait"] <= 0 || p["wait"] > float64(r.VirtualNS)/1e3 {
				t.Errorf("%g %% are blocked, for %g µs on average", p["blocked"], p["wait"])
			}
			if p["collected"] <= 0 || p["heap"] < 24e-6*p["versions"] || p["heap_full"] != 0 {
				t.Errorf("old versions: %v", p)
			}
			if r.Parts["oracle"] != nil {
				t.Errorf("nobody asks an oracle, and it shows %v", r.Parts["oracle"])
			}
			if text := r.String(); !strings.Contains(text, "\nsnapshots ") || !strings.Contains(text, "% of the reads were blocked") || !strings.Contains(text, ", bound ") {
				t.Errorf("%s", text)
			}
		})
	}
}

// No read is blocked under stable timestamps, and some are where GTS has none.
func TestStableSnapshotsAreNotBlocked(t *testing.T) {
	for _, stable := range []bool{true, false} {
		p := mustRun(t, hosts(experiment.Knobs{"ts.scheme": "gts", "oracle": true, "ts.stable": stable})["occ"]).Parts
		if x := p["snapshots"]; (x["blocked"] == 0) != stable || x["reads"] <= 0 {
			t.Errorf("stable %v: %v", stable, x)
		}
		if x := p["oracle"]; (x["installs"] > 0) != stable || x["lag"] < 0 || x["queue"] < 0 || x["queue"] > x["lag"] {
			t.Errorf("stable %v: %v", stable, x)
		}
	}
}

// The oracle shows what it is asked and how busy its busiest core is, under GTS and VTS, and goes on to count when the scheme changes.
func TestGaugesOfTheOracle(t *testing.T) {
	for _, scheme := range []string{"gts", "vts"} {
		spec := hosts(experiment.Knobs{"ts.scheme": scheme, "oracle": true, "oracle.threads": 2})["occ"]
		r := mustRun(t, spec)
		p, node := r.Parts["oracle"], r.Nodes[len(r.Nodes)-1]
		if p["takes"] <= 0 || p["installs"] <= 0 || p["points"] <= 0 || p["messages"] <= 0 || p["messages"] > 1.001*(p["takes"]+p["installs"]+p["points"]) { // one may be under way at the end
			t.Errorf("%s: %v", scheme, p)
		}
		if mean := 100 * node.Utilization["cpu"]; node.Role != "oracle" || p["busiest"] < mean*0.99 || p["busiest"] > 2.02*mean || p["busiest"] > 100 {
			t.Errorf("%s: the busiest of two cores is %g %% busy, both %g %%, on a machine that is %s", scheme, p["busiest"], mean, node.Role)
		}
	}
	s := open(t, hosts(experiment.Knobs{"oracle": true, "duration_ns": 0})["occ"])
	for i, scheme := range []string{"dst", "gts", "vts", "dst", "gts"} {
		if i > 0 {
			if _, err := s.Set(experiment.Knobs{"ts.scheme": scheme}, "test"); err != nil {
				t.Fatal(err)
			}
		}
		advance(t, s, 2_000_000)
		for _, w := range s.Windows(0) {
			for key, x := range w.Gauges { // order-free: each is looked at by itself
				if part, _, _ := strings.Cut(key, "."); (part == "oracle" || part == "snapshots") && (x < 0 || x > 1e9) {
					t.Errorf("after %d changes window %d has %s %g", i, w.Index, key, x)
				}
			}
		}
		w := s.Windows(0)
		if last := w[len(w)-1].Gauges; (last["oracle.messages"] > 0) != (scheme != "dst") {
			t.Errorf("under %s the oracle gets %g messages/s", scheme, last["oracle.messages"])
		}
	}
}

// holdAll takes the locks of all rows of a table, as somebody does who never comes back.
func holdAll(s *System, keys uint64) {
	for _, t := range s.load.db.Tables() {
		for key := range keys {
			m := t.Store.Primary(key)
			if row, ok := t.Store.(store.Placed).RowAddr(m, key); ok {
				mem := s.cl.Mem(m)
				mem.Change(row, 8)
				binary.LittleEndian.PutUint64(mem.Bytes(row, 8), record.Owner{Machine: 3, Thread: 1, Coroutine: 2}.LockWord())
			}
		}
	}
}

// Where a run is stuck the error says which locks snapshots wait for, and who holds them.
func TestStuckSnapshots(t *testing.T) {
	s := open(t, hosts(experiment.Knobs{"duration_ns": 0, "check": "off", "workload.mix.read-only": 300})["occ"])
	advance(t, s, 300_000)
	holdAll(s, 60)
	err := s.Advance(2_000_000_000)
	if err == nil || !strings.Contains(err.Error(), "snapshots wait for the lock of key ") || !strings.Contains(err.Error(), "of table register on machine ") || !strings.Contains(err.Error(), "held by machine 3 thread 1 coroutine 2") {
		t.Errorf("%v", err)
	}
}

// While numbers are drawn and not installed, the oracle says which is the oldest and whose it is.
func TestStuckOracle(t *testing.T) {
	s := open(t, hosts(experiment.Knobs{"ts.scheme": "gts", "oracle": true, "duration_ns": 0})["occ"])
	for range 100 {
		advance(t, s, 10_000)
		if text := strings.Join(s.load.db.Stuck(4), "; "); strings.Contains(text, "StableGTS stands still at ") && strings.Contains(text, " is not installed") {
			return
		}
	}
	t.Errorf("at no instant is a number drawn and not installed: %v", s.load.db.Stuck(4))
}

// A heap that is full says whose snapshots keep its oldest version, locks are refused, and the run says how often.
func TestStuckHeap(t *testing.T) {
	s := open(t, hosts(experiment.Knobs{"ts.version_bytes": 1 << 16, "ts.staleness_ns": "20ms", "duration_ns": 0})["occ"])
	advance(t, s, 15_000_000)
	text := strings.Join(s.load.db.Stuck(4), "; ")
	if !strings.Contains(text, "no room is left for old versions of table register on machine ") || !strings.Contains(text, "may") {
		t.Errorf("%q", text)
	}
	if p := s.Result().Parts["snapshots"]; p["heap_full"] <= 0 || p["heap"] < 2*0.9*(1<<16)/1e6 {
		t.Errorf("%v", p)
	}
}

// Snapshots puts into words what a result has.
func TestTextOfSnapshots(t *testing.T) {
	p50, bound := int64(12_000), int64(60_000)
	r := result.Result{StalenessNS: &result.StalenessStat{Reads: 7, P50: &p50, Max: 40_000, Bound: &bound}, Parts: map[string]result.Part{"snapshots": {"blocked": 3.25, "wait": 1.5}}}
	if got, want := r.Snapshots(), "7 reads, p50 of the staleness 12 µs, largest 40 µs, bound 60 µs; 3.25 % of the reads were blocked, for 1.5 µs on average"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r = result.Result{StalenessNS: &result.StalenessStat{Reads: 7, Max: 40_000}}
	if got, want := r.Snapshots(), "7 reads, largest 40 µs, no bound"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := new(result.Result).Snapshots(); got != "" {
		t.Errorf("without snapshots %q", got)
	}
}
