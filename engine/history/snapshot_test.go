package history

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// mixed is the rule that a history with snapshots has to keep, by brute force: it is serialisable; its read-write
// transactions among one another are strictly so; and each fresh snapshot comes after what ended before it began. A fresh
// snapshot may have one of two read-write transactions and lack another that ended before that one began: what follows from a
// snapshot for others in real time is promised only where all are strict, and is listed.
func mixed(txns []Txn) bool {
	of := func(keep func(*Txn) bool) (list []Txn) {
		for i := range txns {
			if keep(&txns[i]) {
				list = append(list, txns[i])
			}
		}
		return list
	}
	strict := func(t *Txn) bool { return t.Level == LevelStrict }
	if !serialisable(txns, false, 2) || !serialisable(of(strict), true, 2) {
		return false
	}
	for i := range txns {
		if f := &txns[i]; f.Level == LevelFresh {
			with := of(func(t *Txn) bool { return t == f || strict(t) })
			for k := range with {
				if with[k].Level == LevelStrict {
					with[k].Begin = math.MinInt64 // it may come before whatever has ended: real time is that of the snapshot alone
				}
			}
			if !serialisable(with, true, 2) {
				return false
			}
		}
	}
	return true
}

// drawLevels makes snapshots of transactions that write nothing, some of them old.
func drawLevels(t *rapid.T, txns []Txn) {
	for i := range txns {
		if x := &txns[i]; len(x.Writes) == 0 {
			x.Level = Level(rapid.IntRange(0, 2).Draw(t, "level"))
			late := rapid.Int64Range(0, 60).Draw(t, "late")
			x.Begin, x.End = x.Begin+late, x.End+late
		}
	}
}

func TestSnapshotsAgreeWithBruteForce(t *testing.T) {
	wrong, stale := 0, 0
	agree := func(t *rapid.T) {
		txns := drawSerial(t, rapid.IntRange(2, 6).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "keys"))
		drawLevels(t, txns)
		for range rapid.IntRange(0, 2).Draw(t, "mutations") {
			mutate(t, txns)
		}
		for i := range txns {
			if txns[i].Level != LevelStrict {
				txns[i].Writes = nil
			}
		}
		want := mixed(txns)
		rep := Check(txns, Options{Claim: Serializable, Writers: StrictSerializable, Initial: 2, KeyName: letter})
		if rep.Failed() == want {
			t.Fatalf("brute force says %v, the checker %v: %+v\n%+v", want, rep.OK, rep.Anomalies, txns)
		}
		if !want {
			wrong++
		}
		if rep.Stale > 0 {
			stale++
		}
	}
	for range 20 { // in one round of a hundred there may be no stale snapshot
		rapid.Check(t, agree)
	}
	t.Logf("%d wrong, %d with stale snapshots", wrong, stale)
	if wrong == 0 || stale == 0 {
		t.Error("nothing was put to the test")
	}
}

// A fresh snapshot that has a write and lacks one that ended before the transaction of the first began is serialisable, and is listed.
func TestFreshSnapshotOfWritersOutOfOrder(t *testing.T) {
	for _, end := range []int64{0, 40} {
		txns := []Txn{
			{ID: 1, Begin: 0, End: end, Level: LevelFresh, Reads: []Read{{x, 2}, {y, 4}}},
			{ID: 2, Session: 1, Begin: 10, End: 10, Writes: []Write{{x, 2, 4}}},
			{ID: 3, Session: 2, Begin: 30, End: 30, Writes: []Write{{y, 2, 4}}},
		}
		o := Options{Claim: Serializable, Writers: StrictSerializable, Initial: 2, KeyName: letter}
		if rep := Check(txns, o); !mixed(txns) || rep.Failed() || len(rep.Anomalies) != 1 || rep.Anomalies[0].Kind != RealTime {
			t.Errorf("it ends at %d: by brute force %v, %v %+v", end, mixed(txns), rep.OK, rep.Anomalies)
		}
		txns[0].Begin, txns[0].End = 20, 50
		if rep := Check(txns, o); mixed(txns) || !rep.Failed() {
			t.Errorf("it begins after a write that it lacks: by brute force %v, %v %+v", mixed(txns), rep.OK, rep.Anomalies)
		}
	}
}

// snapshots makes simulated runs of writers and snapshots.
type snapshots struct {
	rnd  *rand.Rand
	old  int64 // how far back a snapshot reads at most
	flaw float64
}

