package protocoltest

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/explore"
	"drtmx/engine/knob"
	"drtmx/engine/workload/workloadtest"
)

// script is a handful of transactions that are explored.
type script struct {
	name   string
	text   string // of workload.script
	set    experiment.Knobs
	coming bool // records come and go
}

// scripts are of records that all want, and of gaps that some fill.
var scripts = []script{
	{name: "records", text: "w0 r1; w1 r0; r0 r1"},
	{name: "crossed", text: "r0 w1; w0 r1; w0 w1"},
	{name: "both", text: "w0 w1; r0 r1; r1 r0"},
	{name: "crossing", text: "w0 w1; w1 w0; r0 r1"},
	{name: "circle", text: "w0 w1; w1 w2; w2 w0"},
	{name: "same", text: "w0; w0; w0"},
	{name: "upgrades", text: "r0; w0; w0"},
	{name: "shared", text: "w0; r0; r1"},
	{name: "reads", text: "r0 w1; r1 w0; r0 r1"},
	{name: "torn", text: "w0; r2 | r2 | r2 | r0; r1", set: experiment.Knobs{"workload.value_bytes": 488, "explore.unit_ns": 2_000}},
	{name: "announced", text: "a0 w1; w1 r0; r0 r1"},
	{name: "gaps", text: "r8 i9; r9 i8; r8 r9", coming: true},
	{name: "deleted", text: "d0; d0; w0", coming: true},
	{name: "again", text: "d0 i0; d0; r0 r1", coming: true},
}

// snapshots are read while others write.
var snapshots = []script{
	{name: "two-readers", text: "w0 w1; r0 r1; r6 | r0 r1; r7 | r7 | r1 r0"}, // the second begins while the writer is at it
	{name: "skewed", text: "r0 w1; w0; r6 | r0 r1; r7 | r7 | r1 r0"},         // one writer reads what the other overwrites
	{name: "two-writers", text: "w0 w1; w1 w0; r6 | r0 r1; r7 | r1 r0"},
}

// explored runs the scripts through many orders of their messages. Each primitive and policy has some of them; in make soak, all.
func (s *suite) explored(t *testing.T) {
	variants := s.variants()
	for k, x := range scripts {
		if x.coming && !s.inserts {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			for _, v := range workloadtest.Effort(variants, []experiment.Knobs{variants[k%len(variants)]}) {
				s.explore(t, "transactions", merged(x.set, experiment.Knobs{"workload.script": x.text}), v, explore.Options{Bound: 1, Steps: workloadtest.Effort(3, 2)})
			}
		})
	}
	t.Run("twice-delayed", func(t *testing.T) {
		budget := workloadtest.Effort(2_000, 200)
		for _, v := range workloadtest.Effort(variants, variants[:1]) {
			s.explore(t, "transactions", nil, v, explore.Options{Budget: budget})
		}
	})
	if !s.kind.Snapshots {
		return
	}
	t.Run("snapshots", func(t *testing.T) {
		for i, scheme := range s.schemes().values[1:] {
			for k, x := range snapshots {
				if !workloadtest.Soak && (i+k)%len(snapshots) != 0 {
					continue
				}
				s.explore(t, "snapshots", merged(scheme, experiment.Knobs{"workload.script": x.text, "ts.clock_drift_ns": 20_000}), variants[k%len(variants)], explore.Options{Bound: 1, Steps: workloadtest.Effort(4, 1)})
			}
		}
	})
}

// explore goes through orders of a small system. What the rules of the protocol refuse is skipped.
func (s *suite) explore(t *testing.T, shipped string, set, variant experiment.Knobs, o explore.Options) {
	t.Helper()
	spec, _ := explore.Shipped(shipped)
	for _, v := range []experiment.Knobs{variant, nil} {
		with, err := spec.With(merged(merged(experiment.Knobs{"cc": s.kind.Name}, v), set))
		if err != nil {
			continue
		}
		if _, err := experiment.Resolve(with); err != nil {
			continue
		}
		r, err := explore.Run(context.Background(), with, o)
		switch {
		case err != nil:
			t.Fatalf("%v\n%s", err, with.YAML())
		case len(r.Found) > 0 || !r.Complete && o.Budget == 0:
			t.Fatalf("%s\n%s", r, with.YAML())
		}
		return
	}
}

