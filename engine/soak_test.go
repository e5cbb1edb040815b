package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"drtmx/engine/experiment"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/workload"
)

// soaking says that tests go through all of what they otherwise draw a sample of: make soak.
var soaking = os.Getenv("DRTMX_SOAK") != ""

// TestSoak draws clusters, workloads, primitives, optimisations, losses and live changes at random and has
// the checkers look on; then the faults end and everything must come to rest: the history strictly
// serialisable, the workload's invariants kept, nothing left of aborted transactions, replicas equal.
// DRTMX_SOAK says how many rounds ("1000") or for how long ("10m"), DRTMX_SOAK_SEED where to begin
// ("make soak"); without, each workload has five rounds, or one where tests are to be short.
func TestSoak(t *testing.T) {
	loads := soaked()
	rounds, until := uint64(5*len(loads)), time.Time{}
	if testing.Short() {
		rounds = uint64(len(loads))
	}
	if s := os.Getenv("DRTMX_SOAK"); s != "" {
		if d, err := time.ParseDuration(s); err == nil {
			rounds, until = 1<<62, time.Now().Add(d)
		} else if rounds, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("DRTMX_SOAK %q: a number of rounds, or a time such as 10m", s)
		}
	}
	first := uint64(1)
	if s := os.Getenv("DRTMX_SOAK_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first = n
	}
	sum := map[string]*soakSum{}
	for _, w := range loads {
		sum[w.Name] = &soakSum{}
	}
	defer func() {
		for _, w := range loads {
			t.Logf("%s: %+v", w.Name, *sum[w.Name])
		}
	}()
	for seed := first; seed-first < rounds; seed++ {
		if !until.IsZero() && time.Now().After(until) {
			break
		}
		w := loads[seed%uint64(len(loads))]
		if err := soak(w, seed, sum[w.Name]); err != nil {
			t.Fatalf("seed %d: %v\nDRTMX_SOAK=1 DRTMX_SOAK_SEED=%d repeats it", seed, err, seed)
		}
	}
	for name, x := range sum { // order-free: each is looked at by itself
		if x.Commits == 0 || x.Aborts == 0 && !testing.Short() || x.Changes == 0 {
			t.Errorf("%s: a path was never taken: %+v", name, *x)
		}
	}
}

// soakSum is what the rounds of a workload did.
type soakSum struct {
	Rounds, Barriers, Changes int
	Commits, Aborts           uint64
}

// shipped are the protocols of the list of parts.
var shipped = func() (names []string) {
	for i := range experiment.Protocols {
		names = append(names, experiment.Protocols[i].Name)
	}
	return names
}()

// soaked are the workloads that run transactions, but for those whose transactions never write, or touch nothing.
func soaked() (list []*workload.Kind) {
	for i := range experiment.Workloads {
		if w := &experiment.Workloads[i]; w.Transactions && !slices.Contains([]string{"tpce-cp", "ts-read", "ts-spin"}, w.Name) {
			list = append(list, w)
		}
	}
	return list
}

func soak(w *workload.Kind, seed uint64, sum *soakSum) error {
	r := rand.New(rand.NewPCG(seed, 99))
	s, err := Open(soakSpec(r, w, seed))
	if err != nil {
		return err
	}
	defer s.Close() // not at the end of hundreds of rounds: a machine reserves much address space
	for range 5 {
		if err := s.Advance(10_000 + r.Int64N(150_000)); err != nil {
			return fmt.Errorf("%v: %w", s.Spec(), err)
		}
		c, err := s.Set(randomChange(r, s), "soak")
		if err != nil {
			return err
		}
		sum.Changes++
		if c.Pending {
			sum.Barriers++
		}
	}
	if _, err := s.Set(experiment.Knobs{"fault.drop": 0.0, "fault.nic_slowdown": 1.0}, "soak"); err != nil {
		return err
	}
	if err := s.Drain(); err != nil {
		return fmt.Errorf("%v: drain: %w", s.Spec(), err)
	}
	res := s.Result()
	if res.Checks == nil || !res.Checks.Passed() || res.Checks.Transactions == 0 {
		return fmt.Errorf("%v: %+v", s.Spec(), res.Checks)
	}
	sum.Rounds++
	sum.Commits += res.Commits
	sum.Aborts += res.Aborts
	return nil
}

// soakSpec is a small cluster in which transactions meet.
func soakSpec(r *rand.Rand, w *workload.Kind, seed uint64) experiment.Spec {
	pick := func(list ...any) any { return list[r.IntN(len(list))] }
	for {
		k := experiment.Knobs{
			"seed": int(seed), "workload": w.Name, "preset": pick("farm", "drtm+r", "fasst", "drtm+h"), "check": "full",
			"nodes": 2 + r.IntN(4), "threads": 1 + r.IntN(4), "coroutines": 1 + r.IntN(8), "replicas": 1 + r.IntN(3),
			"torn_reads": pick(true, true, false), "warm": pick(true, false), "window_ns": pick("20us", "50us"),
			"workload.scale": 0.004 * float64(1+r.IntN(4)), "cc": shipped[r.IntN(len(shipped))], "nowait.mode": pick("E", "E/S"),
		}
		if k["cc"] == "2pl" { // where all transactions want a few records, timeouts break one deadlock and leave the next
			k["2pl.deadlock"] = "wait-die"
		}
		if k["cc"] != "occ" { // who never waits meets again and again
			k["txn.backoff_max_ns"], k["drain_ns"] = "1ms", "500ms"
		}
		if w.Name == "cycle" {
			k["workload.scale"], k["workload.keys"], k["workload.value_bytes"] = 1.0, 8+r.IntN(200), 8*(1+r.IntN(20))
		}
		if w.Name == "registers" {
			k["workload.scale"], k["workload.keys"], k["workload.value_bytes"] = 1.0, 30+r.IntN(400), 8*(1+r.IntN(20))
			k["workload.reads"], k["workload.writes"], k["workload.remote.register"] = r.IntN(6), 1+r.IntN(3), pick(-1, 0, 500)
		}
		if w.Name == "churn" {
			k["workload.scale"], k["workload.keys"], k["workload.value_bytes"] = 1.0, 8+4*r.IntN(60), 24+8*r.IntN(15)
		}
		if w.Name == "ycsb" {
			k["workload.scale"], k["workload.keys"], k["workload.theta"], k["workload.write_share"] = 1.0, 60+r.IntN(2000), pick(0.0, 0.6, 0.9), pick(0.05, 0.5, 1.0)
			k["workload.ops"], k["workload.nodes_per_txn"], k["workload.distributed"] = 1+r.IntN(10), pick(0, 1, 2), pick(0.0, 0.5, 1.0)
		}
		if r.IntN(4) == 0 {
			k["servers"], k["clients"] = 2+r.IntN(2), 1+r.IntN(2)
		}
		if r.IntN(4) == 0 {
			k["clients.arrival"] = "open:200k"
		}
		if r.IntN(3) == 0 {
			scheme := pick("dst", "dst", "truetime", "gts", "vts")
			k["ts.scheme"], k["oracle"] = scheme, scheme == "gts" || scheme == "vts"
			k["ts.gc_ns"], k["ts.staleness_ns"], k["ts.clock_drift_ns"] = pick("10us", "100us"), pick(0, "50us"), pick(0, "20us", "200us")
		} else if r.IntN(2) == 0 {
			for _, p := range occ.Phases {
				k[p.Knob()] = pick("one-sided", "two-sided", "hybrid", "auto")
			}
		}
		if spec, err := small(nil).With(k); err == nil {
			if _, err = experiment.Resolve(spec); err == nil {
				return spec
			}
		}
	}
}
