package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"drtmx/engine/coordinator"
	"drtmx/engine/experiment"
	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	records "drtmx/engine/record"
	"drtmx/engine/sim"
	"drtmx/engine/workload/smallbank"
)

// randomChange draws settings of live knobs that are legal in s.
func randomChange(r *rand.Rand, s *System) experiment.Knobs {
	pick := func(list ...any) any { return list[r.IntN(len(list))] }
	mix := experiment.Workloads.Of(s.values).Mix
	for {
		k := experiment.Knobs{}
		for range 1 + r.IntN(3) {
			switch r.IntN(11) {
			case 0:
				k["preset"] = pick("farm", "drtm+r", "fasst", "drtm+h")
			case 1:
				k[occ.Phases[r.IntN(len(occ.Phases))].Knob()] = pick("one-sided", "two-sided", "hybrid", "auto")
			case 2:
				k["opt."+occ.Phases[r.IntN(len(occ.Phases))].Name+"."+coordinator.Optimisations[r.IntN(len(coordinator.Optimisations))].Name] = pick(true, false)
			case 3:
				k[coordinator.Optimisations[r.IntN(len(coordinator.Optimisations))].Group()] = pick(true, false)
			case 4:
				k["coroutines"] = 1 + r.IntN(8)
			case 5:
				k["cache.enabled"], k["ddio"] = pick(true, false), pick(true, false)
			case 6:
				k["txn.speculative"] = pick(true, false)
				if len(mix) > 0 {
					k["workload.mix."+mix[r.IntN(len(mix))].Name] = r.IntN(100)
				}
			case 7:
				k["fault.drop"], k["workload.theta"] = pick(0.0, 0.01), pick(0.0, 0.9)
			case 8:
				k["workload.remote.order_line"], k["workload.remote.payment"] = 10*r.IntN(101), 10*r.IntN(101)
				if r.IntN(2) == 0 {
					k = experiment.Knobs{"workload.remote": 10*r.IntN(101) - 10*r.IntN(2)}
				}
				k["fault.nic_slowdown"] = pick(1.0, 4.0)
			case 9:
				k["ts.staleness_ns"], k["ts.clock_drift_ns"] = pick(0, "20us", "300us"), pick(0, "1us", "100us")
			case 10:
				if k["ts.freshness"] = pick("session", "stale", "strict", "mixed"); r.IntN(2) == 0 {
					k = experiment.Knobs{"ts.scheme": pick("none", "dst", "truetime", "gts", "vts")}
				}
			}
		}
		if s.Check(k) == nil {
			return k
		}
	}
}

// A session with changes at odd moments replays to its digest and to its windows.
func TestChangesReplay(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			spec := small(experiment.Knobs{"seed": int(seed)})
			a := open(t, spec)
			for range 20 {
				advance(t, a, 1_000+r.Int64N(30_000))
				if _, err := a.Set(randomChange(r, a), "test"); err != nil {
					t.Fatal(err)
				}
			}
			advance(t, a, 100_000)
			if got := len(a.Changes()); got != 20 && got != a.KnobsVersion()-1 {
				t.Errorf("%d changes, version %d", got, a.KnobsVersion())
			}

			b := open(t, spec)
			for _, c := range a.Changes() {
				for b.NowNS() < c.VirtualNS {
					advance(t, b, min(7_001, c.VirtualNS-b.NowNS()))
				}
				back, err := b.Set(c.Set, c.By)
				if err != nil || !reflect.DeepEqual(back, c) {
					t.Fatalf("change %+v is replayed as %+v, %v", c, back, err)
				}
			}
			advance(t, b, a.NowNS()-b.NowNS())
			if !reflect.DeepEqual(a.Windows(0), b.Windows(0)) {
				t.Error("windows differ")
			}
			for _, s := range []*System{a, b} {
				if err := s.Drain(); err != nil {
					t.Fatal(err)
				}
				if res := s.Result(); !res.Checks.Passed() {
					t.Errorf("checks: %s", res.ChecksText())
				}
			}
			if a.Digest() != b.Digest() {
				t.Error("digests differ")
			}
		})
	}
}

func TestSpecOfARunningSystem(t *testing.T) {
	s := open(t, small(nil))
	advance(t, s, 30_000)
	if _, err := s.Set(experiment.Knobs{"preset": "farm", "opt.or": false, "phase.logging": "two-sided"}, ""); err != nil {
		t.Fatal(err)
	}
	v, err := experiment.Resolve(s.Spec())
	if err != nil || !reflect.DeepEqual(v, s.Values()) {
		t.Errorf("the spec does not lead to the values: %v", err)
	}
}