// simulate is a run of writers, each of which takes effect at its end with that time as its stamp, and of snapshots
// that read what was there at a point up to old before their begin. With a flaw one of the reads is of the version before.
func (s *snapshots) simulate(n, keys int, levels ...Level) (calls []call, low func(at int64) uint64) {
	type version struct {
		seq uint64
		at  int64
	}
	state := make([][]version, keys)
	for k := range state {
		state[k] = []version{{2, 0}}
	}
	at := func(k int, point int64) (i int) {
		for i = len(state[k]) - 1; state[k][i].at > point; i-- {
		}
		return i
	}
	now := int64(10)
	for id := range uint64(n) {
		begin := now
		now += 10
		t := &Txn{ID: id + 1, Session: uint32(id % 3), Begin: begin, End: now}
		a, b := s.rnd.IntN(keys), s.rnd.IntN(keys-1)
		if b >= a {
			b++
		}
		calls = append(calls, call{session: t.Session, at: begin})
		if id%2 == 0 {
			v := state[a][len(state[a])-1]
			w := state[b][len(state[b])-1]
			t.Stamp = uint64(now)
			t.Reads = []Read{{MakeKey(1, uint64(a)), v.seq}, {MakeKey(1, uint64(b)), w.seq}}
			t.Writes = []Write{{MakeKey(1, uint64(a)), v.seq, v.seq + 2}}
			state[a] = append(state[a], version{v.seq + 2, now})
		} else {
			t.Level = levels[s.rnd.IntN(len(levels))]
			point := begin
			if t.Level == LevelSnapshot {
				point = max(0, begin-s.rnd.Int64N(s.old))
			}
			i, j := at(a, point), at(b, point)
			if s.rnd.Float64() < s.flaw && i > 0 {
				i--
			}
			t.Reads = []Read{{MakeKey(1, uint64(a)), state[a][i].seq}, {MakeKey(1, uint64(b)), state[b][j].seq}}
		}
		calls = append(calls, call{t.Session, t.End, t})
	}
	return calls, func(at int64) uint64 { return uint64(max(0, at-s.old-20)) }
}

// A window keeps what snapshots may miss: it finds what the whole history shows. Beyond that it finds versions older
// than any that a snapshot needs, as it knows which are.
func TestWindowOfSnapshots(t *testing.T) {
	wrong, lost := 0, 0
	for seed := range uint64(300) {
		s := &snapshots{rnd: rand.New(rand.NewPCG(seed, 9)), old: 1 + 40*int64(seed%7)}
		if seed%3 != 0 {
			s.flaw = 0.01
		}
		calls, low := s.simulate(600, 3+int(seed%5), LevelSnapshot, LevelSnapshot, LevelFresh)
		for _, claim := range []Claim{Serializable, SnapshotIsolation} {
			o := Options{Claim: claim, Writers: StrictSerializable, Initial: 2, Window: 1}
			whole := Check(transactions(calls), o)
			r := narrow(o, 5)
			now := int64(0)
			r.Needs(func(stamp uint64) bool { return stamp > low(now) }, "see fewer")
			most := 0
			for _, c := range calls {
				now = c.at
				play(r, []call{c})
				most = max(most, len(r.now.txns))
			}
			part := r.Finish()
			beyond := func(a Anomaly) bool { return a.Breaks && a.Kind != VersionLost }
			if whole.Failed() && !part.Failed() || !whole.Failed() && slices.ContainsFunc(part.Anomalies, beyond) {
				t.Fatalf("seed %d %s: whole %v %+v\nwindow %v %+v", seed, claim, whole.OK, whole.Anomalies, part.OK, part.Anomalies)
			}
			if s.flaw == 0 && (part.Count != whole.Count || whole.Failed() || part.Failed() || part.Stale != part.Count) {
				t.Fatalf("seed %d: %+v\n%+v", seed, whole, part)
			}
			if most > 400 {
				t.Errorf("%d transactions in the window", most)
			}
			for _, a := range part.Anomalies {
				if a.Kind == VersionLost {
					lost++
				}
			}
			if part.Failed() {
				wrong++
			}
		}
	}
	if wrong < 100 {
		t.Errorf("only %d histories were wrong", wrong)
	}
	t.Logf("%d wrong, %d versions lost", wrong, lost)
}

var (
	x = MakeKey(1, 'x')
	y = MakeKey(1, 'y')
)

func finish(o Options, txns ...Txn) Report {
	o.Initial, o.KeyName = 2, letter
	return Check(txns, o)
}

