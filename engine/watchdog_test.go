package engine

import (
	"context"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload/smallbank"
)

// A cluster that repeats what the network loses, and so is slow, is not stuck: one request took more
// than 20 ms here.
func TestSlowIsNotStuck(t *testing.T) {
	spec := experiment.Spec{Preset: "fasst", Workload: "tpce", Set: experiment.Knobs{"threads": 1, "replicas": 1, "duration_ns": "100us",
		"workload.customers": 10, "workload.securities": 100, "workload.trades": 1, "fault.drop": 0.2}}
	r, err := Run(context.Background(), spec, nil)
	if err != nil {
		t.Error(err)
	} else if !r.Checks.Passed() {
		t.Errorf("%+v", r.Checks)
	}
	s := open(t, spec) // and so where it does not drain
	if err := s.Advance(1_300_000); err != nil {
		t.Fatal(err)
	}
	s.cl.ShutGate()
	if err := s.Advance(75_000_000); err != nil {
		t.Errorf("while it runs: %v", err)
	}
}

// Requests of many parts that meet at one thread are slow too: none ends for more than 20 ms.
func TestManyPartsAreNotStuck(t *testing.T) {
	spec := experiment.Spec{Preset: "fasst", Workload: "smallbank", Set: experiment.Knobs{"servers": 1, "server.threads": 1, "clients": 4, "client.threads": 2, "coroutines": 8, "replicas": 1,
		"workload.accounts": 2000, "check": "sampled", "hardware.cpu.dispatch": 500,
		"workload.mix.amalgamate": 0, "workload.mix.send-payment": 0, "workload.mix.deposit-checking": 0, "workload.mix.transact-savings": 0, "workload.mix.write-check": 0, "workload.mix.balance": 1}}
	s := open(t, spec)
	if err := s.AddTransaction("audit", 1000, func(tx *txn.Tx) error {
		for range 900 {
			if _, err := tx.GetInt(smallbank.Checking, tx.Rand().Uint64n(2000)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	last, longest := s.meter.Total(), int64(0)
	for since := int64(0); s.NowNS() < 100_000_000; {
		advance(t, s, 400_000)
		if s.meter.Total() != last {
			last, since = s.meter.Total(), s.NowNS()
		}
		longest = max(longest, s.NowNS()-since)
	}
	if longest < stallAfter/sim.Nanosecond {
		t.Errorf("something ended every %d ns: not what is to be tested", longest)
	}
	if err := s.Drain(); err != nil {
		t.Error(err)
	}
	if last.Commits == 0 {
		t.Error("nothing was committed")
	}
}

// With faults too, a coroutine that never comes back is noticed, and by then nothing moves.
func TestStuckUnderFaults(t *testing.T) {
	for _, fault := range []experiment.Knobs{{"fault.drop": 0.2}, {"fault.nic_slowdown": 100}} {
		s := open(t, small(fault))
		advance(t, s, 20_000)
		s.cl.ShutGate() // as a lost wake-up would
		err := s.Advance(60_000_000)
		if err == nil || !strings.Contains(err.Error(), "no request finished between") || !strings.Contains(err.Error(), "held at the gate") || !strings.Contains(err.Error(), "reset the system") {
			t.Errorf("%v: got %v", fault, err)
		}
	}
}

// Messages that go on for ever and finish nothing are a livelock, with faults at a number of them and
// without at a time.
func TestLivelock(t *testing.T) {
	for drop, most := range map[float64]int64{0: 40_000_000, 0.01: 2_000_000_000} {
		s := open(t, small(experiment.Knobs{"fault.drop": drop, "coroutines": 1, "threads": 1, "check": "off"}))
		rpc := s.cl.Handle("test.endless", func(*r2.Co, r2.Peer, []byte, []byte) int { return 8 })
		s.cl.ShutGate()
		s.cl.Spawn(0, 0, func(c *r2.Co) {
			for {
				c.Reset()
				c.Call(1, rpc, nil)
				if err := c.Wait(); err != nil {
					t.Error(err)
					return
				}
			}
		})
		before := s.fab.Counts().Completions
		err := s.Advance(most)
		if err == nil || !strings.Contains(err.Error(), "no request finished between") {
			t.Errorf("drop %g: got %v", drop, err)
		}
		t.Logf("drop %g: after %d ns and %d messages", drop, s.NowNS(), s.fab.Counts().Completions-before)
	}
}

// livelock is a system whose transactions share locks and keep each other from upgrading them.
func livelock(t *testing.T) *System {
	return open(t, experiment.Spec{Workload: "cycle", Set: experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 48, "workload.keys": 8, "cc": "nowait", "nowait.mode": "E/S", "check": "full"}})
}

// Transactions that abort each other for ever are said to, with what helps.
func TestLivelockOfTransactions(t *testing.T) {
	if err := livelock(t).Advance(200_000_000); err == nil || !strings.Contains(err.Error(), "abort each other again and again") || !strings.Contains(err.Error(), "raise txn.backoff_max_ns") {
		t.Error(err)
	}
}

// A drain ends though they would go on for ever: no others come, and the back-off grows.
func TestDrainEndsALivelock(t *testing.T) {
	s := livelock(t)
	advance(t, s, 1_000_000)
	if n := len(s.load.db.Pending()); n != 3*48 {
		t.Errorf("%d transactions are under way: not what is to be tested", n)
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	if r := s.Result(); !r.Checks.Passed() || r.Drain.Left != "" {
		t.Errorf("%s", r.ChecksText())
	}
}