func TestDrainBarrier(t *testing.T) {
	s := open(t, small(nil))
	advance(t, s, 50_000)
	c, err := s.Set(experiment.Knobs{"phase.commit": "two-sided"}, "page")
	if err != nil {
		t.Fatal(err)
	}
	if !c.Pending || s.State() != StateDraining || c.VirtualNS != 50_000 {
		t.Fatalf("a change of the locker is %+v in state %s", c, s.State())
	}
	if c, err = s.Set(experiment.Knobs{"phase.validation": "two-sided"}, "page"); err != nil || !c.Pending || c.Version != 3 {
		t.Fatalf("a change during a drain is %+v, %v", c, err)
	}
	if got := s.load.db.Config().(occ.Config).Validation.String(); got != "one-sided" {
		t.Errorf("validation became %s before the barrier", got)
	}
	advance(t, s, 300_000) // receipts of passive requests may take that long
	if s.State() != StateRunning {
		t.Fatalf("still %s: %s", s.State(), s.waiting())
	}
	cfg := s.load.db.Config().(occ.Config)
	if cfg.Lock.String() != "two-sided" || cfg.Commit.String() != "two-sided" || cfg.Validation.String() != "two-sided" {
		t.Errorf("after the barrier: %+v", cfg)
	}
	if c, err = s.Set(experiment.Knobs{"phase.logging": "two-sided"}, ""); err != nil || c.Pending {
		t.Errorf("a change that needs no barrier is %+v, %v", c, err)
	}
	before := s.meter.Total().Commits
	advance(t, s, 50_000)
	if s.meter.Total().Commits == before {
		t.Error("nothing commits after the barrier")
	}
	s.Set(experiment.Knobs{"preset": "drtm+h"}, "")
	if err := s.Drain(); err != nil { // over the pending barrier
		t.Fatal(err)
	}
	if r := s.Result(); !r.Checks.Passed() {
		t.Error(r.ChecksText())
	}
}

// A change that waits for transactions which do not end is given up when drain_ns is spent: the system
// has failed, and one line says what was under way.
func TestDrainBarrierIsGivenUp(t *testing.T) {
	s := open(t, stuck(experiment.Knobs{"drain_ns": "50us", "preset": "fasst"}))
	advance(t, s, 30_000)
	stall(t, s)
	advance(t, s, 10_000)
	change(t, s, experiment.Knobs{"preset": "drtm+h"})
	advance(t, s, 49_000)
	if s.State() != StateDraining {
		t.Fatalf("%s before the budget is spent", s.State())
	}
	err := s.Advance(10_000)
	if err == nil || s.State() != StateFailed || s.NowNS() > 121_000 {
		t.Fatalf("%s at %d ns: %v", s.State(), s.NowNS(), err)
	}
	for _, want := range []string{"change was given up after 0.05 ms (drain_ns) with 4 transactions under way: ", "rotate in execution (machines 0-1, thread 0, at attempt ", "raise drain_ns"} {
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is not in %q", want, err)
		}
	}
}

func TestCoroutinesLive(t *testing.T) {
	s := open(t, small(experiment.Knobs{"coroutines": 2}))
	for _, want := range []int{2, 8, 1, 5} {
		if _, err := s.Set(experiment.Knobs{"coroutines": want}, ""); err != nil {
			t.Fatal(err)
		}
		got, all := 0.0, float64(6*want)
		for range 5 { // a coroutine that is to stop ends its transaction first, with its aborts
			advance(t, s, 100_000)
			w := s.Windows(0)
			if got = w[len(w)-1].InFlight; got <= all && got >= 0.9*all {
				break
			}
		}
		if got > all || got < 0.9*all {
			t.Errorf("%d coroutines on 6 threads: %.1f in flight", want, got)
		}
	}
	_, err := s.Set(experiment.Knobs{"coroutines": 40}, "")
	if !experiment.NeedsReset(err) {
		t.Errorf("more coroutines than there is room for: %v", err)
	}
}

// Coroutines that a change adds have records to work on, and what their snapshots have read is known.
func TestMoreCoroutinesLive(t *testing.T) {
	for _, w := range []string{"ts-block", "registers"} {
		s := open(t, versioned(experiment.Knobs{"workload": w, "coroutines": 2}))
		advance(t, s, 100_000)
		change(t, s, experiment.Knobs{"coroutines": 6})
		advance(t, s, 300_000)
		if err := s.Drain(); err != nil {
			t.Fatalf("%s: %v", w, err)
		}
		if r := s.Result(); !r.Checks.Passed() || r.StalenessNS.Reads < 100 {
			t.Errorf("%s: %d reads of snapshots, %s", w, r.StalenessNS.Reads, r.ChecksText())
		}
	}
}

