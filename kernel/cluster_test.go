package kernel_test

import (
	"strings"
	"testing"
)

const clusterImport = "import (\"fmt\"; \"time\"; \"drtmx/cluster\"; \"drtmx/engine/txn\")\n"

// A cluster that starts quickly.
const smallCluster = clusterImport + `c := cluster.Up(cluster.Spec{Set: cluster.Knobs{"nodes": 3, "threads": 2, "workload.accounts": 2000}})`

func TestInterruptRun(t *testing.T) {
	out := drive(t,
		step{Code: smallCluster},
		step{Code: "c.Run(100 * time.Second)", InterruptAfter: 1},
		step{Code: "c.Run(100 * time.Microsecond).Throughput > 0"})
	if o := out[1]; o.Status != "error" || o.Evalue != "interrupted" || o.AfterInterrupt > 1 {
		t.Errorf("long run: %s %q %.2f s after the interrupt", o.Status, o.Evalue, o.AfterInterrupt)
	}
	if o := out[2]; o.text() != "true" {
		t.Errorf("the cluster after an interrupt: %s %q %q", o.Status, o.Evalue, o.text())
	}
}

func TestMistakesFailTheirCell(t *testing.T) {
	cells := []string{
		`c.Set("phase.validaton", "two-sided")`,
		`c.Set("coroutines", "many")`,
		`c.Set("nodes", 5)`,
		`cluster.Up(cluster.Spec{Workload: "smalbank"})`,
		`cluster.Up(cluster.Spec{Set: cluster.Knobs{"nodes": 0}})`,
		`c.Run(-time.Second)`,
		`cluster.Sweep(c.Spec(), cluster.Axis{"coroutines", []int{}})`,
		`c.Client().Set("nope", 1)`,
	}
	steps := []step{{Code: smallCluster}}
	for _, code := range cells {
		steps = append(steps, step{Code: code})
	}
	for i, o := range drive(t, steps...)[1:] {
		if o.Status != "error" || o.Evalue == "" || strings.Contains(o.Evalue, "\n") || strings.Contains(o.Evalue, "reflect") {
			t.Errorf("%s: %s %q", cells[i], o.Status, o.Evalue)
		}
		t.Logf("%s: %s", cells[i], o.Evalue)
	}
}

func TestValuesDrawThemselves(t *testing.T) {
	out := drive(t,
		step{Code: smallCluster + "\nc"},
		step{Code: "base := c.Run(time.Millisecond)\nbase"},
		step{Code: "base.Why()"},
		step{Code: "c.Set(\"phase.validation\", \"two-sided\"); cluster.Compare(base, c.Run(time.Millisecond))"},
		step{Code: "base.Checks()"},
		step{Code: "s := cluster.Sweep(c.Spec(), cluster.Axis{\"coroutines\", []int{1, 2}})\ns"},
		step{Code: "s.Chart(\"throughput\", \"latency_us.p50\")"},
		step{Code: "c.Spec()"})
	for i, o := range out {
		found := false
		for _, m := range o.Messages {
			if m.Type == "execute_result" {
				found = m.Content.Data["text/html"] != "" && m.Content.Data["text/plain"] != ""
				if found {
					t.Logf("cell %d: %d bytes of HTML; %s", i, len(m.Content.Data["text/html"]), m.Content.Data["text/plain"])
				}
			}
		}
		if o.Status != "ok" || !found {
			t.Errorf("cell %d: %s %q, a value with both forms: %v", i, o.Status, o.Evalue, found)
		}
	}
}
