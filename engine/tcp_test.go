package engine

import (
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// What runs two-sided runs without RDMA, and the checkers hold: with torn reads and
// lost segments too.
func TestTCPRunsChecked(t *testing.T) {
	long := experiment.Knobs{"warmup_ns": "500us", "duration_ns": "2ms", "window_ns": "200us"}
	for name, k := range map[string]experiment.Knobs{
		"smallbank":   {"profile": "vale", "preset": "fasst"},
		"automatic":   {"profile": "vale", "phase.execution": "auto", "phase.ro_read": "auto", "phase.validation": "auto", "phase.logging": "auto", "phase.ro_validation": "auto"},
		"aws":         {"profile": "aws", "preset": "fasst"},
		"cycle":       {"profile": "vale", "preset": "fasst", "workload": "cycle", "workload.value_bytes": 96, "duration_ns": "20ms"},
		"cycle, loss": {"profile": "vale", "preset": "fasst", "workload": "cycle", "fault.drop": 0.005, "duration_ns": "40ms"},
		"read":        {"profile": "vale", "workload": "micro-read", "workload.primitive": "two-sided"},
		"write":       {"profile": "aws", "workload": "micro-write", "workload.primitive": "two-sided", "opt.micro.pa": true},
		"rpc":         {"profile": "vale", "workload": "micro-rpc", "workload.payload": 4000},
		"rococo":      {"profile": "vale", "cc": "rococo", "workload": "registers", "workload.keys": 60, "fault.drop": 0.005, "duration_ns": "20ms"},
		"rococo, aws": {"profile": "aws", "cc": "rococo", "workload": "tpcc", "workload.scale": 0.01, "duration_ns": "10ms"},
		"rococo, dst": {"profile": "vale", "cc": "rococo", "ts.scheme": "dst", "workload": "tpcc", "workload.scale": 0.01, "workload.mix.stock-level": 40, "duration_ns": "10ms"},
		"asymmetric":  {"profile": "vale", "preset": "fasst", "replicas": 1, "servers": 1, "clients": 3},
	} {
		t.Run(name, func(t *testing.T) {
			spec, err := small(long).With(k)
			if err != nil {
				t.Fatal(err)
			}
			r := mustRun(t, spec)
			if !r.Checks.Passed() || r.Commits == 0 {
				t.Errorf("%d commits, checks %+v", r.Commits, r.Checks)
			}
			if r.Verbs["read"]+r.Verbs["write"]+r.Verbs["cas"]+r.Verbs["faa"] != 0 {
				t.Errorf("one-sided verbs without RDMA: %v", r.Verbs)
			}
		})
	}
}

// What needs RDMA is refused, or inactive, and says what to do instead.
func TestTCPRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		k    experiment.Knobs
		want string
	}{
		"the default preset": {experiment.Knobs{}, "set preset=fasst, or phase.execution=two-sided or auto"},
		"one phase":          {experiment.Knobs{"preset": "fasst", "phase.logging": "one-sided"}, "phase.logging = one-sided: the NICs of profile vale have no RDMA"},
		"micro":              {experiment.Knobs{"workload": "micro-write"}, "set workload.primitive=two-sided"},
		"atomics":            {experiment.Knobs{"workload": "micro-atomic"}, "use a workload with a two-sided form"},
		"rpc by write":       {experiment.Knobs{"workload": "micro-rpc", "workload.transport": "hybrid"}, "set workload.transport=ud"},
	} {
		spec, err := small(experiment.Knobs{"profile": "vale"}).With(c.k)
		if err == nil {
			_, err = experiment.Resolve(spec)
		}
		if err == nil || !experiment.IsSpecError(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
	s := open(t, small(experiment.Knobs{"profile": "vale", "preset": "fasst"}))
	if _, err := s.Set(experiment.Knobs{"phase.commit": "one-sided", "phase.lock": "one-sided"}, "test"); err == nil {
		t.Error("a running system without RDMA took a one-sided phase")
	}
	inactive := map[string]bool{}
	for _, k := range s.Knobs() {
		if strings.Contains(k.InactiveBecause, "no RDMA") {
			inactive[k.Name] = true
		}
	}
	for _, name := range []string{"emulated_nodes", "nic.context", "opt.commit.db", "opt.lock.db"} {
		if !inactive[name] {
			t.Errorf("%s has no effect without RDMA and does not say so", name)
		}
	}
}