func TestBadChangesChangeNothing(t *testing.T) {
	s := open(t, small(nil))
	advance(t, s, 30_000)
	values, digest := s.Values(), s.Digest()
	for _, tt := range []struct {
		set   experiment.Knobs
		want  string
		reset bool
	}{
		{experiment.Knobs{"phase.comit": "auto"}, "did you mean phase.commit?", false},
		{experiment.Knobs{"phase.commit": "sideways"}, "must be one of", false},
		{experiment.Knobs{"coroutines": "many"}, "whole number", false},
		{experiment.Knobs{"coroutines": 0}, "from 1 to 64", false},
		{experiment.Knobs{"nodes": 5}, "cannot change while the system runs", true},
		{experiment.Knobs{"seed": 9, "opt.or": false}, "cannot change while the system runs", true},
		{experiment.Knobs{"phase.lock": "one-sided", "phase.commit": "two-sided"}, "set phase.lock=two-sided or auto", false},
		{experiment.Knobs{"opt.logging.or": false, "opt.logging.pa": true}, "Table 4-1", false},
		{experiment.Knobs{"ddio": false, "fault.drop": 2}, "from 0 to 0.2", false},
	} {
		_, err := s.Set(tt.set, "test")
		if err == nil || !experiment.IsSpecError(err) || experiment.NeedsReset(err) != tt.reset || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", tt.set, err)
		}
	}
	if !reflect.DeepEqual(values, s.Values()) || digest != s.Digest() || s.KnobsVersion() != 1 || len(s.Changes()) != 0 {
		t.Error("a refused change left something behind")
	}
	if c, err := s.Set(experiment.Knobs{"nodes": 3, "coroutines": 4}, ""); err != nil || c.Version != 1 || len(s.Changes()) != 0 {
		t.Errorf("what is so already is no change: %+v, %v", c, err)
	}
}

