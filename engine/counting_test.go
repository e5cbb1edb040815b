package engine

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/r2"
	records "drtmx/engine/record"
	"drtmx/engine/workload/cycle"
)

// crowded has so many coroutines on so few records that no request ends within its measured interval.
func crowded(k experiment.Knobs) experiment.Spec {
	s, err := experiment.Spec{Workload: "tpcc-no", Set: experiment.Knobs{
		"nodes": 2, "replicas": 2, "threads": 3, "coroutines": 64, "workload.scale": 0.0001, "warmup_ns": "100us", "duration_ns": "500us", "window_ns": "100us", "check": "off",
	}}.With(k)
	if err != nil {
		panic(err)
	}
	return s
}

// An attempt counts when it ends, whatever becomes of its request: in an interval that is shorter than
// its requests there are aborts and no commit.
func TestAttemptsCountWhenTheyEnd(t *testing.T) {
	s := open(t, crowded(nil))
	advance(t, s, 200_000)
	r := measured(t, s, 500_000)
	if r.Commits != 0 || r.Rollbacks != 0 || r.Verbs["cas"] == 0 {
		t.Fatalf("%d commits, %d rolled back, %d CAS: not what is to be tested", r.Commits, r.Rollbacks, r.Verbs["cas"])
	}
	if r.Aborts == 0 || r.AbortRate != 1 || r.ByType["new-order"].Aborts != r.Aborts {
		t.Errorf("%d aborts, %d of new-order, abort rate %g, with %d CAS", r.Aborts, r.ByType["new-order"].Aborts, r.AbortRate, r.Verbs["cas"])
	}
	if text := r.String(); r.Steady || !strings.Contains(r.Unsteady, fmt.Sprintf("nothing was committed in 500us: %d attempts were aborted, ", r.Aborts)) || !strings.Contains(text, r.Unsteady) {
		t.Errorf("steady %v, %q in %s", r.Steady, r.Unsteady, text)
	}
	sum := uint64(0)
	for _, w := range s.Windows(2) { // the first two are before it
		if sum += w.Aborts; w.Aborts > 0 && w.AbortRate != 1 {
			t.Errorf("window %d: %d aborts, abort rate %g", w.Index, w.Aborts, w.AbortRate)
		}
	}
	if sum != r.Aborts {
		t.Errorf("%d aborts in the windows, %d in the interval", sum, r.Aborts)
	}
}

// Attempts that abort for ever are a livelock: none of them is progress.
func TestAbortsAreNoProgress(t *testing.T) {
	s := open(t, stuck(nil))
	stall(t, s)
	err := s.Advance(200_000_000)
	if err == nil || !strings.Contains(err.Error(), "no request finished between") {
		t.Errorf("got %v", err)
	}
	if s.meter.Total().Aborts == 0 {
		t.Error("nothing was aborted")
	}
}

// stuck is a small cluster for lockAll.
func stuck(k experiment.Knobs) experiment.Spec {
	s, err := experiment.Spec{Workload: "cycle", Set: experiment.Knobs{"nodes": 2, "replicas": 1, "threads": 1, "coroutines": 2, "workload.keys": 8, "duration_ns": "20us"}}.With(k)
	if err != nil {
		panic(err)
	}
	return s
}

// stall gives all records of Cycle to a transaction that is not there, in 30 us: whoever wants one aborts. Those who hold a lock the first
// time give it back.
func stall(t *testing.T, s *System) {
	t.Helper()
	ring := s.load.db.Table(cycle.Table)
	lock := binary.LittleEndian.AppendUint64(nil, records.Owner{Machine: 1, Thread: 200}.LockWord())
	for range 3 {
		advance(t, s, 10_000)
		for key := range uint64(8) {
			at, _ := ring.Find(key)
			copy(s.cl.Mem(ring.Primary(key)).Bytes(at.Addr+r2.Addr(records.LockSeq.Lock), len(lock)), lock)
		}
	}
}
