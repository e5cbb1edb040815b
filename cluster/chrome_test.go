package cluster

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"drtmx/cluster/system/systemtest"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// traceOf traces n transactions of a system of its own.
func traceOf(t *testing.T, spec experiment.Spec, n int) (*Trace, []byte) {
	t.Helper()
	s, err := engine.Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Advance(50_000); err != nil {
		t.Fatal(err)
	}
	ts, err := s.Trace(n)
	if err != nil {
		t.Fatal(err)
	}
	tr := &Trace{Raw: ts}
	b, err := tr.Chrome()
	if err != nil {
		t.Fatal(err)
	}
	return tr, b
}

type event struct {
	Name, Cat, Ph, BP, S string
	TS                   *float64
	Dur                  *float64
	PID, TID, ID         *int
	Args                 map[string]any
}

type track struct{ pid, tid int }

func parse(t *testing.T, b []byte) []event {
	t.Helper()
	var f struct {
		TraceEvents     []event `json:"traceEvents"`
		DisplayTimeUnit string  `json:"displayTimeUnit"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		t.Fatal(err)
	}
	return f.TraceEvents
}

// The file has what the format asks for: complete slices that nest on their track,
// arrows in pairs whose ends lie on slices, named tracks.
func TestChromeSchema(t *testing.T) {
	specs := map[string]experiment.Spec{
		"contended": systemtest.Contended(),
		"drtm+h":    {Preset: "drtm+h", Set: experiment.Knobs{"workload.scale": 0.01, "check": "off"}},
		"fasst":     {Preset: "fasst", Set: experiment.Knobs{"workload.scale": 0.01, "check": "off"}},
		"micro":     {Workload: "micro-write", Set: experiment.Knobs{"nodes": 2, "threads": 2, "opt.micro.pa": true}},
	}
	for name, spec := range specs {
		tr, b := traceOf(t, spec, 40)
		attempts := 0
		for _, x := range tr.Raw {
			attempts += x.Attempts
		}
		if len(b) > 16<<10*attempts {
			t.Errorf("%s: %d attempts take %d bytes", name, attempts, len(b))
		}
		named, slicesOf := map[track]bool{}, map[track][]event{}
		arrows, counts := map[int][]event{}, map[string]int{}
		for _, e := range parse(t, b) {
			if e.Name == "" || e.TS == nil || *e.TS < 0 || e.PID == nil || e.TID == nil {
				t.Fatalf("%s: %+v", name, e)
			}
			at := track{*e.PID, *e.TID}
			switch e.Ph {
			case "M":
				named[at] = named[at] || e.Name == "thread_name"
			case "X":
				if e.Dur == nil || *e.Dur < 0 || !named[at] {
					t.Fatalf("%s: %+v", name, e)
				}
				slicesOf[at] = append(slicesOf[at], e)
			case "i":
				if e.S != "t" || e.Name != "abort" {
					t.Errorf("%s: %+v", name, e)
				}
			case "s", "f":
				if e.ID == nil || (e.BP == "e") != (e.Ph == "f") {
					t.Fatalf("%s: %+v", name, e)
				}
				arrows[*e.ID] = append(arrows[*e.ID], e)
			default:
				t.Fatalf("%s: %+v", name, e)
			}
		}
		for at, list := range slicesOf {
			nests(t, name, at, list)
		}
		for id, a := range arrows {
			if len(a) != 2 || a[0].Ph != "s" || a[1].Ph != "f" || *a[0].TS > *a[1].TS || *a[0].PID == *a[1].PID && *a[0].TID == *a[1].TID {
				t.Fatalf("%s: arrow %d: %+v", name, id, a)
			}
			counts[a[0].Name]++
			from, to := "verb", []string{"served", "handler"}
			if a[0].Name == "post" {
				from, to = "phase", []string{"verb"}
			}
			if a[1].Name != a[0].Name || !on(slicesOf, a[0], from) || !slices.ContainsFunc(to, func(cat string) bool { return on(slicesOf, a[1], cat) }) {
				t.Errorf("%s: arrow %d hangs in the air: %+v", name, id, a)
			}
		}
		if counts["request"] < len(tr.Raw)/8 { // passive WRITEs share completions
			t.Errorf("%s: %d requests with an arrow", name, counts["request"])
		}
		verbs := 0
		for _, x := range tr.Raw {
			for _, v := range x.Verbs {
				if !v.Passive {
					verbs++
				}
			}
		}
		if counts["post"] < verbs { // from a phase to what it waits for
			t.Errorf("%s: %d of %d requests that are waited for hang on a phase", name, counts["post"], verbs)
		}
	}
}

// tick is a picosecond in the file's microseconds.
const tick = 1e-6

func nests(t *testing.T, name string, at track, list []event) {
	slices.SortStableFunc(list, func(a, b event) int {
		switch {
		case *a.TS != *b.TS:
			return map[bool]int{true: -1, false: 1}[*a.TS < *b.TS]
		case *a.Dur != *b.Dur:
			return map[bool]int{true: -1, false: 1}[*a.Dur > *b.Dur]
		}
		return 0
	})
	var open []float64
	for _, e := range list {
		for len(open) > 0 && open[len(open)-1] <= *e.TS+tick/2 {
			open = open[:len(open)-1]
		}
		end := *e.TS + *e.Dur
		if len(open) > 0 && end > open[len(open)-1]+tick/2 {
			t.Fatalf("%s: track %v: %s %s from %.6f to %.6f is not within what is open until %.6f", name, at, e.Cat, e.Name, *e.TS, end, open[len(open)-1])
		}
		open = append(open, end)
	}
}

func on(slicesOf map[track][]event, end event, cat string) bool {
	for _, e := range slicesOf[track{*end.PID, *end.TID}] {
		if e.Cat == cat && *e.TS <= *end.TS+tick/2 && *end.TS <= *e.TS+*e.Dur+tick/2 {
			return true
		}
	}
	return false
}

// Every aborted attempt is marked, and the milestones in a verb add up to it.
func TestChromeContent(t *testing.T) {
	tr, b := traceOf(t, systemtest.Contended(), 60)
	aborts, marks, failed := 0, 0, 0
	for _, x := range tr.Raw {
		aborts += x.Attempts - 1
	}
	verbs, milestones := 0.0, 0.0
	var within *event
	for _, e := range parse(t, b) {
		switch {
		case e.Cat == "abort":
			marks++
		case e.Cat == "attempt" && e.Args["outcome"] == "aborted":
			failed++
		case e.Cat == "verb":
			within = &e
		case e.Cat == "milestone":
			if within != nil {
				verbs += *within.Dur
				within = nil
			}
			milestones += *e.Dur
		}
	}
	if aborts == 0 || marks != aborts || failed != aborts {
		t.Errorf("%d aborts, %d marks, %d attempts that aborted", aborts, marks, failed)
	}
	if d := verbs - milestones; milestones == 0 || d > 1e-4 || d < -1e-4 {
		t.Errorf("verbs take %g µs, their milestones %g", verbs, milestones)
	}
	if _, again := traceOf(t, systemtest.Contended(), 60); !bytes.Equal(b, again) {
		t.Error("the same spec traced twice differs")
	}
}

// The bytes of a small trace that says one of everything.
func TestChromeGolden(t *testing.T) {
	tr := &Trace{Raw: []engine.TxnTrace{{
		Type: "rotate", Machine: 1, Thread: 2, Coroutine: 7, Outcome: "committed", Attempts: 2, BeginNS: 1000.25, EndNS: 9000, AbortsNS: []float64{4000},
		Phases: []engine.PhaseTrace{{Phase: "execution", BeginNS: 1000.25, EndNS: 3000}, {Phase: "lock", BeginNS: 3000, EndNS: 4000},
			{Phase: "backoff", BeginNS: 4000, EndNS: 5000}, {Phase: "execution", BeginNS: 5000, EndNS: 9000}, {Phase: "commit", BeginNS: 9000, EndNS: 9100}},
		Verbs: []engine.VerbTrace{
			{Verb: "READ", Phase: "execution", From: 1, To: 0, ToNIC: 1, Bytes: 24, BeginNS: 1100, EndNS: 2900, Milestones: []engine.MilestoneTrace{
				{Milestone: "post", NS: 100}, {Milestone: "doorbell", NS: 300}, {Milestone: "nic_send", NS: 200}, {Milestone: "wire", NS: 400}, {Milestone: "memory", NS: 600}, {Milestone: "poll", NS: 200}}},
			{Verb: "rpc", Phase: "lock", From: 1, To: 0, Bytes: 16, BeginNS: 3000, EndNS: 3900, Handler: &engine.HandlerTrace{Thread: 2, BeginNS: 3400, EndNS: 3500}},
			{Verb: "WRITE", Phase: "commit", From: 1, To: 0, Bytes: 16, Passive: true, BeginNS: 9000, EndNS: 9900},
		},
	}}}
	b, err := tr.Chrome()
	if err != nil {
		t.Fatal(err)
	}
	b = append(bytes.ReplaceAll(b, []byte("},{\"name\""), []byte("},\n{\"name\"")), '\n')
	file := filepath.Join("testdata", "chrome.json")
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, want) {
		t.Errorf("the trace is\n%s\nrun with UPDATE=1 if that is right", b)
	}
}
