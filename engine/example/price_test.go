package example

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drtmx/engine"
	"drtmx/engine/example/array"
	"drtmx/engine/example/counters"
	"drtmx/engine/example/hashed"
	"drtmx/engine/example/inplace"
	"drtmx/engine/example/lamport"
	"drtmx/engine/example/leased"
	"drtmx/engine/example/ordered"
	"drtmx/engine/example/prepared"
	"drtmx/engine/example/serial"
	"drtmx/engine/example/sorted"
	"drtmx/engine/experiment"
	"drtmx/engine/history"
	"drtmx/engine/replication"
	"drtmx/engine/result"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// One registration each.
func init() {
	experiment.Plug(txn.Kinds{serial.Kind, inplace.Kind, prepared.Kind, leased.Kind, ordered.Kind}, store.Kinds{array.Kind, hashed.Kind}, store.Ordered{sorted.Kind, planted, blind}, workload.Parts{counters.Kind}, timestamp.Kinds{lamport.Kind}, replication.Kinds{tally})
}

func run(t *testing.T, set experiment.Knobs) *result.Result {
	t.Helper()
	spec, err := experiment.Spec{Workload: "counters", Set: experiment.Knobs{
		"store.unordered": "array", "nodes": 3, "threads": 2, "coroutines": 4, "warmup_ns": "50us", "duration_ns": "2ms", "workload.counters": 40,
	}}.With(set)
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Run(context.Background(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Commits < 100 {
		t.Fatalf("%d commits\n%s", r.Commits, r)
	}
	return r
}

// The workload and the store run under the optimistic protocol and under the plugged one, with the checker, and show their
// gauges.
func TestPartsPlugIn(t *testing.T) {
	for _, cc := range []string{"occ", "serial", "prepared", "leased", "ordered"} {
		r := run(t, experiment.Knobs{"cc": cc, "workload.counters": 400, "duration_ns": "8ms"})
		if !r.Checks.Passed() || r.Checks.Transactions == 0 || !r.Checks.Invariants["counters.sum"] {
			t.Errorf("%s: %s", cc, r)
		}
		if x := r.Parts["counters"]["added"]; x <= 0 {
			t.Errorf("%s: the workload's gauge shows %g", cc, x)
		}
		if _, shows := r.Parts["serial"]["taken"]; shows != (cc == "serial") {
			t.Errorf("%s: the parts show %v", cc, r.Parts)
		}
	}
}

// Under undo logs records are written on all machines before the decision. A third of the transactions abort behind that: nothing of
// them is left, on no machine, and no log entry.
func TestUndoLogs(t *testing.T) {
	for _, store := range []string{"array", "drtm-kv"} {
		for _, late := range []int{0, 33} {
			r := run(t, experiment.Knobs{"cc": "inplace", "store.unordered": store, "check": "full", "inplace.late_aborts": late})
			if !r.Checks.Passed() || r.Checks.Transactions == 0 || !r.Checks.Invariants["counters.sum"] || !r.Checks.Invariants["replicas.equal"] {
				t.Errorf("%s, %d %% abort late: %s", store, late, r.ChecksText())
			}
			if late > 0 && r.AbortRate < 0.3 {
				t.Errorf("%s: only %.2f of the attempts abort", store, r.AbortRate)
			}
		}
	}
}

// A protocol and a log go together only where both say so.
func TestLogsAreAllowedByProtocols(t *testing.T) {
	for _, x := range []struct {
		set  experiment.Knobs
		want string
	}{
		{experiment.Knobs{"cc": "occ", "log.scheme": "undo"}, "cc=occ does not write such logs: it has redo or none; set log.scheme=own"},
		{experiment.Knobs{"cc": "inplace", "log.scheme": "redo"}, "it has undo"},
		{experiment.Knobs{"cc": "nowait", "log.scheme": "none"}, "log.scheme=none keeps one copy of each record"},
		{experiment.Knobs{"cc": "nowait", "log.scheme": "none", "replicas": 1}, ""},
		{experiment.Knobs{"cc": "serial", "log.scheme": "redo"}, ""}, // it has no effect
	} {
		spec, err := experiment.Spec{Workload: "counters", Set: experiment.Knobs{"store.unordered": "array"}}.With(x.set)
		if err == nil {
			_, err = experiment.Resolve(spec)
		}
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %q", x.set, err, x.want)
		}
	}
	for _, cc := range []string{"occ", "2pl"} {
		if r := run(t, experiment.Knobs{"cc": cc, "log.scheme": "none", "replicas": 1, "workload.counters": 400, "duration_ns": "8ms"}); !r.Checks.Passed() || !r.Checks.Invariants["counters.sum"] || r.Parts["log"] != nil {
			t.Errorf("%s without logs: %v\n%s", cc, r.Parts["log"], r)
		}
	}
}

// The scheme of timestamps runs in each host of any, and its histories are what it claims; a protocol that hosts one alone says so.
func TestSchemePlugsIn(t *testing.T) {
	snapshots := experiment.Knobs{"workload": "registers", "store.unordered": "drtm-kv", "workload.scale": 0.02, "workload.mix.read-only": 50, "check": "full",
		"ts.scheme": "lamport", "ts.gc_ns": "10us", "2pl.deadlock": "wait-die"}
	for _, cc := range []string{"occ", "2pl"} {
		snapshots["cc"] = cc
		r := run(t, snapshots)
		if !r.Checks.Passed() || r.Checks.Claimed != history.Serializable || r.Parts["snapshots"]["reads"] == 0 {
			t.Errorf("%s: claims %s, %v\n%s", cc, r.Checks.Claimed, r.Parts["snapshots"], r.ChecksText())
		}
		if r.StalenessNS != nil && r.StalenessNS.Bound != nil {
			t.Errorf("%s: a bound of %d ns, where none is promised", cc, *r.StalenessNS.Bound)
		}
	}
	snapshots["cc"], snapshots["replicas"] = "rococo", 1
	spec, err := experiment.Spec{}.With(snapshots)
	if err == nil {
		_, err = engine.Open(spec)
	}
	if err == nil || !strings.Contains(err.Error(), "cc=rococo does not host it; set one of dst") {
		t.Errorf("lamport on Rococo: %v", err)
	}
}

// The documented example of a scheme is one file of fewer than 200 lines, and so is this one.
func TestSchemesAreShort(t *testing.T) {
	for _, file := range []string{"../../dst/truetime.go", "lamport/lamport.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n >= 200 {
			t.Errorf("%s has %d lines", file, n)
		}
	}
}