func TestLevels(t *testing.T) {
	dst := Options{Claim: Serializable, Writers: StrictSerializable}
	write := func(id uint64, begin, end int64, k Key, old uint64) Txn {
		return Txn{ID: id, Begin: begin, End: end, Writes: []Write{{k, old, old + 2}}}
	}
	read := func(l Level, id uint64, begin int64, vx, vy uint64) Txn {
		return Txn{ID: id, Level: l, Begin: begin, End: begin + 5, Reads: []Read{{x, vx}, {y, vy}}}
	}
	for _, c := range []struct {
		name   string
		o      Options
		txns   []Txn
		kind   string // "": none
		breaks bool
		stale  uint64
	}{
		{"a snapshot may be old", dst, []Txn{write(1, 0, 10, x, 2), read(LevelSnapshot, 2, 20, 2, 2)}, RealTime, false, 1},
		{"a fresh one may not", dst, []Txn{write(1, 0, 10, x, 2), read(LevelFresh, 2, 20, 2, 2)}, RealTime, true, 0},
		{"nor a read-write transaction", dst, []Txn{write(1, 0, 10, x, 2), {ID: 2, Begin: 20, End: 25, Reads: []Read{{x, 2}}}}, RealTime, true, 0},
		{"what follows from a stale one is nobody's", dst,
			[]Txn{write(1, 0, 10, x, 2), write(2, 20, 30, y, 2), read(LevelSnapshot, 3, 20, 2, 4)}, RealTime, false, 1},
		{"what follows from a fresh one is reported", dst, // T2 before T3 before T1, which ended before T2 began
			[]Txn{write(1, 2, 10, x, 2), write(2, 20, 30, y, 2), read(LevelFresh, 3, 5, 2, 4)}, RealTime, false, 0},
		{"and not allowed where all is strict", Options{Claim: StrictSerializable},
			[]Txn{write(1, 2, 10, x, 2), write(2, 20, 30, y, 2), read(LevelFresh, 3, 5, 2, 4)}, RealTime, true, 0},
		{"nor where writers claim no order", Options{Claim: ReadCommitted}, []Txn{write(1, 0, 10, x, 2), read(LevelFresh, 2, 20, 2, 2)}, RealTime, true, 0},
		{"half of a transaction", dst,
			[]Txn{{ID: 1, End: 10, Writes: []Write{{x, 2, 4}, {y, 2, 4}}}, read(LevelSnapshot, 2, 20, 4, 2)}, GSingle, true, 0},
		{"long fork", dst,
			[]Txn{write(1, 0, 30, x, 2), write(2, 0, 30, y, 2), read(LevelSnapshot, 3, 20, 4, 2), read(LevelSnapshot, 4, 20, 2, 4)}, G2, true, 0},
		{"long fork under snapshot isolation", Options{Claim: SnapshotIsolation, Writers: StrictSerializable},
			[]Txn{write(1, 0, 30, x, 2), write(2, 0, 30, y, 2), read(LevelSnapshot, 3, 20, 4, 2), read(LevelSnapshot, 4, 20, 2, 4)}, G2, false, 0},
		{"write skew of writers under snapshot isolation for readers", Options{Claim: SnapshotIsolation, Writers: StrictSerializable},
			[]Txn{{ID: 1, End: 30, Reads: []Read{{x, 2}}, Writes: []Write{{y, 2, 4}}}, {ID: 2, End: 30, Reads: []Read{{y, 2}}, Writes: []Write{{x, 2, 4}}}}, G2, true, 0},
		{"write skew in a long fork", Options{Claim: SnapshotIsolation, Writers: StrictSerializable},
			[]Txn{{ID: 1, End: 30, Reads: []Read{{x, 2}}, Writes: []Write{{y, 2, 4}}}, {ID: 2, End: 30, Reads: []Read{{y, 2}}, Writes: []Write{{x, 2, 4}}},
				read(LevelSnapshot, 3, 20, 4, 2), read(LevelSnapshot, 4, 20, 2, 4)}, G2, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := finish(c.o, c.txns...)
			if len(rep.Anomalies) != 1 || rep.Anomalies[0].Kind != c.kind || rep.Anomalies[0].Breaks != c.breaks || rep.Failed() != c.breaks || rep.Stale != c.stale {
				t.Errorf("%+v, want %s, breaks %v, stale %d", rep, c.kind, c.breaks, c.stale)
			}
			if stale := strings.HasSuffix(rep.Anomalies[0].Text, ": a stale snapshot"); stale != (c.stale > 0) {
				t.Errorf("text %q", rep.Anomalies[0].Text)
			}
		})
	}
}