// variants are the protocol's presets, and its own choices, those of primitives and policies, each two of their values together in one of them.
func (s *suite) variants() (list []experiment.Knobs) {
	all := slices.DeleteFunc(s.choices(nil), func(c choice) bool { return !primitive(c) })
	list = []experiment.Knobs{{}}
	for _, p := range s.kind.Presets {
		list = append(list, experiment.Knobs{"preset": p})
	}
	for _, row := range s.pairs(all) {
		list = append(list, chosen(all, row))
	}
	return list
}

// apart are clients that have records of their own, some of them on other servers. What comes and goes is on the server of the others of
// its transaction, as a protocol of pieces wants it.
var (
	apart  = []string{"w0 w1 | r0 w2 | w1 w0 w2 | w2 w2 | r0 r1 r2", "w3 r4 w5 | w5 w4 | r4 w3 | r3 r4 r5", "w6 w7 | r7 w6 w8 | r6 r7 r8"}
	coming = []string{"i12 w0 | r12 | d12 w0 | r12 r1 | i12 | r12 r2", "i13 w4 | r13 r4 | d13 | r13 | d4 i13 | r4 r13", "d8 | r8 r7 | i8 | r8"}
)

// alike has clients that never meet do the same under all choices: what they read and write is the same too, whatever is lost.
func (s *suite) alike(t *testing.T) {
	clients := slices.Clone(apart)
	for i := range clients {
		if s.inserts {
			clients[i] += " | " + coming[i]
		}
	}
	text := strings.Join(clients, ";")
	transactions := strings.Count(text, "|") + len(clients)
	script := experiment.Knobs{"workload": "script", "workload.script": text, "workload.keys": 12, "workload.scale": 1.0, "ts.scheme": "none", "nodes": 3}
	all := slices.DeleteFunc(s.choices(nil), func(c choice) bool {
		return c.knob == nil && c.name != profiles.name || c.knob != nil && c.knob.Group == knob.Timestamps
	})
	own := *s
	own.base = merged(s.base, script)
	rows := own.pairs(all)
	var want string
	for i := range workloadtest.Effort(len(rows), min(len(rows), 16)) {
		set := merged(chosen(all, rows[i]), experiment.Knobs{"threads": 1 + i%2, "coroutines": 1 + i%3, "seed": i + 1, "fault.drop": 0.01 * float64(i%2)})
		sys, spec := own.open(t, set)
		var out bytes.Buffer
		err := sys.RecordHistory("history.jsonl", &out)
		for err == nil && sys.Result().Commits < uint64(transactions) && sys.NowNS() < 10*mostNS {
			err = sys.Advance(sliceNS)
		}
		judged(t, sys, spec, err)
		sys.EndHistory()
		sys.Close()
		got := timeless(out.String())
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("%s\nwhere others did\n%s\n%s", without(got, want), without(want, got), spec.YAML())
		}
	}
	if n := strings.Count(want, "\n") + 1; n != transactions {
		t.Errorf("%d transactions of %d:\n%s", n, transactions, want)
	}
}

// timeless is what transactions did that committed, whoever and whenever they were, and whichever answer came first.
func timeless(history string) string {
	var list []string
	for line := range strings.Lines(times.ReplaceAllString(history, "")) {
		if head, all, ok := strings.Cut(line, `"reads"`); ok && strings.Contains(head, `"committed"`) {
			done := accesses.FindAllString(all, -1)
			slices.Sort(done)
			list = append(list, head+strings.Join(done, ","))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// without are the lines of a history that another one has not.
func without(history, other string) string {
	lines := strings.Split(history, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return slices.Contains(strings.Split(other, "\n"), l) }), "\n")
}

var (
	times    = regexp.MustCompile(`"(id|node|thread|begin_ns|end_ns)":\d+,`)
	accesses = regexp.MustCompile(`{"table"[^}]*}`)
)
