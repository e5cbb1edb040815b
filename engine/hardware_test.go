package engine

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/result"
	"drtmx/engine/testbed"
)

// hardwareBeds are systems that come by most numbers of the profiles. Those with NVM have small caches, for they open with warm ones.
var hardwareBeds = []experiment.Spec{
	{Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 2, "workload.scale": 0.001}},
	{Workload: "smallbank", Preset: "fasst", Set: experiment.Knobs{"nodes": 3, "threads": 2, "workload.scale": 0.001, "fault.drop": 0.01}},
	{Workload: "cycle", Preset: "drtm+r", Set: experiment.Knobs{"nodes": 3, "threads": 2, "emulated_nodes": 40, "nic.context": "shared", "ddio": false}},
	{Workload: "micro-read", Set: experiment.Knobs{"nodes": 2, "threads": 4, "workload.payload": 4096, "emulated_nodes": 80}},
	{Workload: "micro-atomic", Set: experiment.Knobs{"nodes": 2, "threads": 4, "workload.keys": 10}},
	{Workload: "micro-rpc", Set: experiment.Knobs{"nodes": 2, "threads": 2, "workload.transport": "write"}},
	{Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 1, "threads": 4, "workload.payload": 1000, "workload.socket": "any", "hardware.node_types.r74v.llc": "1MB"}},
	{Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 1, "threads": 4, "workload.payload": 256, "workload.primitive": "two-sided", "workload.copy": "store", "nvm.persist": true,
		"hardware.node_types.r74v.llc": "1MB"}},
	{Workload: "micro-rpc", Set: experiment.Knobs{"profile": "vale", "nodes": 2, "threads": 2}},
	{Workload: "smallbank", Preset: "fasst", Set: experiment.Knobs{"profile": "aws", "nodes": 3, "threads": 2, "workload.scale": 0.001}},
}

// numbersOf lists the numbers of a spec's profile as knobs.
func numbersOf(t rapid.TB, s experiment.Spec) (names []string) {
	t.Helper()
	v, err := experiment.Resolve(s)
	if err != nil {
		t.Fatal(err)
	}
	testbed.Profile(v).Each(func(name string, n *profile.Number) { names = append(names, testbed.NumberPrefix+name) })
	return names
}

// withHardware opens a spec with numbers changed and advances it by 50 us. An error is one of the
// spec, in a line; everything else that goes wrong is told to the test.
func withHardware(t rapid.TB, s experiment.Spec, k experiment.Knobs) error {
	t.Helper()
	spec, err := s.With(k)
	var sys *System
	if err == nil {
		sys, err = Open(spec)
	}
	var wrong *experiment.SpecError
	switch {
	case err == nil:
	case errors.As(err, &wrong) && wrong.Field != "" && wrong.Next != "" && !strings.Contains(err.Error(), "\n"):
		return err
	default:
		t.Fatalf("%v: %v is not a line of a bad spec", k, err)
	}
	defer sys.Close()
	for range 50 {
		if err := sys.Advance(1000); err != nil {
			t.Fatalf("%s %v: %v", s.Workload, k, err)
		}
	}
	if n := sys.fab.OutOfOrder(); n > 0 {
		t.Fatalf("%s %v: %d calls reached a station out of order", s.Workload, k, n)
	}
	return nil
}

// Whatever is said of the hardware: either it is refused in one line, or there is a system that runs.
func TestAnyHardware(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.SampledFrom(hardwareBeds).Draw(r, "bed")
		k := experiment.Knobs{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(numbersOf(r, s)), 1, 5, rapid.ID).Draw(r, "numbers") {
			k[name] = drawNumber(r, s, name)
		}
		k["check"] = "off"
		withHardware(r, s, k)
	})
}

// drawNumber is a value near the profile's, at an end of what is allowed, or none that is.
func drawNumber(r *rapid.T, s experiment.Spec, name string) any {
	v, err := experiment.Resolve(s)
	if err != nil {
		r.Fatal(err)
	}
	n := testbed.Profile(v).Number(strings.TrimPrefix(name, testbed.NumberPrefix))
	least, most := testbed.Profile(v).Limits(strings.TrimPrefix(name, testbed.NumberPrefix))
	x := n.Value
	switch rapid.IntRange(0, 9).Draw(r, "how") {
	case 0:
		x = least
	case 1:
		x = most
	case 2:
		return rapid.SampledFrom([]any{-1, 0, 0.5, 1e-9, 1e18, math.MaxInt, math.NaN(), math.Inf(1), "many", "", true, nil, []int{1}}).Draw(r, name)
	default:
		x = min(max(x*rapid.Float64Range(0.1, 10).Draw(r, name), least), most)
	}
	if n.Whole() {
		x = math.Round(x)
		if strings.Contains(name, "interleave") || strings.Contains(name, "line") || strings.Contains(name, "block") {
			x = math.Exp2(math.Round(math.Log2(x)))
		}
	}
	return x
}

