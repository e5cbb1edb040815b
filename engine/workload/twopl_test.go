package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/metrics"
	"drtmx/engine/protocol/twopl"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/churn"
	"drtmx/engine/workload/workloadtest"
)

// queues lists the choices of two-phase locking with lock queues that change who locks when. Waits are refused early, so that
// deadlocks by timeout are many; back-off has to keep apart those that read a record and then write it.
func queues() []twopl.Config {
	var out []twopl.Config
	for _, d := range []twopl.Deadlock{twopl.Timeout, twopl.WaitDie} {
		for _, replicas := range []int{1, 3} {
			for _, free := range []bool{false, true} {
				c := twopl.Default()
				c.Deadlock, c.Replicas, c.TimeoutNS, c.BackoffMaxNS = d, replicas, 200_000, 2_000_000
				if free {
					c.ReadNS, c.WriteNS = -1, -1
				}
				out = append(out, c)
			}
		}
	}
	return out
}

// optimiseQueues switches optimisations and speculation on and off at random.
func optimiseQueues(c twopl.Config, r *sim.Rand) twopl.Config {
	flip := func() bool { return r.Uint64n(2) == 0 }
	for _, p := range []metrics.Phase{txn.Lock, replication.Logging, txn.Commit} {
		c.Opt[p] = r2.Mode{Outstanding: flip(), Doorbell: flip(), Passive: flip()}
	}
	c.Speculative, c.Reclaim = flip(), someReclaiming(flip)
	return c
}

func queuesName(c twopl.Config) string {
	return fmt.Sprintf("%v replicas %d read %d ns opt %v speculative %v reclaim %v", c.Deadlock, c.Replicas, c.ReadNS, c.Opt, c.Speculative, c.Reclaim)
}

// TestTwoPL: choices, optimisations and shapes, each two of them together, pass the checker under contention and with lost
// datagrams, on every workload: also those whose records come and go.
func TestTwoPL(t *testing.T) {
	commits := uint64(300)
	if testing.Short() {
		commits = 100
	}
	total, before := uint64(0), seen
	for i, x := range queueConfigs(31, 2) {
		lines, err := churn.New(churn.Options{Keys: 16, ValueBytes: 104})
		if err != nil {
			t.Fatal(err)
		}
		benches := []workload.Bench{bank(t), ring(t), cells(t), wide(t), crowded(t), turnover(t), lines}
		if x.shape == 0 { // it has no clients without data
			benches = append(benches, &queue{})
		}
		for _, w := range benches {
			n, bad := stress(t, x.cfg, shapes[x.shape], uint64(i+1), commits, w)
			total += n
			if len(bad) > 0 {
				t.Fatalf("%s on %s, shape %d, seed %d:\n%s", w.Name(), queuesName(x.cfg), x.shape, i+1, strings.Join(bad, "\n"))
			}
		}
	}
	t.Logf("%d transactions committed, seen %+v", total, seen)
	if seen.lost == before.lost || seen.aborts == before.aborts || seen.rollbacks == before.rollbacks {
		t.Errorf("a path was never taken: %+v, before %+v", seen, before)
	}
}

// TestTwoPLOfTPC: likewise on the two large workloads.
func TestTwoPLOfTPC(t *testing.T) {
	commits := workloadtest.Effort(uint64(120), 60)
	if testing.Short() {
		commits = 40
	}
	total := uint64(0)
	for i, x := range queueConfigs(32, 1) {
		for _, w := range []workload.Bench{company(t), house(t)} {
			n, bad := stress(t, x.cfg, shapes[x.shape], uint64(i+1), commits, w)
			total += n
			if len(bad) > 0 {
				t.Fatalf("%s on %s, shape %d, seed %d:\n%s", w.Name(), queuesName(x.cfg), x.shape, i+1, strings.Join(bad, "\n"))
			}
		}
	}
	t.Logf("%d transactions committed", total)
}

// TestTwoPLFlips: knobs at random during the run, with the drain barrier where needed and only
// there, lose and corrupt nothing.
func TestTwoPLFlips(t *testing.T) {
	seeds := workloadtest.Effort(uint64(4), 2)
	if testing.Short() {
		seeds = 1
	}
	total := uint64(0)
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, w := range []workload.Bench{bank(t), cells(t), turnover(t)} {
			rand := stream(seed)
			pick := func() twopl.Config {
				c := optimiseQueues(queues()[rand.Intn(len(queues()))], rand)
				c.Replicas = 3
				return c
			}
			s := workloadtest.Small(pick())
			s.Seed = seed
			b := workloadtest.New(t, s, w)
			n, bad := flipUntil(b, w.DB(), 80, func() (txn.Config, sim.Time, bool) {
				pause, next := sim.Time(5+rand.Intn(60))*sim.Microsecond, pick()
				return next, pause, w.DB().NeedsDrain(next)
			})
			b.Close()
			if total += n; len(bad) > 0 {
				t.Fatalf("%s, seed %d:\n%s", w.Name(), seed, strings.Join(bad, "\n"))
			}
		}
	}
	t.Logf("%d transactions committed", total)
}

// TestTwoPLReadCommitted: reads without locks are of different moments, and the checker says so; but values are whole,
// nothing that was not committed is read, and no update is lost.
func TestTwoPLReadCommitted(t *testing.T) {
	rc := func(i int) twopl.Config {
		c := queues()[i%len(queues())]
		c.Isolation = twopl.ReadCommitted
		return c
	}
	for _, kind := range []string{"G-single", "G2"} {
		t.Run(kind, func(t *testing.T) { caught(t, rc(2), []string{kind}, cells) })
	}
	for i := range queues() {
		for _, bench := range []func(testing.TB) workload.Bench{bank, ring, cells, wide, slots, longSlots} {
			w := bench(t)
			_, bad := stress(t, rc(i), shapes[i%len(shapes)], uint64(i+1), 300, w)
			for _, text := range bad {
				if kind, _, _ := strings.Cut(text, ":"); kind != "G-single" && kind != "G2" && kind != "real-time" && kind != "churn.pairs" {
					t.Errorf("%s on %s, seed %d: %s", w.Name(), queuesName(rc(i)), i+1, text)
				}
			}
		}
	}
}
