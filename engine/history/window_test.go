package history

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// narrow is a recorder that checks after every few transactions and keeps no
// more than it must.
func narrow(o Options, every int) *Recorder {
	r := New(o)
	r.segment = every
	r.limit = every
	return r
}

// In the claim that the protocols make, a window finds what the whole history
// shows, and in no claim does it find more.
func TestWindowFindsWhatTheWholeShows(t *testing.T) {
	found := 0
	for seed := range uint64(400) {
		s := shape{
			seed: seed, txns: 300, sessions: 2 + int(seed%9), keys: 3 + int(seed%40), reads: 2, writes: 1,
			flaws: []string{"stale", "unknown", "between", "lost"},
		}
		if seed%4 != 0 {
			s.flaw = 0.005
		}
		calls := simulate(s)
		for _, claim := range []Claim{StrictSerializable, Serializable, ReadCommitted} {
			for _, initial := range []uint64{0, 2} {
				o := Options{Claim: claim, Initial: initial, Window: 1}
				whole := Check(transactions(calls), o)
				r := narrow(o, 5)
				play(r, calls)
				part := r.Finish()
				if claim == StrictSerializable && part.Failed() != whole.Failed() || part.Failed() && !whole.Failed() {
					t.Fatalf("seed %d %s: whole %v %+v\nwindow %v %+v", seed, claim, whole.OK, whole.Anomalies, part.OK, part.Anomalies)
				}
				if s.flaw == 0 && (part.Count > 0 || whole.Count > 0) {
					t.Fatalf("seed %d: %+v %+v", seed, part, whole)
				}
				if part.Transactions != whole.Transactions {
					t.Fatalf("seed %d: %d and %d transactions", seed, part.Transactions, whole.Transactions)
				}
				if part.Failed() && claim == StrictSerializable {
					found++
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d histories were wrong", found)
	}
}

// A value that does not belong to its version is found while its writer is in the window and
// when it has long left it, and nothing else is: the versions are as they should be.
func TestWrongValues(t *testing.T) {
	for seed := range uint64(100) {
		s := shape{
			seed: seed, txns: 400, sessions: 2 + int(seed%9), keys: 3 + int(seed%40), reads: 2, writes: 1,
			flaws: []string{"value"},
		}
		if seed%4 != 0 {
			s.flaw = 0.01
		}
		calls := simulate(s)
		for _, initial := range []uint64{0, 2} {
			whole := Check(transactions(calls), Options{Initial: initial, Anomalies: 1000})
			r := narrow(Options{Initial: initial, Window: 1, Anomalies: 1000}, 5)
			play(r, calls)
			part := r.Finish()
			if whole.Failed() != (s.flaw != 0) || part.OK != whole.OK {
				t.Fatalf("seed %d, share of flaws %g: whole %v, window %v", seed, s.flaw, whole.OK, part.OK)
			}
			for _, a := range append(whole.Anomalies, part.Anomalies...) {
				if a.Kind != WrongValue || !a.Breaks {
					t.Fatalf("seed %d: %+v", seed, a)
				}
			}
			if part.Count < whole.Count { // of a version that comes into the window again it tells again
				t.Errorf("seed %d: %d versions with two values, of the window %d", seed, whole.Count, part.Count)
			}
		}
	}
}

func TestSum(t *testing.T) {
	value := make([]byte, 21)
	seen := map[uint64]bool{Sum(nil): true}
	for n := 1; n <= len(value); n++ { // its length counts, and each of its bits
		for i := range n {
			for bit := range 8 {
				value[i] ^= 1 << bit
				seen[Sum(value[:n])] = true
				value[i] ^= 1 << bit
			}
		}
	}
	if want := 1 + 8*len(value)*(len(value)+1)/2; len(seen) != want || seen[0] {
		t.Errorf("%d names, want %d", len(seen), want)
	}
}

// A history that fits into the window gives the same report, however often it
// is checked on the way.
func TestWideWindowIsTheWhole(t *testing.T) {
	for seed := range uint64(200) {
		calls := simulate(shape{
			seed: seed, txns: 60, sessions: 6, keys: 10, reads: 2, writes: 1,
			flaw: 0.02, flaws: []string{"stale", "unknown", "lost"},
		})
		o := Options{Window: 1 << 60, Initial: 2, Anomalies: 100}
		whole := New(o)
		play(whole, calls)
		a := whole.Finish()
		often := narrow(o, 1<<20)
		play(often, calls)
		often.Report()
		b := often.Finish()
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d:\n%+v\n%+v", seed, a, b)
		}
	}
}

func TestSampleIsSound(t *testing.T) {
	for seed := range uint64(50) {
		s := shape{seed: seed, txns: 2000, sessions: 8, keys: 100, reads: 3, writes: 2}
		r := narrow(Options{Mode: Sampled, SampleEvery: 4, Initial: 2, Window: 1}, 50)
		play(r, simulate(s))
		rep := r.Finish()
		if rep.Count > 0 {
			t.Fatalf("seed %d: %+v", seed, rep.Anomalies)
		}
		if rep.Seen != 2000 || rep.Transactions < 1000 || rep.Transactions >= 2000 {
			t.Fatalf("%d of %d checked", rep.Transactions, rep.Seen)
		}
		s.flaw, s.flaws = 0.02, []string{"stale", "lost"}
		r = narrow(Options{Mode: Sampled, SampleEvery: 4, Initial: 2}, 50)
		play(r, simulate(s))
		if rep := r.Finish(); !rep.Failed() {
			t.Fatalf("seed %d: nothing found", seed)
		}
	}
}

// The window holds little more than what is active, whatever the length.
func TestWindowStaysSmall(t *testing.T) {
	r := narrow(Options{Initial: 2, Window: 1_000_000}, 100)
	most := 0
	for _, c := range simulate(shape{seed: 1, txns: 50_000, sessions: 50, keys: 1000, reads: 2, writes: 1}) {
		if c.txn == nil {
			r.Begin(c.session, c.at)
			continue
		}
		r.Add(c.txn)
		most = max(most, len(r.now.txns))
	}
	if rep := r.Finish(); rep.Count > 0 {
		t.Fatal(rep.Anomalies)
	}
	if most > 800 {
		t.Errorf("%d transactions in the window", most)
	}
	if n := len(r.now.txns); n != 0 {
		t.Errorf("%d transactions left", n)
	}
}

// A session that never ends holds the window open up to its capacity and not
// beyond, and what it does at last is no false alarm.
func TestStuckSession(t *testing.T) {
	calls := simulate(shape{seed: 3, txns: 20_000, sessions: 20, keys: 50, reads: 1, writes: 1})
	r := narrow(Options{Initial: 2, Window: 1_000_000, Capacity: 1000}, 100)
	r.Begin(77, 0)
	play(r, calls)
	if n := len(r.now.txns); n > 3500 {
		t.Errorf("%d transactions in the window", n)
	}
	last := calls[len(calls)-1].at
	r.Add(&Txn{ID: 1 << 40, Session: 77, End: last, Reads: []Read{{MakeKey(1, 3), 2}}})
	rep := r.Finish()
	if !rep.Overflowed || rep.Count > 0 {
		t.Errorf("%+v", rep)
	}
	if rep.Invariant("total", true); rep.OK != Undecided || !strings.Contains(rep.Why(), "more than 1000 others") {
		t.Errorf("with a session that nobody waited for: %v, %q", rep.OK, rep.Why())
	}
}

// Forgotten records are taken up again without a false alarm.
func TestForgottenKeys(t *testing.T) {
	for _, initial := range []uint64{0, 2} {
		r := narrow(Options{Initial: initial, Window: 1_000_000, Keys: 300}, 100)
		play(r, simulate(shape{seed: 3, txns: 20_000, sessions: 20, keys: 2000, reads: 1, writes: 1}))
		rep := r.Finish()
		if !r.forgot || rep.Count > 0 {
			t.Errorf("forgot %v, %+v", r.forgot, rep)
		}
	}
}

// Without Begin nobody knows who is on the way, and a writer may be recorded
// long after its readers.
func TestWithoutBegin(t *testing.T) {
	r := narrow(Options{Window: 1}, 4)
	k := MakeKey(1, 1)
	for i := range int64(50) {
		r.Add(&Txn{ID: uint64(i), Begin: 100 * i, End: 100*i + 50, Reads: []Read{{k, 4}}})
	}
	if rep := r.Report(); rep.Count > 0 {
		t.Fatal(rep.Anomalies)
	}
	r.Add(&Txn{ID: 99, Begin: 0, End: 5000, Reads: []Read{{k, 2}}, Writes: []Write{{k, 2, 4}}})
	if rep := r.Finish(); rep.Count > 0 || rep.Transactions != 51 {
		t.Fatal(rep)
	}
}

// Finish is not the end.
func TestGoOnAfterFinish(t *testing.T) {
	calls := simulate(shape{seed: 5, txns: 3000, sessions: 5, keys: 20, reads: 1, writes: 1})
	r := New(Options{Initial: 2})
	for i, c := range calls {
		play(r, calls[i:i+1])
		if c.txn != nil && c.txn.ID%500 == 0 {
			r.Finish()
		}
	}
	if rep := r.Finish(); rep.Count > 0 || rep.Transactions != 3000 {
		t.Fatal(rep)
	}
}

// A version that nobody installed is found also when a later one leaves the window before those who
// touched it may: nobody overwrote it, so nobody has to stay with them.
func TestVersionPassedBy(t *testing.T) {
	k := MakeKey(1, 1)
	for name, x := range map[string]Txn{
		"read":      {Reads: []Read{{k, 3}}},
		"overwrote": {Writes: []Write{{k, 3, 6}}},
	} {
		x.ID, x.Session, x.Begin, x.End = 2, 2, 0, 100
		calls := []call{{session: 2, at: 0}, {session: 1, at: 10},
			{1, 50, &Txn{ID: 1, Session: 1, Begin: 10, End: 50, Writes: []Write{{k, 2, 4}}}}, {session: 3, at: 60},
			{2, 100, &x}, {3, 101, &Txn{ID: 3, Session: 3, Begin: 60, End: 101, Reads: []Read{{MakeKey(1, 2), 2}}}}}
		r := narrow(Options{Initial: 2, Window: 1}, 3)
		play(r, calls)
		if n := len(r.now.txns); n != 2 {
			t.Fatalf("%d transactions are left in the window, want the two that ended last", n)
		}
		rep := r.Finish()
		if !rep.Failed() || rep.Count != 1 || rep.Anomalies[0].Kind != UnknownVersion || !strings.Contains(rep.Anomalies[0].Text, "T2 "+name+" 1/1 at version 3") {
			t.Errorf("%s: %+v", name, rep)
		}
	}
}

func TestAbortedVersionsAreRemembered(t *testing.T) {
	r := narrow(Options{Initial: 2, Window: 1}, 2)
	k := MakeKey(1, 1)
	r.Begin(0, 0)
	r.Add(&Txn{ID: 7, Begin: 0, End: 10, Status: Aborted, Writes: []Write{{k, 2, 4}}})
	for i := range int64(20) {
		at := 100 * (i + 1)
		r.Begin(0, at)
		r.Add(&Txn{ID: uint64(100 + i), Begin: at, End: at + 50, Reads: []Read{{MakeKey(1, 2), 2}}})
	}
	r.Begin(0, 3000)
	r.Add(&Txn{ID: 8, Begin: 3000, End: 3001, Reads: []Read{{k, 4}}})
	rep := r.Finish()
	if rep.Count != 1 || rep.Anomalies[0].Kind != G1a {
		t.Fatal(rep)
	}
}

// load drives a recorder as a cluster would: sessions take turns, each of their
// transactions takes effect when it ends, and the same Txn is used again.
type load struct {
	r     *Recorder
	rnd   *rand.Rand
	state []uint64
	txn   Txn
	n     uint64
}

const loadSessions = 3072 // 16 nodes x 24 threads x 8 coroutines

func newLoad(o Options, keys int) *load {
	l := &load{r: New(o), rnd: rand.New(rand.NewPCG(1, 2)), state: make([]uint64, keys)}
	for i := range l.state {
		l.state[i] = 2
	}
	for s := range uint32(loadSessions) {
		l.r.Begin(s, int64(s))
	}
	return l
}

// step ends one transaction (two reads, one of them overwritten) and begins the next.
func (l *load) step() {
	session := uint32(l.n % loadSessions)
	t := &l.txn
	at := int64(l.n+loadSessions) * 11_000
	t.ID, t.Session, t.Begin, t.End = l.n, session, at-loadSessions*11_000, at
	t.Reads, t.Writes = t.Reads[:0], t.Writes[:0]
	a, b := l.rnd.IntN(len(l.state)), l.rnd.IntN(len(l.state))
	t.Reads = append(t.Reads, Read{Key(a), l.state[a]})
	if a != b {
		t.Reads = append(t.Reads, Read{Key(b), l.state[b]})
	}
	t.Writes = append(t.Writes, Write{Key(a), l.state[a], l.state[a] + 2})
	l.state[a] += 2
	l.r.Add(t)
	l.r.Begin(session, at)
	l.n++
}

func TestAddAllocatesNothing(t *testing.T) {
	for _, m := range []Mode{Full, Sampled} {
		l := newLoad(Options{Mode: m, Initial: 2}, 10_000)
		for range 100_000 {
			l.step()
		}
		if n := testing.AllocsPerRun(50_000, l.step); n != 0 {
			t.Errorf("%s: %v allocations per transaction", m, n)
		}
		if rep := l.r.Finish(); rep.Count > 0 {
			t.Error(rep.Anomalies)
		}
	}
}

// BenchmarkAdd is recording and checking together, per transaction.
func BenchmarkAdd(b *testing.B) {
	for _, m := range []Mode{Full, Sampled, Off} {
		for _, keys := range []int{1000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/keys=%d", m, keys), func(b *testing.B) {
				l := newLoad(Options{Mode: m, Initial: 2}, keys)
				for range 1_000_000 {
					l.step()
				}
				b.ReportAllocs()
				for b.Loop() {
					l.step()
				}
				if rep := l.r.Finish(); rep.Count > 0 {
					b.Fatal(rep.Anomalies)
				}
			})
		}
	}
}
