package kernel_test

import (
	"strings"
	"testing"

	"drtmx/cluster/handbook"
)

const clusterImport = "import (\"fmt\"; \"time\"; \"drtmx/cluster\"; \"drtmx/engine/txn\")\n"

// A cluster that starts quickly.
const smallCluster = clusterImport + `c := cluster.Up(cluster.Spec{Set: cluster.Knobs{"nodes": 3, "threads": 2, "workload.accounts": 2000}})`

func TestInterruptRun(t *testing.T) {
	t.Parallel()
	out := drive(t,
		step{Code: smallCluster},
		step{Code: "c.Run(100 * time.Second)", InterruptAfter: 1},
		step{Code: "c.Run(100 * time.Microsecond).Throughput > 0"})
	if o := out[1]; o.Status != "error" || o.Evalue != "interrupted" || o.AfterInterrupt > soon {
		t.Errorf("long run: %s %q %.2f s after the interrupt", o.Status, o.Evalue, o.AfterInterrupt)
	}
	if o := out[2]; !o.isTrue() {
		t.Errorf("the cluster after an interrupt: %s %q %q", o.Status, o.Evalue, o.text())
	}
}

// An endless loop in a user's transaction runs inside a coroutine of the
// simulator. The cluster is lost with it; the notebook is not.
func TestInterruptTransaction(t *testing.T) {
	t.Parallel()
	const again = "\nd := cluster.Up(cluster.Spec{Set: cluster.Knobs{\"nodes\": 3, \"threads\": 2, \"workload.accounts\": 2000}})\n" +
		"d.Run(100 * time.Microsecond).Throughput > 0"
	out := drive(t,
		step{Code: smallCluster + "\nbegun := 0"},
		step{Code: "c.AddTransaction(\"stuck\", 50, func(tx *txn.Tx) error {\n\tbegun++\n\tfor begun > 20 {\n\t}\n\treturn nil\n})"},
		step{Code: "c.Run(10 * time.Millisecond)", InterruptAfter: 2},
		step{Code: "fmt.Println(\"still here\")"},
		step{Code: again})
	if o := out[1]; o.Status != "ok" {
		t.Fatalf("AddTransaction: %q", o.Evalue)
	}
	if o := out[2]; o.Status != "error" || o.Evalue != "interrupted" || o.AfterInterrupt > soon {
		t.Errorf("endless transaction: %s %q %.2f s after the interrupt", o.Status, o.Evalue, o.AfterInterrupt)
	}
	if o := out[3]; o.text() != "still here\n" {
		t.Errorf("next cell: %s %q %q", o.Status, o.Evalue, o.text())
	}
	if o := out[4]; !o.isTrue() {
		t.Errorf("a new cluster afterwards: %s %q %q", o.Status, o.Evalue, o.text())
	}
}

func TestOwnTransaction(t *testing.T) {
	t.Parallel()
	out := drive(t,
		step{Code: smallCluster + "\nimport \"drtmx/engine/workload/smallbank\""},
		step{Code: `c.AddTransaction("swap", 50, func(tx *txn.Tx) error {
	a, b := tx.Rand().Uint64n(12000), tx.Rand().Uint64n(12000)
	x, err := tx.GetInt(smallbank.Savings, a)
	if err != nil {
		return err
	}
	y, err := tx.GetInt(smallbank.Savings, b)
	if err != nil {
		return err
	}
	if err := tx.PutInt(smallbank.Savings, a, y); err != nil {
		return err
	}
	return tx.PutInt(smallbank.Savings, b, x)
})`},
		step{Code: "r := c.Run(500 * time.Microsecond)\nr.Metric(\"by_type.swap.commits\") > 100"},
		step{Code: "r.Checks().OK()"},
		step{Code: "c.AddTransaction(\"bad\", 50, func(tx *txn.Tx) error { panic(\"out of ideas\") })"},
		step{Code: "c.Run(time.Millisecond)"})
	for _, i := range []int{2, 3} {
		if o := out[i]; !o.isTrue() {
			t.Errorf("cell %d: %s %q %q", i, o.Status, o.Evalue, o.text())
		}
	}
	if o := out[5]; o.Status != "error" || !strings.Contains(o.Evalue, "bad") || !strings.Contains(o.Evalue, "cell [5] line 1: out of ideas") {
		t.Errorf("a panic in a transaction: %s %q", o.Status, o.Evalue)
	}
}

