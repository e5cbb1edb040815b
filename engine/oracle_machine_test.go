package engine

import (
	"errors"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/membership"
	"drtmx/engine/testbed"
)

// The oracle's machine is the last one, with threads of its own, and none of a workload's clients or records:
// the others do what they do without it. It idles where no scheme asks it.
func TestOracleMachine(t *testing.T) {
	split := experiment.Knobs{"nodes": 0, "servers": 2, "clients": 2, "client.threads": 3}
	specs := map[string]experiment.Knobs{
		"smallbank":   {},
		"tpcc":        {"workload": "tpcc", "workload.customers": 300, "workload.items": 2_000},
		"tpcc-no":     {"workload": "tpcc-no", "workload.customers": 300, "workload.items": 2_000},
		"tpce":        {"workload": "tpce", "workload.customers": 40, "workload.securities": 40},
		"ycsb":        {"workload": "ycsb", "workload.keys": 1000},
		"ycsb-d":      {"workload": "ycsb-d", "workload.keys": 1000},
		"cycle":       {"workload": "cycle"},
		"registers":   {"workload": "registers", "workload.keys": 200},
		"churn":       {"workload": "churn"},
		"micro-rpc":   {"workload": "micro-rpc", "workload.keys": 1000},
		"micro-write": {"workload": "micro-write", "workload.keys": 1000},
	}
	for name, k := range specs {
		for _, asymmetric := range []bool{false, true} {
			spec := small(experiment.Knobs{"oracle": true, "oracle.threads": 1, "replicas": 2})
			var err error
			if spec, err = spec.With(k); err != nil {
				t.Fatal(err)
			}
			if asymmetric {
				delete(spec.Set, "nodes")
				for n, x := range split {
					if n != "nodes" {
						spec.Set[n] = x
					}
				}
				name += ", asymmetric"
			}
			t.Run(name, func(t *testing.T) {
				r := mustRun(t, spec)
				last := len(r.Nodes) - 1
				all, servers := testbed.Machines(r.Spec)
				if machine, ok := testbed.Members(r.Spec).First(membership.Oracle); !ok || machine != last || all != last+1 || servers > last {
					t.Fatalf("machine %d of %d is the oracle's, %d hold data", machine, all, servers)
				}
				if r.Commits == 0 || !r.Checks.Passed() {
					t.Errorf("%d commits: %s", r.Commits, r.ChecksText())
				}
				for m, n := range r.Nodes {
					oracle := n.Role == "oracle"
					if oracle != (m == last) {
						t.Errorf("machine %d is a %s", m, n.Role)
					}
					if cpu := n.Utilization["cpu"]; n.Role != "server" && oracle != (cpu < 0.001) { // a server's CPUs idle too under one-sided reads
						t.Errorf("the CPUs of machine %d, a %s, are %.3f busy", m, n.Role, cpu)
					}
				}
				threads, clients, data := testbed.ThreadCounts(r.Spec)
				if want := [3]int{7, 6, 6}; !asymmetric && [3]int{threads, clients, data} != want {
					t.Errorf("%d threads, %d of clients, %d with data", threads, clients, data)
				}
				if want := [3]int{11, 6, 4}; asymmetric && [3]int{threads, clients, data} != want {
					t.Errorf("%d threads, %d of clients, %d with data", threads, clients, data)
				}
			})
		}
	}
}

// Written clients are dealt to the machines that run clients, not to the oracle's.
func TestOracleMachineRunsNoScript(t *testing.T) {
	for _, k := range []experiment.Knobs{
		{"workload": "script", "workload.script": "w0; w1; w2; w3"},
		{"workload": "kvscript", "workload.requests": "10 20 30 40: g10; g20; g30; g40"},
	} {
		for _, machines := range []experiment.Knobs{{"nodes": 2}, {"servers": 1, "clients": 2}} {
			spec := experiment.Spec{Set: experiment.Knobs{"oracle": true, "threads": 2, "coroutines": 2, "replicas": 1}}
			for _, more := range []experiment.Knobs{k, machines} {
				var err error
				if spec, err = spec.With(more); err != nil {
					t.Fatal(err)
				}
			}
			s := open(t, spec)
			advance(t, s, 1_000_000)
			if n := s.meter.Total().Commits; n != 4 {
				t.Errorf("%v on %v: %d of 4 commits", k, machines, n)
			}
		}
	}
}

// The oracle's threads are bounded by its cores, and it counts among the machines.
func TestOracleMachineRules(t *testing.T) {
	for _, x := range []struct {
		set   experiment.Knobs
		field string
	}{
		{experiment.Knobs{"oracle": true, "oracle.threads": 25}, "oracle.threads"},
		{experiment.Knobs{"oracle": true, "nodes": 64}, "servers"},
		{experiment.Knobs{"oracle": true, "nodes": 4, "emulated_nodes": 4}, "emulated_nodes"},
		{experiment.Knobs{"oracle": true, "nodes": 4, "replicas": 5}, "replicas"},
	} {
		_, err := experiment.Resolve(experiment.Spec{Set: x.set})
		var spec *experiment.SpecError
		if !errors.As(err, &spec) || spec.Field != x.field {
			t.Errorf("%v: %v", x.set, err)
		}
	}
}