// What a workload says of its tables is not of one store: a shipped one runs on arrays, under each of the shipped
// protocols, and one whose records come and go is told why it cannot.
func TestShippedWorkloadOnThePluggedStore(t *testing.T) {
	for _, cc := range []string{"occ", "nowait"} {
		for _, store := range []string{"array", "hashed", "drtm-kv"} {
			if r := run(t, experiment.Knobs{"workload": "ycsb", "workload.keys": 3000, "cc": cc, "store.unordered": store}); !r.Checks.Passed() || r.Checks.Transactions == 0 {
				t.Errorf("%s on %s: %s", cc, store, r)
			}
		}
	}
	// Records come and go where the store has a half for that, with copies on backups.
	for _, cc := range []string{"occ", "nowait", "2pl"} {
		if r := run(t, experiment.Knobs{"workload": "churn", "cc": cc, "store.unordered": "hashed"}); !r.Checks.Passed() || r.Checks.Transactions == 0 {
			t.Errorf("churn, %s: %s", cc, r)
		}
	}
	spec, err := experiment.Spec{Workload: "churn"}.With(experiment.Knobs{"store.unordered": "array"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Open(spec); err == nil || !strings.Contains(err.Error(), "records that come and go") {
		t.Errorf("churn on arrays: %v", err)
	}
}

// Knobs of parts are there with the parts: their own, and those that say why they do nothing.
func TestKnobsOfParts(t *testing.T) {
	list, err := experiment.Describe(experiment.Spec{Workload: "counters", Set: experiment.Knobs{"cc": "serial"}})
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, k := range list {
		why[k.Name] = k.InactiveBecause
	}
	for name, want := range map[string]string{
		"serial.poll_ns": "", "workload.counters": "", "phase.lock": "cc=serial does not use it", "replicas": "cc=serial does not use it",
		"workload.accounts": "workload counters does not use it", "cache.enabled": "cc=serial does not use it",
	} {
		if got, ok := why[name]; !ok || got != want {
			t.Errorf("%s is inactive because %q, want %q", name, got, want)
		}
	}
	_, err = experiment.Resolve(experiment.Spec{Workload: "counters", Set: experiment.Knobs{"cc": "serail"}})
	if err == nil || !strings.Contains(err.Error(), "did you mean serial?") {
		t.Errorf("a typo: %v", err)
	}
}

// Nothing outside of the parts' own folders names them: that is their price.
func TestNobodyElseKnowsTheParts(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}: {{.Imports}}", "drtmx/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(line, ":")
		if strings.Contains(imports, "drtmx/engine/example") && !strings.HasPrefix(pkg, "drtmx/engine/example") {
			t.Errorf("%s imports a part that is plugged in", pkg)
		}
		// What the second protocol and YCSB cost: their folders, and their lines in the list of parts.
		for _, part := range []string{"drtmx/engine/protocol/nowait", "drtmx/engine/workload/ycsb"} {
			if slices.Contains(strings.Fields(strings.Trim(strings.TrimSpace(imports), "[]")), part) && pkg != "drtmx/engine/experiment" {
				t.Errorf("%s imports %s", pkg, part)
			}
		}
	}
	// A protocol or a workload is a folder and one line: parts.go alone imports those of the module.
	list, err := os.ReadFile("../experiment/parts.go")
	if err != nil {
		t.Fatal(err)
	}
	shared := map[string]string{"rc": "occ", "2pl": "twopl"} // protocols in the folder of another one
	for _, k := range experiment.Protocols {
		if folder := "drtmx/engine/protocol/" + cmp.Or(shared[k.Name], k.Name); !slices.Contains([]string{"serial", "inplace", "prepared", "leased", "ordered"}, k.Name) && strings.Count(string(list), folder+`"`) != 1 {
			t.Errorf("parts.go does not import %s once", folder)
		}
	}
}