// What was accepted can be applied once, and not after the system has gone on.
func TestAcceptedChangeGrowsOld(t *testing.T) {
	s := open(t, small(nil))
	accept := func(coroutines int) Accepted {
		t.Helper()
		a, err := s.Accept(experiment.Knobs{"coroutines": coroutines})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := accept(1)
	if c, err := s.Apply(a, "test"); err != nil || c.Version != 2 || s.Values()["coroutines"] != 1 {
		t.Errorf("%+v, %v, coroutines %v", c, err, s.Values()["coroutines"])
	}
	if _, err := s.Apply(a, "test"); !experiment.IsSpecError(err) {
		t.Errorf("applied twice: %v", err)
	}
	a = accept(2)
	advance(t, s, 1_000)
	if _, err := s.Apply(a, "test"); !experiment.IsSpecError(err) || s.Values()["coroutines"] != 1 {
		t.Errorf("after the system went on: %v, coroutines %v", err, s.Values()["coroutines"])
	}
}

func TestWindowsAreCutFromZero(t *testing.T) {
	s := open(t, small(experiment.Knobs{"window_ns": "7us"}))
	for range 30 {
		advance(t, s, 3_333)
	}
	list := s.Windows(0)
	if len(list) != int(s.NowNS()/7_000) {
		t.Fatalf("%d windows at %d ns", len(list), s.NowNS())
	}
	var commits uint64
	for i, w := range list {
		if w.Index != i || w.T0NS != int64(7_000*i) || w.T1NS != int64(7_000*(i+1)) {
			t.Errorf("window %d is %d, %d..%d", i, w.Index, w.T0NS, w.T1NS)
		}
		commits += w.Commits
	}
	if total := s.meter.Total().Commits; commits == 0 || commits > total {
		t.Errorf("windows have %d commits, the system %d", commits, total)
	}
	if tail := s.Windows(len(list) - 2); len(tail) != 2 || !reflect.DeepEqual(tail, list[len(list)-2:]) {
		t.Error("windows from an index")
	}
	if _, err := json.Marshal(list); err != nil {
		t.Error(err)
	}
}

// TestWindowsCountChecks: what was checked and what was seen are of the same moment.
func TestWindowsCountChecks(t *testing.T) {
	s := open(t, small(nil))
	for s.rec.Report().Transactions == 0 {
		advance(t, s, 100_000)
	}
	advance(t, s, int64(s.values.Int("window_ns")))
	before := uint64(0)
	for _, w := range s.Windows(0) {
		c := w.Checks
		if c.Transactions > c.Seen || c.Seen <= before {
			t.Errorf("window %d: %d checked of %d seen, %d before", w.Index, c.Transactions, c.Seen, before)
		}
		before = c.Seen
	}
	if last := s.Windows(s.windows.Next - 1)[0].Checks; last.Transactions == 0 {
		t.Errorf("%+v", last)
	}
}

// TestLiveResultIsJudged: a result of a running system is judged to its end, but for what needs one
// at rest, and the system goes on as if nobody had asked.
func TestLiveResultIsJudged(t *testing.T) {
	asked, plain := open(t, small(nil)), open(t, small(nil))
	for range 120 {
		advance(t, asked, 30_000)
		advance(t, plain, 30_000)
		if c := asked.Result().Checks; !c.Passed() || !c.Judged() || c.Transactions < c.Seen || !c.AtDrain || c.Invariants != nil {
			t.Fatalf("%d ns: %+v", asked.NowNS(), c)
		}
	}
	if last := asked.Windows(asked.windows.Next - 1)[0].Checks; last.Transactions == 0 || last.Transactions == last.Seen {
		t.Errorf("windows are checked in rounds: %+v", last)
	}
	if !reflect.DeepEqual(asked.Windows(0), plain.Windows(0)) || asked.Digest() != plain.Digest() {
		t.Error("asking changes the system")
	}
	if err := asked.Drain(); err != nil {
		t.Fatal(err)
	}
	if c := asked.Result().Checks; c.AtDrain || !c.Invariants["smallbank.total"] || c.Transactions != c.Seen {
		t.Errorf("%+v", c)
	}
}

func TestFailureStaysInspectable(t *testing.T) {
	s := open(t, small(nil))
	advance(t, s, 50_000)
	s.sim.Fail(fmt.Errorf("the dog ate node 2"))
	err := s.Advance(50_000)
	if err == nil || s.State() != StateFailed || s.Err() == nil {
		t.Fatalf("state %s, error %v", s.State(), err)
	}
	if s.Advance(1) == nil {
		t.Error("a failed system goes on")
	}
	if _, err := s.Set(experiment.Knobs{"ddio": false}, ""); !experiment.NeedsReset(err) {
		t.Errorf("a failed system takes changes: %v", err)
	}
	if len(s.Windows(0)) != 2 || s.Result().Commits == 0 || s.Digest() == "" || len(s.Knobs()) == 0 {
		t.Error("a failed system cannot be looked at")
	}
}

// A coroutine that never comes back is reported with what it waits for.
func TestWatchdog(t *testing.T) {
	s := open(t, small(experiment.Knobs{"window_ns": "1ms"}))
	advance(t, s, 20_000)
	s.cl.ShutGate() // as a lost wake-up would
	err := s.Advance(60_000_000)
	if err == nil || !strings.Contains(err.Error(), "no request finished between") || !strings.Contains(err.Error(), "held at the gate") {
		t.Errorf("got %v", err)
	}
}

// An open system above its capacity ends with a line that says so.
func TestTooManyArrivals(t *testing.T) {
	s := open(t, small(experiment.Knobs{"clients.arrival": "open:1G", "check": "off"}))
	err := s.Advance(2_000_000)
	if err == nil || !strings.Contains(err.Error(), "clients.arrival: 65536 requests wait for one worker") {
		t.Errorf("got %v", err)
	}
}

// Whatever a client sends as a change, it gets a one-line error or a change.
func FuzzSet(f *testing.F) {
	f.Add(`{"phase.commit": "two-sided"}`)
	f.Add(`{"preset": "farm", "opt.or": false, "coroutines": 3, "fault.drop": 1e-3}`)
	f.Add(`{"nodes": 9, "workload.mix.balance": -1}`)
	f.Add(`{"cache.bytes": "1e9GB", "ddio": null, "x": [1, {}]}`)
	s := open(f, small(nil))
	f.Fuzz(func(t *testing.T, body string) {
		var k experiment.Knobs
		if json.Unmarshal([]byte(body), &k) != nil {
			return
		}
		before := s.Values()
		set, after, err := s.check(k)
		if err != nil {
			if !experiment.IsSpecError(err) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("%q", err)
			}
			return
		}
		if again, err := experiment.Resolve(experiment.Spec{Set: after}); err != nil || !reflect.DeepEqual(after, again) {
			t.Fatalf("%v leads to values that do not resolve: %v", set, err)
		}
		if !reflect.DeepEqual(before, s.Values()) {
			t.Fatal("a check changed the system")
		}
	})
}