// A fresh snapshot lacks a write of T2, which did not see that of T1, which ended before the snapshot began. Where writers have an order
// the snapshot would come before T1; read committed has none.
func TestFreshSnapshotOfWritersWithoutOrder(t *testing.T) {
	txns := []Txn{
		{ID: 1, Begin: 0, End: 10, Writes: []Write{{y, 2, 4}}},
		{ID: 2, Session: 1, Begin: 0, End: 30, Reads: []Read{{y, 2}}, Writes: []Write{{x, 2, 4}}},
		{ID: 3, Session: 2, Begin: 20, End: 25, Level: LevelFresh, Reads: []Read{{x, 2}}},
	}
	for claim, fails := range map[Claim]bool{StrictSerializable: true, Serializable: true, SnapshotIsolation: false, ReadCommitted: false} {
		if rep := finish(Options{Claim: claim}, txns...); rep.Failed() != fails {
			t.Errorf("%s: %+v", claim, rep)
		}
	}
}

// Stale snapshots do not crowd out what breaks the claim.
func TestStaleSnapshotsAreCounted(t *testing.T) {
	txns := []Txn{{ID: 1, End: 10, Writes: []Write{{x, 2, 4}}}}
	for i := range uint64(50) {
		txns = append(txns, Txn{ID: 2 + i, Level: LevelSnapshot, Begin: 20, End: 30, Reads: []Read{{x, 2}}})
	}
	txns = append(txns, Txn{ID: 99, Begin: 20, End: 31, Writes: []Write{{x, 2, 4}}})
	rep := finish(Options{Claim: Serializable, Writers: StrictSerializable}, txns...)
	if rep.Stale != 50 || rep.Count <= rep.Stale || !rep.Failed() || len(rep.Anomalies) >= 16 {
		t.Errorf("%+v", rep)
	}
	if !slices.ContainsFunc(rep.Anomalies, func(a Anomaly) bool { return a.Kind == LostUpdate && a.Breaks }) {
		t.Errorf("the lost update is not listed: %+v", rep.Anomalies)
	}
}

// A snapshot older than any may be is seen when what it lacks has left the window.
func TestVersionLost(t *testing.T) {
	r := narrow(Options{Claim: Serializable, Writers: StrictSerializable, Initial: 2, Window: 1, KeyName: letter}, 2)
	low := uint64(0)
	r.Needs(func(stamp uint64) bool { return stamp > low }, "see fewer")
	add := func(at int64, x Txn) {
		x.ID, x.Begin, x.End = uint64(at), at, at+5
		r.Begin(0, at)
		r.Add(&x)
	}
	add(10, Txn{Stamp: 10, Writes: []Write{{x, 2, 4}}})
	for at := int64(20); at < 400; at += 10 {
		add(at, Txn{Reads: []Read{{y, 2}}})
	}
	add(400, Txn{Level: LevelSnapshot, Reads: []Read{{x, 2}}})
	if rep := r.Finish(); rep.Failed() || rep.Stale != 1 {
		t.Fatalf("a snapshot that may be as old: %+v", rep)
	}
	low = 10
	for at := int64(500); at < 900; at += 10 {
		add(at, Txn{Reads: []Read{{y, 2}}})
	}
	if n := len(r.now.txns); n > 8 {
		t.Errorf("%d transactions in the window", n)
	}
	add(900, Txn{Level: LevelSnapshot, Reads: []Read{{x, 2}}})
	rep := r.Finish()
	if i := slices.IndexFunc(rep.Anomalies, func(a Anomaly) bool { return a.Kind == VersionLost }); !rep.Failed() || i < 0 ||
		!strings.HasPrefix(rep.Anomalies[i].Text, "T900 read x at version 2, although no snapshot needs a version older than 4 of T10") {
		t.Errorf("%+v", rep)
	}
}

// Without room for what snapshots may lack the verdict says so, and is no false alarm.
func TestSnapshotsWithoutRoom(t *testing.T) {
	s := &snapshots{rnd: rand.New(rand.NewPCG(1, 9)), old: 1 << 40}
	calls, _ := s.simulate(20_000, 50, LevelSnapshot)
	r := narrow(Options{Claim: Serializable, Writers: StrictSerializable, Initial: 2, Window: 1, Capacity: 1000}, 100)
	r.Needs(func(uint64) bool { return true }, "see fewer")
	play(r, calls)
	if n := len(r.now.txns); n > 3500 {
		t.Errorf("%d transactions in the window", n)
	}
	if rep := r.Finish(); rep.OK != Undecided || !strings.Contains(rep.Why(), "missed; see fewer, or set check=sampled") {
		t.Errorf("%v %q %+v", rep.OK, rep.Why(), rep.Anomalies)
	}
}