// What a scheme of timestamps has for itself is in its folder: its knobs are called by their names nowhere else, and those of all schemes
// only where they are declared. Specs of users and figures name them, and so does a host the one that it brings.
func TestKnobsOfSchemesAreNamedAtHome(t *testing.T) {
	homes := map[string]string{} // of a knob
	for i := range experiment.Schemes {
		if k := &experiment.Schemes[i]; k.Rows != nil {
			home, _, _ := strings.Cut(strings.TrimPrefix(runtime.FuncForPC(reflect.ValueOf(k.Open).Pointer()).Name(), "drtmx/"), ".")
			for _, r := range k.Rows(experiment.Workloads.Load) {
				homes[r.Name] = home
			}
		}
	}
	for _, r := range experiment.Schemes.Rows(experiment.Workloads.Load) {
		homes[r.Name] = cmp.Or(homes[r.Name], "engine/timestamp")
	}
	if homes["ts.compression"] != "dst/oracle" || homes["ts.variant"] != "dst" || homes["ts.scheme"] != "engine/timestamp" {
		t.Fatalf("%v", homes)
	}
	for _, room := range []string{"engine", "dst", "xstore", "rdpma", "dashboard", "cluster"} {
		err := filepath.WalkDir("../../"+room, func(name string, _ os.DirEntry, err error) error {
			folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "../../")
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(folder, "test") || folder == "cluster/handbook" {
				return err
			}
			text, err := os.ReadFile(name)
			for knob, home := range homes { // order-free: each is reported
				if strings.Contains(string(text), strconv.Quote(knob)) && folder != home {
					t.Errorf("%s names %s, which is of %s", name, knob, home)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