// A transaction that calls its own cluster would wait for itself, without a word.
func TestTransactionCannotCallItsCluster(t *testing.T) {
	t.Parallel()
	out := drive(t,
		step{Code: smallCluster},
		step{Code: "c.AddTransaction(\"own\", 50, func(tx *txn.Tx) error {\n\tc.Set(\"coroutines\", 3)\n\treturn nil\n})"},
		step{Code: "c.Run(time.Millisecond)"})
	if o := out[2]; o.Status != "error" || !strings.Contains(o.Evalue, "transaction own panicked: cell [2] line 2: a transaction cannot call Run, Set and the like") {
		t.Errorf("%s %q", o.Status, o.Evalue)
	}
}

// What a notebook still shows of a cluster that is closed, and cells with forks that
// are run again and again.
func TestClosedAndForked(t *testing.T) {
	t.Parallel()
	again := step{Code: "f := c.Fork(cluster.Knobs{\"coroutines\": 2})\nf.Run(100*time.Microsecond).Throughput > 0"}
	out := drive(t,
		step{Code: smallCluster + "\nc.Run(100*time.Microsecond)"},
		again, again, again, again, again,
		step{Code: "f.Close()\nc.Run(100*time.Microsecond).Throughput > 0"},
		step{Code: "c.Close()\nc"},
		step{Code: "c"},
		step{Code: "fmt.Println(c)"})
	for i, o := range out[1:7] {
		if !o.isTrue() {
			t.Errorf("cell %d: %s %q %q", i+1, o.Status, o.Evalue, o.text())
		}
	}
	for i, o := range out[7:9] {
		if o.Status != "error" || o.Evalue != "the cluster is closed" {
			t.Errorf("cell %d: %s %q", i+7, o.Status, o.Evalue)
		}
	}
	if o := out[9]; o.text() != "cluster a: the cluster is closed\n" {
		t.Errorf("a closed cluster as text: %s %q", o.Status, o.text())
	}
}

// A spec of several systems: Up is the first of them, Systems has all.
func TestSystemsSideBySide(t *testing.T) {
	t.Parallel()
	out := drive(t,
		step{Code: clusterImport + "s := cluster.Spec{Workload: \"ycsb\", Set: cluster.Knobs{\"nodes\": 3, \"threads\": 1, \"workload.keys\": 2000}, Systems: []cluster.Spec{{Name: \"hybrid\"}, {Name: \"messages\", Preset: \"fasst\"}}}\ns"},
		step{Code: "c := cluster.Up(s)\nall := c.Systems()\nlen(all)"},
		step{Code: "cluster.Compare(c.Run(200*time.Microsecond), all[1].Run(200*time.Microsecond))"},
		step{Code: "cluster.Sweep(s, cluster.Axis{\"coroutines\", []int{1, 2}})"},
		step{Code: "c.Close()"})
	for i, want := range []string{"messages", "2", "fasst"} {
		if o := out[i]; o.Status != "ok" || !strings.Contains(o.text(), want) {
			t.Errorf("cell %d: %s %q shows %q, want %q in it", i, o.Status, o.Evalue, o.text(), want)
		}
	}
	if o := out[3]; o.Status != "error" || !strings.Contains(o.Evalue, "systems = hybrid, messages: one system is needed here") {
		t.Errorf("a sweep: %s %q", o.Status, o.Evalue)
	}
}

// The cells of the handbook, as they stand there, in the order of its pages.
func TestCellsOfTheHandbook(t *testing.T) {
	t.Parallel()
	steps := []step{{Code: clusterImport + "import \"drtmx/engine/workload/smallbank\""}}
	for _, p := range handbook.Pages() {
		for i, part := range strings.Split(p.Text, "```go\n") {
			if code, _, ok := strings.Cut(part, "```"); i > 0 && ok {
				steps = append(steps, step{Code: code})
			}
		}
	}
	out := drive(t, steps...)
	wants := []string{"", "ycsb-a", "phase.commit auto -> two-sided", "strict-serializable holds"}
	if len(out) != len(wants) {
		t.Fatalf("%d cells", len(out)-1)
	}
	for i, want := range wants {
		if o := out[i]; o.Status != "ok" || !strings.Contains(o.text(), want) {
			t.Errorf("cell %d: %s %q shows %q, want %q in it", i, o.Status, o.Evalue, o.text(), want)
		}
	}
}

func TestMistakesFailTheirCell(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	out := drive(t,
		step{Code: smallCluster + "\nc"},
		step{Code: "base := c.Run(time.Millisecond)\nbase"},
		step{Code: "base.Why()"},
		step{Code: "c.Set(\"phase.validation\", \"two-sided\"); cluster.Compare(base, c.Run(time.Millisecond))"},
		step{Code: "base.Checks()"},
		step{Code: "s := cluster.Sweep(c.Spec(), cluster.Axis{\"coroutines\", []int{1, 2}})\ns"},
		step{Code: "s.Chart(\"throughput\", \"latency_us.p50\")"},
		step{Code: "c.Trace(1)"},
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
