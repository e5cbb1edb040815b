package history

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
)

func TestReportJSON(t *testing.T) {
	name := func(k Key) string { return "account/7" }
	rep := Check([]Txn{
		{ID: 9, Begin: 0, End: 10, Reads: []Read{{1, 4}}, Writes: []Write{{1, 4, 6}}, Type: 1},
		{ID: 12, Begin: 1_500_000, End: 2_000_000, Reads: []Read{{1, 4}}},
	}, Options{KeyName: name, TypeName: func(uint8) string { return "balance" }})
	rep.Invariant("smallbank.total", true)
	got, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"mode":"full","claimed":"strict-serializable","ok":false,"transactions":2,"transactions_seen":2,` +
		`"anomalies":[{"kind":"real-time","text":"T12 (balance) read account/7 at version 4, which T9 (balance) overwrote with version 6; ` +
		`T9 (balance) ended at 0.00001 µs, before T12 (balance) began at 1.5 µs",` +
		`"cycle":[{"txn":12,"edge":"rw","record":"account/7","version":4},{"txn":9,"edge":"rt"}],"breaks_claim":true}],` +
		`"anomaly_count":1,"invariants":{"smallbank.total":true}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCleanReportJSON(t *testing.T) {
	rep := New(Options{Mode: Sampled}).Report()
	got, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"mode":"sampled","claimed":"strict-serializable","ok":null,"transactions":0,"transactions_seen":0,` +
		`"anomalies":[],"anomaly_count":0,"incomplete":"no transaction has committed"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestNoTransactionsJSON: what does not apply is absent, and what does comes back.
func TestNoTransactionsJSON(t *testing.T) {
	rep := New(Options{}).Report()
	rep.Claimed = ""
	rep.Invariant("littles-law", false)
	got, err := json.Marshal(&rep)
	if want := `{"mode":"full","ok":false,"invariants":{"littles-law":false}}`; err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	var back Report
	if err := json.Unmarshal(got, &back); err != nil || !back.Failed() || fault(&back) != "littles-law" {
		t.Errorf("%+v, %v", back, err)
	}
}

// TestViolation: what is broken comes with what has to hold and where it does not.
func TestViolation(t *testing.T) {
	rep := New(Options{}).Report()
	rep.Claimed = ""
	rep.Invariant("total", true)
	rep.Invariant("unsaid", false)
	rep.Violation("sum", "a is b: a is 3, b 4")
	got, err := json.Marshal(&rep)
	if want := `{"mode":"full","ok":false,"invariants":{"sum":false,"total":true,"unsaid":false},"violated":{"sum":"a is b: a is 3, b 4"}}`; err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if got := rep.Findings(); !slices.Equal(got, []string{"sum: a is b: a is 3, b 4", "unsaid"}) || fault(&rep) != "sum, unsaid" {
		t.Errorf("%q, %q", got, fault(&rep))
	}
}

func TestInvariantsCount(t *testing.T) {
	r := New(Options{Mode: Off})
	r.Begin(1, 0)
	r.Add(&Txn{Session: 1, Writes: []Write{{1, 4, 4}}})
	rep := r.Finish()
	if rep.OK != Undecided || rep.Transactions != 0 || rep.Seen != 1 {
		t.Errorf("off: %+v", rep)
	}
	rep.Invariant("replicas.equal", false)
	rep.Invariant("total", true)
	if !rep.Failed() {
		t.Error("OK although an invariant is violated")
	}
}

func TestNote(t *testing.T) {
	r := New(Options{Mode: Off, Claim: ReadUncommitted, Anomalies: 2})
	for range 5 {
		r.Note(Anomaly{Kind: RealTime, Text: "late"})
	}
	if rep := r.Report(); rep.Failed() || rep.Count != 5 || len(rep.Anomalies) != 2 {
		t.Errorf("%+v", rep)
	}
	// The first anomaly that breaks the claim is listed although the list is full.
	r.Note(Anomaly{Kind: "commit-before-log", Text: "T3 committed before its log was acknowledged"})
	r.Note(Anomaly{Kind: "commit-before-log", Text: "T4 too"})
	if rep := r.Report(); !rep.Failed() || rep.Count != 7 || len(rep.Anomalies) != 3 || !rep.Anomalies[2].Breaks {
		t.Errorf("%+v", rep)
	}
}

func TestClaims(t *testing.T) {
	claims := []Claim{ReadUncommitted, ReadCommitted, SnapshotIsolation, Serializable, StrictSerializable}
	kinds := map[string]int{ // the first claim that the kind breaks
		DuplicateVersion: 0, UnknownVersion: 0, DirtyWrite: 0, G0: 0, "replica-diverged": 0,
		G1a: 1, G1b: 1, G1c: 1, GSingle: 2, LostUpdate: 2, G2: 3, RealTime: 4,
	}
	for kind, first := range kinds {
		for i, c := range claims {
			if got, want := c.breaks(kind), i >= first; got != want {
				t.Errorf("%s breaks %s: %v", kind, c, got)
			}
		}
	}
}

func TestKey(t *testing.T) {
	k := MakeKey(3, 1<<56|77)
	if k.Table() != 3 || k.Row() != 77 || k.String() != "3/77" {
		t.Errorf("%d %d %s", k.Table(), k.Row(), k)
	}
}

func TestUnusedReport(t *testing.T) {
	rep := New(Options{Mode: Sampled}).Report()
	if got := rep.Unused(); got != "" {
		t.Error(got)
	}
	rep.Invariant("total", true)
	rep.Invariant("replicas", true)
	if got := rep.Unused(); got != "ok: replicas, total; no transactions" {
		t.Error(got)
	}
	seen := rep
	seen.Seen = 1
	rep.Invariant("total", false)
	if rep.Unused() != "" || seen.Unused() != "" {
		t.Errorf("there is more to say: %q, %q", rep.Unused(), seen.Unused())
	}
}

// A verdict over nothing is none: null in JSON, with the reason, and read back as it was.
func TestVerdictOverNothing(t *testing.T) {
	for want, rep := range map[string]Report{
		"the knob check is off":                            {Mode: Off},
		"no transactions to check":                         {Mode: Full},
		"no transaction has committed":                     {Mode: Full, Claimed: Serializable},
		"none of 3 transactions was judged":                {Mode: Sampled, Claimed: Serializable, Seen: 3},
		"the drain was given up with 2 requests under way": {Mode: Full, Claimed: Serializable, Seen: 3, Transactions: 3, Incomplete: "the drain was given up with 2 requests under way"},
	} {
		rep.Invariant("total", true)
		if complete := want != rep.Incomplete && rep.Mode != Off; complete != rep.Passed() {
			t.Errorf("%s: with an invariant that holds %+v", want, rep)
		}
		rep.OK, rep.Invariants = Undecided, nil
		text, err := json.Marshal(rep)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		var back Report
		if err := errors.Join(json.Unmarshal(text, &m), json.Unmarshal(text, &back)); err != nil {
			t.Fatal(err)
		}
		if ok, there := m["ok"]; !there || ok != nil || m["incomplete"] != want || rep.Judged() || back.Judged() || back.Why() != want {
			t.Errorf("want %q, got %s, and back %+v", want, text, back)
		}
		rep.Violation("total", "it is not")
		if !rep.Failed() || rep.Passed() {
			t.Errorf("%s: with a violation %+v", want, rep)
		}
	}
}

func fault(r *Report) string {
	what, _ := r.Fault()
	return what
}

// What is said to be violated was claimed and is broken: not what the claim allows, though it was seen first.
func TestFaultIsOfWhatIsBroken(t *testing.T) {
	allowed, broken := Anomaly{Kind: G2, Text: "a cycle"}, Anomaly{Kind: G1c, Text: "another", Breaks: true}
	skew := Anomaly{Kind: G2, Text: "two writers", Breaks: true}
	for name, c := range map[string]struct {
		rep       Report
		what, how string
	}{ // order-free: cases of their own
		"an invariant behind an anomaly that may be": {Report{Claimed: ReadCommitted, Anomalies: []Anomaly{allowed}, Invariants: map[string]bool{"churn.pairs": false, "replicas": true}, Violated: map[string]string{"churn.pairs": "one of two"}},
			"churn.pairs", "churn.pairs: one of two"},
		"an anomaly behind one that may be": {Report{Claimed: ReadCommitted, Anomalies: []Anomaly{allowed, broken}, Invariants: map[string]bool{"churn.pairs": false}}, "read-committed", G1c + ": another"},
		"the claim of writers":              {Report{Claimed: ReadCommitted, Writers: Serializable, Anomalies: []Anomaly{allowed, skew}}, "serializable", G2 + ": two writers"},
		"the claim of all":                  {Report{Claimed: ReadCommitted, Writers: Serializable, Anomalies: []Anomaly{broken}}, "read-committed", G1c + ": another"},
	} {
		if what, how := c.rep.Fault(); what != c.what || how != c.how {
			t.Errorf("%s: %q is violated: %q; want %q, %q", name, what, how, c.what, c.how)
		}
	}
}