// After a change of scheme nothing of before is held back, whatever its stamps.
func TestRestamp(t *testing.T) {
	r := narrow(Options{Claim: Serializable, Initial: 2, Window: 1}, 100)
	r.Needs(func(stamp uint64) bool { return stamp > 5 }, "see fewer")
	for at := int64(10); at < 500; at += 10 {
		r.Begin(0, at)
		r.Add(&Txn{ID: uint64(at), Begin: at, End: at + 5, Stamp: uint64(at), Writes: []Write{{x, uint64(at/5) + 0, uint64(at/5) + 2}}})
	}
	r.Finish()
	if n := len(r.now.txns); n != 49 {
		t.Fatalf("%d transactions in the window", n)
	}
	r.Restamp()
	r.Finish()
	if n := len(r.now.txns); n != 0 {
		t.Errorf("%d transactions in the window", n)
	}
}

// What a plain run adds to the digest does not depend on these fields; what a snapshot is, does.
func TestHashOfLevels(t *testing.T) {
	of := func(t Txn) uint64 {
		r := New(Options{})
		r.Add(&t)
		return r.Hash()
	}
	seen := map[uint64]bool{}
	for _, t := range []Txn{{ID: 1}, {ID: 1, Level: LevelSnapshot}, {ID: 1, Level: LevelFresh}, {ID: 1, Stamp: 1}} {
		seen[of(t)] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d hashes of 4 transactions", len(seen))
	}
}

func TestWeaken(t *testing.T) {
	order := []Claim{ReadUncommitted, ReadCommitted, SnapshotIsolation, Serializable, StrictSerializable}
	for i, a := range order {
		for j, b := range order {
			if got := Weaker(a, b); got != order[min(i, j)] {
				t.Errorf("the weaker one of %s and %s is %s", a, b, got)
			}
		}
	}
	r := New(Options{Writers: StrictSerializable})
	r.Weaken(Serializable, StrictSerializable)
	r.Weaken(StrictSerializable, StrictSerializable)
	if rep := r.Report(); rep.Claimed != Serializable || rep.Writers != StrictSerializable {
		t.Errorf("%+v", rep)
	}
	if r.Weaken(ReadCommitted, ReadCommitted); r.Report().Writers != "" || r.Report().Claimed != ReadCommitted {
		t.Errorf("%+v", r.Report())
	}
}

// A component has a short cycle through a snapshot, which the claim of snapshots allows, and a longer one of read-write transactions
// alone, which breaks what these promise one another: that one is told.
func TestAllowedCycleHidesNoOther(t *testing.T) {
	const x, y, z, p, q, r = Key('x'), Key('y'), Key('z'), Key('p'), Key('q'), Key('r')
	read, write := func(k Key) Read { return Read{Key: k, Version: 2} }, func(k Key) Write { return Write{Key: k, Old: 2, New: 4} }
	writer := func(id uint64, reads []Read, writes ...Write) Txn {
		return Txn{ID: id, Session: uint32(id), Begin: 10, End: 100, Reads: reads, Writes: writes}
	}
	all := []Txn{
		writer(1, []Read{read(x)}, write(z), write(r)), // before 2, which overwrites x, and so on round
		writer(2, []Read{read(p)}, write(x), write(y)),
		writer(3, []Read{read(q)}, write(p)),
		writer(4, []Read{read(r)}, write(q)),
		{ID: 5, Session: 5, Begin: 10, End: 100, Level: LevelSnapshot, Reads: []Read{{Key: y, Version: 4}, read(z)}}, // behind 2, before 1
	}
	o := Options{Claim: SnapshotIsolation, Writers: StrictSerializable, Initial: 2, KeyName: letter}
	if rep := Check(slices.Concat(all[:2], all[4:]), o); rep.Failed() || len(rep.Anomalies) != 1 || rep.Anomalies[0].Kind != G2 {
		t.Errorf("with the snapshot's cycle alone: %v, %+v, want a G2 that is allowed", rep.OK, rep.Anomalies)
	}
	rep := Check(all, o)
	if !rep.Failed() || len(rep.Anomalies) != 1 || rep.Anomalies[0].Kind != G2 || len(rep.Anomalies[0].Cycle) != 4 {
		t.Errorf("with a cycle of four writers too: %v, %+v, want it", rep.OK, rep.Anomalies)
	}
}