// H2 gives the threads of each socket all DIMMs that there are, be they fewer or more than the profile's.
func TestThreadsShareTheDIMMs(t *testing.T) {
	for _, dimms := range []int{1, 3, 6, 8} {
		s := open(t, experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 1, "threads": 16, "workload.payload": 1024,
			"workload.primitive": "two-sided", "workload.copy": "ntstore", "nvm.h2": true, "hardware.nvm.dimms": dimms, "check": "off"}})
		if err := s.Advance(100_000); err != nil {
			t.Fatal(err)
		}
		for i, d := range s.dimms() {
			if server := i < 2*dimms; server && d.Write == 0 {
				t.Errorf("%d DIMMs a socket: nothing is written to DIMM %d", dimms, i%dimms+1)
			}
		}
	}
}

// Whatever DIMMs the hardware has, each may have all places, and knob and refusal say how many there are.
func TestAnyDIMMOfTheHardware(t *testing.T) {
	if _, most := testbed.Shipped(experiment.Knobs{"profile": "r74v"}).Limits("nvm.dimms"); most != testbed.MostDIMMs {
		t.Errorf("hardware.nvm.dimms may be %g, workload.dimm %d", most, testbed.MostDIMMs)
	}
	for dimms, one := range map[int]int{1: 1, 6: 6, 12: 7, 64: 64} {
		spec := experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 1, "threads": 4, "ddio": false, "hardware.nvm.dimms": dimms, "workload.dimm": one, "check": "off"}}
		s := open(t, spec)
		advance(t, s, 50_000)
		for i, d := range s.dimms() {
			if there := i < 2*dimms && i%dimms == one-1; there != (d.Write > 0) {
				t.Errorf("%d DIMMs a socket, all places on DIMM %d: %d lines are written to DIMM %d", dimms, one, d.Write, i%dimms+1)
			}
		}
		if k := findKnob(t, s.Knobs(), "workload.dimm"); k.Max != dimms {
			t.Errorf("workload.dimm may be %v of %d", k.Max, dimms)
		}
	}
}

// The beds of NVM that is written to write to it.
func TestHardwareBedsWriteNVM(t *testing.T) {
	for i, spec := range hardwareBeds {
		if spec.Workload != "micro-write" {
			continue
		}
		off, err := spec.With(experiment.Knobs{"check": "off"})
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, off)
		advance(t, s, 50_000)
		if x := s.nvmStats(); x.WriteReq == 0 {
			t.Errorf("bed %d: %+v", i, *x)
		}
	}
}

