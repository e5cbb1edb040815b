package engine

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestSoak draws clusters, workloads, losses and live changes at random and
// has the checkers look on; then the faults end and everything must come to
// rest with equal replicas. DRTMX_SOAK says for how long ("make soak"),
// DRTMX_SOAK_SEED where to begin; without, two rounds are run.
func TestSoak(t *testing.T) {
	rounds, until := uint64(2), time.Time{}
	if d, err := time.ParseDuration(os.Getenv("DRTMX_SOAK")); err == nil {
		rounds, until = 1<<62, time.Now().Add(d)
	}
	first := uint64(1)
	if s := os.Getenv("DRTMX_SOAK_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first = n
	}
	for seed := first; seed-first < rounds; seed++ {
		if !until.IsZero() && time.Now().After(until) {
			t.Logf("%d rounds", seed-first)
			return
		}
		soak(t, seed)
		if t.Failed() {
			t.Fatalf("round with seed %d failed: DRTMX_SOAK_SEED=%d repeats it", seed, seed)
		}
	}
}

func soak(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 99))
	pick := func(list ...any) any { return list[r.IntN(len(list))] }
	spec := small(Knobs{
		"seed": int(seed), "nodes": 2 + r.IntN(4), "threads": 1 + r.IntN(4), "coroutines": 1 + r.IntN(8),
		"replicas": 1 + r.IntN(2), "preset": pick("farm", "drtm+r", "fasst", "drtm+h"), "workload": pick("smallbank", "cycle"),
		"torn_reads": pick(true, true, false), "check": "full",
	})
	if spec.Set["workload"] == "cycle" {
		spec.Set["workload.keys"] = 8 + r.IntN(200)
	} else {
		spec.Set["workload.accounts"] = 100 + r.IntN(400)
	}
	s := open(t, spec)
	defer s.Close() // not at the end of hundreds of rounds: a machine reserves much address space
	for range 5 {
		advance(t, s, 10_000+r.Int64N(150_000))
		if _, err := s.Set(randomChange(r, s), "soak"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Set(Knobs{"fault.drop": 0.0}, "soak"); err != nil {
		t.Fatal(err)
	}
	if err := s.Drain(); err != nil {
		t.Fatalf("seed %d: drain: %v", seed, err)
	}
	res := s.Result()
	if res.Checks == nil || !res.Checks.OK || res.Checks.Transactions == 0 {
		t.Errorf("seed %d, %v: %+v", seed, s.Spec(), res.Checks)
	}
}
