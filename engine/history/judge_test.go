package history

import (
	"reflect"
	"testing"
)

// What is judged early was there: whatever is found is found again by the check that comes later,
// and nothing else changes, however often one looks.
func TestJudgeLeavesTheRecorderAsItWas(t *testing.T) {
	early := 0
	for seed := range uint64(200) {
		calls := simulate(shape{
			seed: seed, txns: 200, sessions: 2 + int(seed%9), keys: 3 + int(seed%40), reads: 2, writes: 1,
			flaw: 0.005, flaws: []string{"stale", "unknown", "lost"},
		})
		for _, o := range []Options{{Window: 1}, {Window: 1, Initial: 2, Anomalies: 2}, {Mode: Sampled, SampleEvery: 2}} {
			judged, plain := narrow(o, 20), narrow(o, 20)
			broken := false
			for i := range calls {
				play(judged, calls[i:i+1])
				play(plain, calls[i:i+1])
				rep := judged.Judge()
				if rep.Transactions != judged.checked || broken && !rep.Failed() {
					t.Fatalf("seed %d, call %d: broken before: %v, now %+v", seed, i, broken, rep)
				}
				if broken = rep.Failed(); broken && judged.Report().OK != Violated {
					early++
				}
				if a, b := judged.Report(), plain.Report(); !reflect.DeepEqual(a, b) {
					t.Fatalf("seed %d, call %d:\n%+v\n%+v", seed, i, a, b)
				}
			}
			a, b := judged.Finish(), plain.Finish()
			if !reflect.DeepEqual(a, b) || broken && !a.Failed() || !reflect.DeepEqual(judged.keys, plain.keys) {
				t.Fatalf("seed %d:\n%+v\n%+v", seed, a, b)
			}
		}
	}
	if early < 100 {
		t.Errorf("only %d looks found what no check had seen", early)
	}
}

// A cycle among transactions that no check has seen yet is seen, told with its text and found again.
func TestJudgeSeesTheLatest(t *testing.T) {
	r := New(Options{})
	for _, x := range []Txn{
		{ID: 1, Session: 1, Begin: 0, End: 9, Reads: []Read{{1, 2}}, Writes: []Write{{2, 2, 4}}},
		{ID: 2, Session: 2, Begin: 0, End: 9, Reads: []Read{{2, 2}}, Writes: []Write{{1, 2, 4}}},
	} {
		r.Begin(x.Session, x.Begin)
		r.Add(&x)
	}
	if rep := r.Report(); rep.OK != Undecided || rep.Transactions != 0 {
		t.Errorf("%+v", rep)
	}
	early := r.Judge()
	if !early.Failed() || early.Transactions != 2 || early.Count != 1 {
		t.Errorf("%+v", early)
	}
	if last := r.Finish(); !reflect.DeepEqual(early, last) {
		t.Errorf("\n%+v\n%+v", early, last)
	}
}