// Each number alone at the ends of what is allowed is a system that runs, or one that another
// number is in the way of.
func TestEndsOfHardware(t *testing.T) {
	if testing.Short() {
		t.Skip("opens a thousand systems")
	}
	for i, s := range hardwareBeds {
		t.Run(fmt.Sprint(i, " ", s.Workload), func(t *testing.T) {
			t.Parallel()
			v, err := experiment.Resolve(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range numbersOf(t, s) {
				if strings.HasSuffix(name, ".nvm_generation") {
					continue // another knob's
				}
				least, most := testbed.Profile(v).Limits(strings.TrimPrefix(name, testbed.NumberPrefix))
				for _, x := range []float64{least, most} {
					err := withHardware(t, s, experiment.Knobs{name: x, "check": "off"})
					if err != nil && !strings.Contains(err.Error(), " at least ") && !strings.Contains(err.Error(), " at most ") {
						t.Errorf("%s = %v: %v", name, x, err)
					}
				}
			}
		})
	}
}

// A number that is wrong is refused in a line that says what to do, by whatever way it comes.
func TestHardwareErrors(t *testing.T) {
	for _, c := range []struct {
		set experiment.Knobs
		has []string
	}{
		{experiment.Knobs{"hardware.wire.swich": 5}, []string{"hardware.wire.swich", "did you mean hardware.wire.switch?", "drtmx profiles"}},
		{experiment.Knobs{"wire.switch": 5}, []string{"wire.switch", "did you mean hardware.wire.switch?"}},
		{experiment.Knobs{"qp_contexts": 5}, []string{"qp_contexts", "did you mean hardware.nic.qp_contexts?"}},
		{experiment.Knobs{"hardware.qp_contexts": 5}, []string{"hardware.qp_contexts", "did you mean hardware.nic.qp_contexts?"}},
		{experiment.Knobs{"hardware": 5}, []string{"hardware", "hardware.NUMBER"}},
		{experiment.Knobs{"hardware.wire.switch": -5}, []string{"hardware.wire.switch = -5: must be from 0 to 1000000000 ns"}},
		{experiment.Knobs{"hardware.wire.switch": "fast"}, []string{"hardware.wire.switch = fast: must be a number of nanoseconds"}},
		{experiment.Knobs{"hardware.wire.switch": math.NaN()}, []string{"hardware.wire.switch = NaN: must be a number"}},
		{experiment.Knobs{"hardware.wire.bandwidth": 0}, []string{"hardware.wire.bandwidth = 0: must be from 0.001"}},
		{experiment.Knobs{"hardware.nic.qp_contexts": 0}, []string{"hardware.nic.qp_contexts = 0: must be from 1 to 1048576;"}},
		{experiment.Knobs{"hardware.nic.qp_contexts": 2.5}, []string{"hardware.nic.qp_contexts = 2.5: must be a whole number"}},
		{experiment.Knobs{"hardware.pcie.max_payload": 250}, []string{"hardware.pcie.max_payload = 250B: must be a power of two"}},
		{experiment.Knobs{"hardware.cpu.poll_empty": 0}, []string{"hardware.cpu.poll_empty = 0: must be from 1"}},
		{experiment.Knobs{"hardware.nvm.dimms": 3}, []string{"hardware.nvm.dimms = 3: profile val has no NVM"}},
		{experiment.Knobs{"profile": "r74v", "workload": "micro-write", "servers": 1, "clients": 1, "hardware.nvm.dimms": 3, "workload.dimm": 6}, []string{"workload.dimm = 6: the NVM of a socket has 3 DIMMs; use at most 3"}},
		{experiment.Knobs{"profile": "r74v", "workload": "micro-write", "servers": 1, "clients": 1, "workload.dimm": 7}, []string{"workload.dimm = 7: the NVM of a socket has 6 DIMMs; use at most 6"}},
		{experiment.Knobs{"hardware.tcp.poll": 3}, []string{"hardware.tcp.poll = 3: profile val has RDMA and no TCP"}},
		{experiment.Knobs{"hardware.node_types.vale.llc": 3}, []string{"no such number in profile val"}},
		{experiment.Knobs{"profile": "aws", "preset": "fasst", "hardware.nic.qp_contexts": 3}, []string{"the NICs of profile aws have no RDMA"}},
		{experiment.Knobs{"profile": "r74v", "hardware.node_types.r74v.nvm_generation": 2}, []string{"set nvm.generation"}},
		{experiment.Knobs{"profile": "r74v", "hardware.nvm.xline": 8192}, []string{"hardware.nvm.xline = 8KiB: must be from 64 to 4096 bytes"}},
		{experiment.Knobs{"profile": "r74v", "hardware.nvm.xline": 4096, "hardware.nvm.interleave": 1024}, []string{"hardware.nvm.interleave = 1KiB: must be at least nvm.xline, which is 4096"}},
		{experiment.Knobs{"hardware.node_types.val.nics": 4}, []string{"hardware.node_types.val.nics = 4: must be at most node_types.val.sockets, which is 2"}},
		{experiment.Knobs{"hardware.node_types.val.cores_per_socket": 1}, []string{"threads = 4", "2 cores per machine"}},
		{experiment.Knobs{"profile": "r74v", "workload": "micro-read", "servers": 1, "clients": 1, "hardware.node_types.val.cores_per_socket": 1}, []string{"threads = 4", "2 cores per machine"}},
		{experiment.Knobs{"hardware.wire.mtu": 512}, []string{"hardware.wire.mtu = 512B: messages of workload smallbank have up to 1024 bytes"}},
		{experiment.Knobs{"profile": "r74v", "workload": "micro-write", "hardware.cpu.mmio": 1, "hardware.nvm.xbuffer": 1 << 16, "hardware.nvm.dimms": 64, "hardware.nvm.translation_pages": 1 << 20, "nodes": 64}, []string{"hardware.nvm.dimms = 64: ", "of memory"}},
	} {
		s, err := experiment.Spec{}.With(c.set)
		if err == nil {
			var v experiment.Knobs
			if v, err = experiment.Resolve(s); err == nil {
				err = experiment.RefuseTooBig(v)
			}
		}
		if !experiment.IsSpecError(err) || experiment.NeedsReset(err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", c.set, err)
			continue
		}
		for _, has := range c.has {
			if !strings.Contains(err.Error(), has) {
				t.Errorf("%v: %q has no %q", c.set, err, has)
			}
		}
	}
}

// A number that is set to what the profile says is none: the same values, the same run.
func TestPlainHardware(t *testing.T) {
	plain := experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"nodes": 2, "threads": 1, "check": "off"}}
	said, err := plain.With(experiment.Knobs{"hardware.nic.qp_contexts": 480, "hardware.wire.bandwidth": "100Gbps"})
	if err != nil {
		t.Fatal(err)
	}
	a, errA := experiment.Resolve(plain)
	b, errB := experiment.Resolve(said)
	if !reflect.DeepEqual(a, b) || errA != nil || errB != nil {
		t.Errorf("values %v and %v (%v, %v)", a, b, errA, errB)
	}
	s := open(t, said)
	advance(t, s, 20_000)
	if r := s.Result(); r.Profile != "val@1" {
		t.Errorf("profile is %s", r.Profile)
	}
	for name := range s.Values() {
		if experiment.IsHardware(name) {
			t.Errorf("%s is among the values", name)
		}
	}
}

