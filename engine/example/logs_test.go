package example

import (
	"go/parser"
	"go/token"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/replication/redo"
)

// tally is a scheme of logs that is plugged in: redo logs, whose entries it counts.
var tally = replication.Kind{Name: "tally", Doc: "redo logs, counted", Applies: true, Footprint: redo.Kind.Footprint, Open: func(cl *r2.Cluster, o replication.Options) (replication.Scheme, error) {
	s, err := redo.Kind.Open(cl, o)
	return tallied{s}, err
}}

type tallied struct{ replication.Scheme }

func (s tallied) Writer(c *r2.Co) replication.Writer { return tallying{s.Scheme.Writer(c)} }

type tallying struct{ replication.Writer }

func (w tallying) Append(byRPC bool) error {
	entries++
	return w.Writer.Append(byRPC)
}

// entries are those of all runs.
var entries int

// A scheme of logs that is plugged in serves each protocol whose records are written when its own are, and no other.
func TestLogsPlugIn(t *testing.T) {
	for _, cc := range []string{"occ", "nowait"} {
		before := entries
		r := run(t, experiment.Knobs{"cc": cc, "log.scheme": "tally", "check": "full"})
		if n := entries - before; !r.Checks.Passed() || uint64(n) < uint64(r.Commits) || !r.Checks.Invariants["replicas.equal"] {
			t.Errorf("%s: %d entries of %d commits: %s", cc, n, r.Commits, r.ChecksText())
		}
	}
	spec, err := experiment.Spec{Workload: "counters", Set: experiment.Knobs{"store.unordered": "array"}}.With(experiment.Knobs{"cc": "inplace", "log.scheme": "tally"})
	if err == nil {
		_, err = experiment.Resolve(spec)
	}
	if err == nil || !strings.Contains(err.Error(), "cc=inplace does not write such logs: it has undo") {
		t.Errorf("a protocol that writes in place: %v", err)
	}
}

// Undo logs have no entries that backups apply, so it does not matter how those would be told; they take memory.
func TestKnobsAndMemoryOfLogs(t *testing.T) {
	spec := func(set experiment.Knobs) experiment.Spec {
		s, err := experiment.Spec{Workload: "counters", Set: experiment.Knobs{"store.unordered": "array", "nodes": 3, "threads": 2, "coroutines": 64}}.With(set)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for cc, want := range map[string]string{"occ": "", "inplace": "undo logs have no entries that backups apply"} {
		list, err := experiment.Describe(spec(experiment.Knobs{"cc": cc}))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(k experiment.KnobState) bool { return k.Name == replication.KnobReclaim })
		if got := list[i].InactiveBecause; got != want {
			t.Errorf("%s: log.reclaim is inactive because %q, want %q", cc, got, want)
		}
	}
	bytes := func(set experiment.Knobs) int64 {
		e, err := experiment.EstimateOf(spec(set))
		if err != nil {
			t.Fatal(err)
		}
		return e.MaxMemoryBytes
	}
	none := bytes(experiment.Knobs{"cc": "occ", "log.scheme": "none", "replicas": 1})
	if one := bytes(experiment.Knobs{"cc": "occ", "replicas": 1}); one != none {
		t.Errorf("%d bytes for logs of one copy", one-none)
	}
	if undo := bytes(experiment.Knobs{"cc": "inplace", "replicas": 1}); undo-none != 3*3*2*64*4096 {
		t.Errorf("undo logs take %d bytes, want a slot of 4 KB for each coroutine on each server", undo-none)
	}
}

// The price of a protocol, an unordered store, a workload and a scheme of logs is its folder and one line: of what does not test, parts.go
// alone imports the folder.
func TestPartsAreAFolderAndALine(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../experiment/parts.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "drtmx/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	takesCosts := map[string]string{"drtmx/engine/workload/tpcc": "drtmx/engine/workload/tsmicro"} // whose handlers cost what TPC-C's do
	counted := map[string]int{}
	for _, x := range file.Imports {
		part, err := strconv.Unquote(x.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, ok := strings.Cut(strings.TrimPrefix(part, "drtmx/engine/"), "/")
		if part == "drtmx/engine/kv" {
			kind, ok = "store", true
		}
		if !ok || !slices.Contains([]string{"protocol", "store", "workload", "replication"}, kind) {
			continue
		}
		counted[kind]++
		for line := range strings.Lines(string(out)) {
			list := strings.Fields(line)
			pkg := list[0]
			if slices.Contains(list[1:], part) && pkg != "drtmx/engine/experiment" && !strings.HasSuffix(pkg, "test") && !strings.HasPrefix(pkg, part+"/") && takesCosts[part] != pkg {
				t.Errorf("%s imports %s", pkg, part)
			}
		}
	}
	if counted["protocol"] < 4 || counted["store"] != 1 || counted["workload"] < 13 || counted["replication"] != 2 {
		t.Errorf("parts.go imports %v", counted)
	}
}