// Coroutines that are taken away leave the requests that they had claimed to the others.
func TestFewerCoroutinesKeepArrivals(t *testing.T) {
	s := open(t, small(experiment.Knobs{"clients.arrival": "open:150k", "coroutines": 12}))
	advance(t, s, 100_000)
	if _, err := s.Set(experiment.Knobs{"coroutines": 1}, ""); err != nil {
		t.Fatal(err)
	}
	advance(t, s, 5_000_000)
	if now := s.sim.Now(); now-s.load.oldest(now) > sim.Millisecond {
		t.Errorf("a request is waiting for %d µs", (now-s.load.oldest(now))/sim.Microsecond)
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	if r := s.Result(); !r.Checks.Passed() {
		t.Error(r.ChecksText())
	}
}

// Where the time of a request goes adds up to its latency, also of one that had to wait
// for a coroutine.
func TestPhasesAddUp(t *testing.T) {
	for _, arrival := range []string{"closed", "open:5M"} {
		s := open(t, small(experiment.Knobs{"clients.arrival": arrival, "coroutines": 2}))
		advance(t, s, 300_000)
		r := s.Result()
		sum := 0.0
		for _, p := range r.Phases { // order-free: a sum
			sum += p.MeanUS
		}
		if r.Commits == 0 || math.Abs(sum-r.LatencyUS.Mean) > 1e-3*r.LatencyUS.Mean {
			t.Errorf("%s: %d commits, phases of %g µs, latency %g µs", arrival, r.Commits, sum, r.LatencyUS.Mean)
		}
		if waits := r.Phases["other"].MeanUS > r.LatencyUS.Mean/2; waits != (arrival != "closed") {
			t.Errorf("%s: %g of %g µs outside the phases", arrival, r.Phases["other"].MeanUS, r.LatencyUS.Mean)
		}
	}
}

// A record that no transaction has written has the version that it began with: the first
// who reads another one is told, also where nobody else comes by.
func TestVersionOfNobodyIsSeen(t *testing.T) {
	s := open(t, small(nil))
	store := s.load.db.Table(smallbank.Checking)
	for key := range uint64(20) { // among them hot ones
		at, _ := store.Find(key)
		records.LockSeq.SetStamp(s.cl.Mem(at.Machine).Bytes(at.Addr+r2.Addr(records.LockSeq.Stamp), 8), records.Next(records.InitialSeq))
	}
	advance(t, s, 500_000)
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	found(t, s, history.UnknownVersion)
}

// A value that changes without its version is seen by who reads it.
func TestValueOfNobodyIsSeen(t *testing.T) {
	s := open(t, small(nil))
	advance(t, s, 200_000)
	s.load.db.EachTouched(smallbank.Checking, func(key uint64) {
		at, _ := s.load.db.Table(smallbank.Checking).Find(key)
		s.cl.Mem(at.Machine).Bytes(at.Addr+r2.Addr(records.LockSeq.Bytes), 8)[0] ^= 1
	})
	advance(t, s, 200_000)
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	found(t, s, history.WrongValue)
}

// found fails the test unless the checks have found an anomaly of the kind.
func found(t *testing.T, s *System, kind string) {
	t.Helper()
	for _, a := range s.Result().Checks.Anomalies {
		if a.Kind == kind {
			return
		}
	}
	t.Errorf("no anomaly %s: %s", kind, s.Result().ChecksText())
}

// More requests than a system can serve: the run ends, says at which rates requests come and go, and does not advise to measure longer.
func TestOverload(t *testing.T) {
	r := mustRun(t, small(experiment.Knobs{"clients.arrival": "open:4M", "warmup_ns": 0, "duration_ns": 0}))
	if r.Open == nil || !r.Open.Overloaded || r.Open.Offered < 3.8e6 || r.Open.Served > 0.9*r.Open.Offered || r.Steady {
		t.Errorf("%+v, steady %v", r.Open, r.Steady)
	}
	if !strings.Contains(r.Unsteady, "the queue grows") || strings.Contains(r.Unsteady, "measure longer") {
		t.Errorf("unsteady: %s", r.Unsteady)
	}
	if rate := float64(r.Commits+r.Rollbacks) / float64(r.VirtualNS) * 1e9; math.Abs(rate-r.Open.Served) > 0.05*rate {
		t.Errorf("%g/s are served, %g/s ended", r.Open.Served, rate)
	}
	light := mustRun(t, small(experiment.Knobs{"clients.arrival": "open:200k", "warmup_ns": 0, "duration_ns": 0}))
	if light.Open == nil || light.Open.Overloaded || !light.Steady {
		t.Errorf("%+v, %s", light.Open, light.Unsteady)
	}
	if closed := mustRun(t, small(nil)); closed.Open != nil {
		t.Errorf("closed clients: %+v", closed.Open)
	}
}
