package batch

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/result"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// Every duration and every bandwidth of every profile is in a group, and so is every cost in code:
// else MeasureCauses would be blind to it.
func TestCauseGroupsAreComplete(t *testing.T) {
	for _, name := range testbed.ProfileNames() {
		p := testbed.Shipped(experiment.Knobs{"profile": name})
		in := map[string]bool{}
		v := experiment.Knobs{"cc": "occ", "profile": name, "workload": "smallbank", "nodes": 2, "servers": 0, "clients": 0, "nvm.generation": "first", "nvm.enabled": true, "oracle": false}
		parts, err := causeParts(p, v, "")
		if err != nil {
			t.Fatal(err)
		}
		if parts[0].group != everything {
			t.Fatalf("%s: the first part is %v", name, parts[0])
		}
		for _, x := range parts[1:] {
			for _, m := range x.members {
				if !x.overlaps && in[m.name] {
					t.Errorf("%s: %s is in two groups", name, m.name)
				}
				in[m.name] = true
				if m.what == "" || strings.HasSuffix(m.what, ": ") {
					t.Errorf("%s: %s says nothing of itself", name, m.name)
				}
			}
		}
		for _, m := range parts[0].members {
			if !in[m.name] {
				t.Errorf("%s: %s is in no group", name, m.name)
			}
		}
		p.Each(func(number string, n *profile.Number) {
			timed := n.Unit == "ns" || n.Unit == "GB/s"
			unused := n.Value == 0 || testbed.Unread(number) != "" || strings.HasPrefix(number, "nvm.") && !testbed.HasNVM(v) ||
				strings.HasPrefix(number, "node_types.") && !strings.HasPrefix(number, "node_types."+testbed.NodeTypes(p, v)[0]+".")
			if timed && !unused && !in[number] {
				t.Errorf("%s: %s, in %s, is in no group", name, number, n.Unit)
			}
			if !timed && in[number] {
				t.Errorf("%s: %s is a count or a size", name, number)
			}
		})
		names := []string{txn.CostHeld, experiment.CostReceipts}
		for _, cost := range occ.ScaledCosts() {
			names = append(names, cost.Name)
		}
		for _, cost := range names {
			if !in[cost] {
				t.Errorf("%s: %s is in no group", name, cost)
			}
		}
	}
}

// roomy is small with so many accounts that transactions hardly meet.
func roomy(k experiment.Knobs) experiment.Spec {
	k["workload.accounts"] = 20_000
	return smallSpec(k)
}

// everythingFaster runs a spec as it is for a time, and with everything a tenth faster for a tenth
// less, and returns the ratio of the throughputs and of the medians.
func everythingFaster(t *testing.T, spec experiment.Spec, ns int) (throughput, p50 float64) {
	t.Helper()
	run := func(factor float64) *result.Result {
		s, err := spec.With(experiment.Knobs{"check": "off", "warmup_ns": int(factor * float64(ns) / 4), "duration_ns": int(factor * float64(ns))})
		if err != nil {
			t.Fatal(err)
		}
		if factor != 1 {
			v, err := experiment.Resolve(s)
			if err != nil {
				t.Fatal(err)
			}
			parts, err := causeParts(s.Profile(v), v, "")
			if err != nil {
				t.Fatal(err)
			}
			s.Scaling = parts[0].scaling()
		}
		return runOf(t, s)
	}
	a, b := run(1), run(faster)
	return b.Throughput / a.Throughput, b.LatencyUS.P50 / a.LatencyUS.P50
}

// A tenth less of every time is only another unit of time. What of it the groups do not have
// would show here.
func TestEverythingFasterIsAnotherUnitOfTime(t *testing.T) {
	cases := map[string]experiment.Spec{
		"smallbank": roomy(experiment.Knobs{"coroutines": 8}),
		"one":       roomy(experiment.Knobs{"coroutines": 1}),
		"two-sided": roomy(experiment.Knobs{"preset": "fasst", "coroutines": 8}),
		"cycle":     {Workload: "cycle", Set: experiment.Knobs{"nodes": 3, "threads": 2, "workload.keys": 2000}},
		"reads":     {Workload: "micro-read", Set: experiment.Knobs{"nodes": 3, "threads": 12}},
		"nvm":       {Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 3, "workload.keys": 10_000}},
		"tcp":       roomy(experiment.Knobs{"preset": "fasst", "profile": "vale", "coroutines": 4}),
		"losses":    roomy(experiment.Knobs{"preset": "fasst", "fault.drop": 0.001}),
	}
	for name, spec := range cases {
		t.Run(name, func(t *testing.T) {
			throughput, p50 := everythingFaster(t, spec, 4_000_000)
			if x := throughput * faster; math.Abs(x-1) > 0.03 {
				t.Errorf("throughput rises %.4f-fold, should by 1/0.9", throughput)
			}
			if x := p50 / faster; math.Abs(x-1) > 0.03 {
				t.Errorf("p50 falls to %.4f, should to 0.9", p50)
			}
		})
	}
}

// A scaling of nothing leaves the run as it is, byte for byte.
func TestScalingOfNothing(t *testing.T) {
	spec := smallSpec(experiment.Knobs{"check": "off"})
	plain := runOf(t, spec)
	spec.Scaling = &experiment.Scaling{Factor: faster}
	if r := runOf(t, spec); r.Digest != plain.Digest {
		t.Errorf("digest %s, without it %s", r.Digest, plain.Digest)
	}
}