// lonely is a machine that reads from another, one READ after the other.
func lonely(t *testing.T, k experiment.Knobs) *result.Result {
	t.Helper()
	spec, err := experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"servers": 1, "clients": 1, "threads": 1, "coroutines": 1, "workload.keys": 8, "check": "off"}}.With(k)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, spec)
	advance(t, s, 50_000)
	return measured(t, s, 200_000)
}

// A READ passes the switch twice: 400 ns more in it are 800 ns more for the READ, a hundred polls of the core.
func TestSlowerSwitch(t *testing.T) {
	base, slow := lonely(t, nil), lonely(t, experiment.Knobs{"hardware.wire.switch": 490})
	if more := slow.LatencyUS.Mean - base.LatencyUS.Mean; math.Abs(more-0.8) > 0.0001 {
		t.Errorf("a READ takes %.4f µs instead of %.4f", slow.LatencyUS.Mean, base.LatencyUS.Mean)
	}
	if slow.Profile != "val@1+hardware.wire.switch=490" || base.Profile != "val@1" {
		t.Errorf("profiles %s and %s", base.Profile, slow.Profile)
	}
	c := result.Compare(base, slow)
	if len(c.Spec) != 1 || c.Spec[0] != (result.SpecDiff{Knob: "hardware.wire.switch", A: 90.0, B: 490.0}) {
		t.Errorf("what differs: %v", c.Spec)
	}
	if again := lonely(t, experiment.Knobs{"hardware.wire.switch": "490ns"}); again.Digest != slow.Digest {
		t.Error("the same hardware, another digest")
	}
}

// With room for all contexts the emulated cluster costs nothing (section 2.2.4).
func TestMoreContexts(t *testing.T) {
	spec := experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"nodes": 4, "threads": 24, "emulated_nodes": 80, "check": "off"}}
	last := 0.0
	for _, n := range []int{120, 480, 4000} {
		s, err := spec.With(experiment.Knobs{"hardware.nic.qp_contexts": n})
		if err != nil {
			t.Fatal(err)
		}
		sys := open(t, s)
		advance(t, sys, 100_000)
		now := measured(t, sys, 100_000).Throughput
		if now < 1.05*last {
			t.Errorf("%d contexts: %.3g/s, fewer gave %.3g", n, now, last)
		}
		last = now
	}
}

// While a system runs its hardware stays: the change needs a reset, and is looked at before.
func TestHardwareIsFixed(t *testing.T) {
	s := open(t, experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"nodes": 2, "threads": 1, "hardware.wire.switch": 500}})
	if _, err := s.Set(experiment.Knobs{"hardware.wire.switch": 400}, "test"); !experiment.NeedsReset(err) || !strings.Contains(err.Error(), "hardware.wire.switch = 400") {
		t.Errorf("a change: %v", err)
	}
	if _, err := s.Set(experiment.Knobs{"hardware.nvm.dimms": 4}, "test"); err == nil || experiment.NeedsReset(err) {
		t.Errorf("a number that there is not: %v", err)
	}
	before := s.KnobsVersion()
	if _, err := s.Set(experiment.Knobs{"hardware.wire.switch": "500ns", "hardware.nic.qp_contexts": 480}, "test"); err != nil || s.KnobsVersion() != before {
		t.Errorf("what is there already: %v", err)
	}
	if got := s.Spec().Set["hardware.wire.switch"]; got != 500.0 {
		t.Errorf("the spec says %v", got)
	}
}

// The registry lists a number only where it is set, or asked for.
func TestDescribeHardware(t *testing.T) {
	plain, err := experiment.Describe(experiment.Spec{})
	if err != nil || len(plain) != len(experiment.Registry()) {
		t.Fatalf("%d knobs of %d (%v)", len(plain), len(experiment.Registry()), err)
	}
	list, err := experiment.Describe(experiment.Spec{Set: experiment.Knobs{"hardware.wire.switch": 500}}, "hardware.nic.qp_contexts", "hardware.wire.switch")
	if err != nil || len(list) != len(plain)+2 {
		t.Fatalf("%d knobs, %d without (%v)", len(list), len(plain), err)
	}
	for name, want := range map[string][]any{
		"hardware.wire.switch":     {500.0, 90.0, 0.0, 1e9, "ns", "Port to port. Source: SB7890 product brief (datasheet)."},
		"hardware.nic.qp_contexts": {480, 480, 1, 1 << 20, "count", "Queue-pair contexts kept in the RNIC. Source: f2-4b-qps-per-nic: 192 fit, 960 do not (fitted)."},
	} {
		s := findKnob(t, list, name)
		if got := []any{s.Value, s.Default, s.Min, s.Max, s.Unit, s.Doc}; !reflect.DeepEqual(got, want) || s.Live || !s.Active {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A number that nothing looks at says so.
func TestIdleHardware(t *testing.T) {
	spec := experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "nodes": 2, "threads": 2}}
	idle := experiment.Idle(spec, []string{"hardware.nic.recv_depth", "hardware.node_types.val.llc", "hardware.node_types.r74v.llc", "hardware.nic.tx_write"})
	if len(idle) != 2 || !strings.Contains(idle[0].String(), "hardware.nic.recv_depth has no effect here") || !strings.Contains(idle[1].String(), "no machine of this cluster is of type val") {
		t.Errorf("%q", idle)
	}
}

// So do those of memory, with RDMA or without; what a store to the LLC takes matters for NVM only.
func TestIdleMemoryNumbers(t *testing.T) {
	names := []string{"hardware.memory.llc_store", "hardware.memory.dram_store", "hardware.memory.dram_random", "hardware.memory.dram", "hardware.memory.llc_hit"}
	for profile, want := range map[string]int{"val": 3, "vale": 3, "r74v": 2} {
		idle := experiment.Idle(experiment.Spec{Workload: "micro-rpc", Set: experiment.Knobs{"profile": profile, "nodes": 2, "threads": 2}}, names)
		if len(idle) != want || !strings.HasPrefix(idle[0].String(), "hardware.memory.dram_random has no effect here") || !strings.Contains(idle[1].String(), "dram_store has no effect here: R2 charges a store to DRAM as a load") {
			t.Errorf("%s: %q", profile, idle)
		}
	}
}

// A run is the same whatever the numbers that nothing looks at are.
func TestIdleMemoryNumbersDoNothing(t *testing.T) {
	digest := func(set experiment.Knobs) string {
		all := experiment.Knobs{"nodes": 3, "threads": 2, "warmup_ns": 20_000, "duration_ns": 50_000, "check": "off"}
		maps.Copy(all, set)
		r, err := Run(t.Context(), experiment.Spec{Set: all}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Digest
	}
	plain := digest(nil)
	if got := digest(experiment.Knobs{"hardware.memory.llc_store": 1000, "hardware.memory.dram_store": 1000, "hardware.memory.dram_random": 1000}); got != plain {
		t.Errorf("digest %s, without the numbers %s", got, plain)
	}
	if digest(experiment.Knobs{"hardware.memory.llc_hit": 1000}) == plain {
		t.Error("a number that matters does nothing either")
	}
}

// Larger caches of the hardware take memory of the host.
func TestHardwareEstimate(t *testing.T) {
	small, err := experiment.EstimateOf(experiment.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	large, err := experiment.EstimateOf(experiment.Spec{Set: experiment.Knobs{"hardware.nic.conflict_slots": 1 << 20}})
	if more := large.MemoryBytes - small.MemoryBytes; err != nil || more < 8<<20 || more > 1<<30 {
		t.Errorf("%d bytes more (%v)", more, err)
	}
	if same, err := experiment.EstimateOf(experiment.Spec{Set: experiment.Knobs{"hardware.wire.switch": 500}}); err != nil || same != small {
		t.Errorf("%v, without %v (%v)", same, small, err)
	}
}

func findKnob(t *testing.T, list []experiment.KnobState, name string) experiment.KnobState {
	t.Helper()
	for _, s := range list {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no knob %s", name)
	return experiment.KnobState{}
}