func causesOf(t *testing.T, spec experiment.Spec, o CausesOptions) (*Causes, map[string]Elasticity) {
	t.Helper()
	c, err := MeasureCauses(context.Background(), spec, o)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]Elasticity{}
	for _, e := range c.Causes {
		by[e.Name] = e
	}
	return c, by
}

// With one coroutine latency is what limits, and what messages cross takes most of it.
func TestCausesOfOneCoroutine(t *testing.T) {
	c, by := causesOf(t, roomy(experiment.Knobs{"coroutines": 1, "warmup_ns": "100us", "duration_ns": "2ms"}), CausesOptions{Seeds: 2})
	way := by[groupPCIe].Throughput + by[groupNIC].Throughput + by[groupWire].Throughput
	if c.Word != result.LatencyBound || way < 0.4 || by[groupPCIe].Throughput < by[groupTransaction].Throughput {
		t.Errorf("%s\nPCIe, NIC and wire are worth %.2f", c, way)
	}
	if e := by[groupWire]; e.CI95 == nil || e.Throughput < 0.03 || e.Throughput > 0.2 {
		t.Errorf("the wire: %+v", e)
	}
	// Logging and validation, a third of the latency, pass while locks are held.
	if e := by[groupLocks]; !e.Overlaps || e.Throughput < 0.15 || e.Throughput > 0.5 {
		t.Errorf("time while locks are held: %+v", e)
	}
	checkSum(t, c)
}

// With many the cores are full, and what they do is all that counts.
func TestCausesOfFullCores(t *testing.T) {
	c, by := causesOf(t, roomy(experiment.Knobs{"coroutines": 16, "warmup_ns": "200us", "duration_ns": "1ms"}), CausesOptions{Seeds: 2})
	cores := by[groupTransaction].Throughput + by[groupMessaging].Throughput + by[groupMemory].Throughput
	if way := by[groupPCIe].Throughput + by[groupNIC].Throughput + by[groupWire].Throughput; c.Word != result.Saturated || cores < 0.85 || math.Abs(way) > 0.1 {
		t.Errorf("%s\nwhat cores do is worth %.2f, PCIe, NIC and wire %.2f", c, cores, way)
	}
	// Others run while one holds its locks for longer, and hardly any wants them.
	if e := by[groupLocks]; math.Abs(e.Throughput) > 0.12 {
		t.Errorf("time while locks are held: %+v", e)
	}
	if c.Causes[0].Group != groupTransaction {
		t.Errorf("first is %s", c.Causes[0].What)
	}
	checkSum(t, c)
}

func checkSum(t *testing.T, c *Causes) {
	t.Helper()
	if e := c.Everything; e == nil || math.Abs(e.Throughput-1) > 0.08 || e.P50 == nil || math.Abs(*e.P50-1) > 0.08 {
		t.Errorf("everything at once: %+v", e)
	}
	if e := c.Sum; e == nil || math.Abs(e.Throughput-1) > 0.25 {
		t.Errorf("the sum: %+v", e)
	}
}

// The members of a group, here of the RNIC's: READs from all cores wait for its send pipeline.
func TestCausesOfAGroup(t *testing.T) {
	spec := experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"nodes": 2, "threads": 12, "coroutines": 12, "nics": 1, "warmup_ns": "20us", "duration_ns": "60us"}}
	c, by := causesOf(t, spec, CausesOptions{Group: groupNIC, Seeds: 2})
	tx := by["nic.tx_read"].Throughput + by["nic.tx_read_response"].Throughput + by["nic.tx_gather"].Throughput
	if tx < 0.8 || c.Word != result.Saturated || c.Of != "nic_tx" {
		t.Errorf("%s\nthe send pipeline is worth %.2f", c, tx)
	}
	if e := by["nic.atomic_unit"]; e.Throughput != 0 || e.CI95 == nil || *e.CI95 != 0 || e.P99 != nil {
		t.Errorf("no atomics are sent, their unit is worth %+v", e)
	}
	if whole := by[groupNIC].Throughput; math.Abs(whole-tx) > 0.2 || c.Everything != nil || c.Sum != nil {
		t.Errorf("the whole group is worth %.2f", whole)
	}
	_, err := MeasureCauses(context.Background(), spec, CausesOptions{Group: "nik"})
	if !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "nic") {
		t.Errorf("group nik: %v", err)
	}
}

// Interrupted, it returns what there is.
func TestCausesInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spec := smallSpec(experiment.Knobs{"warmup_ns": "50us", "duration_ns": "200us"})
	c, err := MeasureCauses(ctx, spec, CausesOptions{Seeds: 50, Parallel: 1, Progress: func(done, total int) {
		if done > total/5 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || c == nil || !c.Partial || len(c.Causes) < 5 || c.Seeds >= 50 {
		t.Fatalf("%v, %+v", err, c)
	}
	if !strings.Contains(c.String(), "Interrupted") {
		t.Error(c)
	}
	_, err = MeasureCauses(ctx, spec, CausesOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("in a context that has ended: %v", err)
	}
}
