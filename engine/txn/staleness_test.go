package txn

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric"
	"drtmx/engine/history"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn/audit"
)

// versionedStub is a protocol as far as its snapshots are watched.
type versionedStub struct {
	Protocol
	bound int64
	low   timestamp.Stamp
}

func (v *versionedStub) Snapshot(*Tx) Session                { return nil }
func (v *versionedStub) Bound() (int64, bool)                { return v.bound, v.bound > 0 }
func (v *versionedStub) Missable(stamp timestamp.Stamp) bool { return stamp > v.low }

// watched is a database whose clients' transactions are put together by hand.
type watched struct {
	db     *DB
	of     *versionedStub
	tables []*Table
	ages   []r2.Time
	co     *r2.Co

	recorder *history.Recorder
}

func newWatched(t interface {
	Fatal(...any)
	Cleanup(func())
}, bound int64) *watched {
	s := sim.New(sim.Options{Seed: 1})
	t.Cleanup(s.Close)
	f, err := fabric.New(s, fabric.Config{Machines: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	cl, err := r2.New(s, f, r2.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{of: &versionedStub{bound: bound}}
	cl.Spawn(1, 0, func(c *r2.Co) { w.co = c })
	if err := s.Run(r2.Time(sim.Millisecond)); err != nil || w.co == nil {
		t.Fatal("no coroutine", err)
	}
	w.db = &DB{cl: cl, protocol: w.of, opt: Options{OnSnapshotRead: func(_ int, age r2.Time) { w.ages = append(w.ages, age) }}}
	w.recorder = history.New(history.Options{Claim: history.Serializable})
	w.db.book = audit.OpenBook(w.recorder, 2, func(int) int64 { return 0 })
	w.tables = []*Table{{ID: 0, Name: "accounts"}, {ID: 1, Name: "items"}}
	w.db.tables[0], w.db.tables[1] = w.tables[0], w.tables[1]
	w.db.watch()
	return w
}

// client is a coroutine's transaction.
func (w *watched) client() *Tx {
	tx := &Tx{db: w.db, c: w.co, readWrite: Session(nil), common: Settings{Timestamps: timestamp.Options{Scheme: "dst"}}, guarantees: new(audit.Guarantees)}
	tx.snap = &stubSession{}
	return tx
}

type stubSession struct{ Session }

func (w *watched) write(tx *Tx, key, version uint64, at r2.Time, stamp timestamp.Stamp) {
	tx.run, tx.decision, tx.stamp = nil, at, stamp
	tx.set = []*Access{{Table: w.tables[key%2], Key: key, State: Fetched, Out: make([]byte, 8), Version: version - 4, Next: version}}
	w.end(tx)
}

// end commits what a transaction has done.
func (w *watched) end(tx *Tx) {
	tx.endHistory(nil)
	w.db.Gather()
}

func (w *watched) read(tx *Tx, f timestamp.Freshness, point []uint64, key, version uint64, begun r2.Time) r2.Time {
	tx.run, tx.fresh, tx.begun = tx.snap, f, begun
	tx.ReadsAt(point)
	tx.set = []*Access{{Table: w.tables[key%2], Key: key, State: Fetched, Version: version}}
	w.ages = w.ages[:0]
	w.end(tx)
	return w.ages[0]
}

// A read is as stale as the oldest newer version says, whatever has been forgotten that no snapshot lacks.
func TestStalenessAgainstAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWatched(t, 1<<40)
		tx := w.client()
		type version struct {
			seq uint64
			at  r2.Time
		}
		const keys = 5
		var list [keys][]version
		for k := range list {
			list[k] = []version{{2, 0}}
		}
		now := r2.Time(0)
		for range rapid.IntRange(1, 3000).Draw(t, "steps") {
			now += r2.Time(rapid.IntRange(0, 5).Draw(t, "pause")) * r2.Nanosecond
			k := rapid.Uint64Range(0, keys-1).Draw(t, "key")
			newest := list[k][len(list[k])-1]
			if rapid.IntRange(0, 2).Draw(t, "what") > 0 {
				w.write(tx, k, newest.seq+4, now, timestamp.Stamp(now))
				list[k] = append(list[k], version{newest.seq + 4, now})
				w.of.low = max(w.of.low, timestamp.Stamp(max(0, now-r2.Time(rapid.IntRange(0, 200).Draw(t, "low"))*r2.Nanosecond)))
				continue
			}
			i := len(list[k]) - 1 // the oldest one that a snapshot may read
			for i > 0 && list[k][i].at > r2.Time(w.of.low) {
				i--
			}
			i = rapid.IntRange(i, len(list[k])-1).Draw(t, "version")
			want := r2.Time(0)
			begun := now - r2.Time(rapid.IntRange(0, 3).Draw(t, "lasts"))*r2.Nanosecond
			if i+1 < len(list[k]) {
				want = max(0, begun-list[k][i+1].at)
			}
			if got := w.read(tx, timestamp.Stale, nil, k, list[k][i].seq, begun); got != want {
				t.Fatalf("version %d of key %d is %d ps old, want %d: %v", list[k][i].seq, k, got, want, list[k])
			}
		}
		if broken, any := w.db.StalenessVerdict(); broken != "" || !any && len(w.ages) > 0 {
			t.Fatalf("%q, %v", broken, any)
		}
	})
}

func TestStalenessBound(t *testing.T) {
	w := newWatched(t, 100)
	tx := w.client()
	writer := w.client()
	if _, any := w.db.StalenessVerdict(); any {
		t.Error("a verdict before anybody has read")
	}
	w.write(writer, 4, 6, 1000*r2.Nanosecond, 7)
	if age := w.read(tx, timestamp.BySession, []uint64{1}, 4, 2, 1100*r2.Nanosecond); age != 100*r2.Nanosecond {
		t.Errorf("%d ps old", age)
	}
	if broken, any := w.db.StalenessVerdict(); broken != "" || !any {
		t.Errorf("at the bound: %q %v", broken, any)
	}
	if ns, ok := w.db.StalenessBound(); ns != 100 || !ok {
		t.Errorf("the bound is %d, %v", ns, ok)
	}
	w.of.bound = 50 // of snapshots that begin from now on
	w.end(tx)       // again
	if broken, _ := w.db.StalenessVerdict(); broken != "" {
		t.Errorf("a snapshot that began under another bound: %q", broken)
	}
	w.of.bound = 100
	w.read(tx, timestamp.BySession, []uint64{1}, 4, 2, 1101*r2.Nanosecond)
	if broken, _ := w.db.StalenessVerdict(); broken != "the snapshot that machine 1 began at 1101 ns read version 2 of key 4 of table accounts, which was replaced at 1000 ns: 101 ns before, where at most 100 may be" {
		t.Errorf("beyond the bound: %q", broken)
	}
}

func TestSessionGuarantees(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(w *watched, tx *Tx)
		want string // "": nothing
	}{
		{"own write", func(w *watched, tx *Tx) { w.read(tx, timestamp.BySession, []uint64{9}, 4, 6, 2000) }, ""},
		{"older than the own write", func(w *watched, tx *Tx) { w.read(tx, timestamp.BySession, []uint64{9}, 4, 2, 2000) }, "read version 2 of key 4 of table accounts, and had written version 6 itself"},
		{"a strict one too", func(w *watched, tx *Tx) { w.read(tx, timestamp.Strict, []uint64{9}, 4, 2, 2000) }, "had written version 6 itself"},
		{"which a stale one may", func(w *watched, tx *Tx) { w.read(tx, timestamp.Stale, []uint64{9}, 4, 2, 2000) }, ""},
		{"another's write", func(w *watched, _ *Tx) { w.read(w.client(), timestamp.BySession, []uint64{9}, 4, 2, 2000) }, ""},
		{"the point goes on", func(w *watched, tx *Tx) {
			w.read(tx, timestamp.BySession, []uint64{9, 3}, 5, 2, 2000)
			w.read(tx, timestamp.BySession, []uint64{9, 4}, 5, 2, 2000)
		}, ""},
		{"the point goes back", func(w *watched, tx *Tx) {
			w.read(tx, timestamp.Strict, []uint64{9, 3}, 5, 2, 2000)
			w.read(tx, timestamp.BySession, []uint64{10, 2}, 5, 2, 2000)
		}, "reads at 2, one before it read at 3"},
		{"to a stale one", func(w *watched, tx *Tx) {
			w.read(tx, timestamp.Strict, []uint64{9, 3}, 5, 2, 2000)
			w.read(tx, timestamp.Stale, []uint64{1, 1}, 5, 2, 2000)
			w.read(tx, timestamp.BySession, []uint64{9, 3}, 5, 2, 2000)
		}, ""},
		{"in another scheme", func(w *watched, tx *Tx) {
			of := &Client{tx: *tx}
			w.db.own = owned.New(1, func(int) part { return part{clients: []*Client{of}} })
			tx = &of.tx
			w.read(tx, timestamp.Strict, []uint64{9, 3}, 5, 2, 2000)
			w.db.Restamped()
			w.read(tx, timestamp.BySession, []uint64{1}, 4, 2, 2000)
		}, ""},
		{"the last of many own writes", func(w *watched, tx *Tx) {
			for i := range uint64(audit.OwnWrites) {
				w.write(tx, 100+i, 6, 1500, 8)
			}
			w.read(tx, timestamp.BySession, []uint64{9}, 4, 2, 2000) // forgotten
			w.read(tx, timestamp.BySession, []uint64{9}, 100, 2, 2000)
		}, "key 100 of table accounts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWatched(t, 1<<40)
			tx := w.client()
			w.write(tx, 4, 6, 1000, 7)
			c.run(w, tx)
			rep := w.recorder.Report()
			switch {
			case c.want == "" && len(rep.Anomalies) > 0:
				t.Errorf("%+v", rep.Anomalies)
			case c.want != "" && (len(rep.Anomalies) != 1 || rep.Anomalies[0].Kind != audit.SessionGuarantee || !rep.Anomalies[0].Breaks || !strings.Contains(rep.Anomalies[0].Text, c.want)):
				t.Errorf("%+v, want %q", rep.Anomalies, c.want)
			}
		})
	}
}

// Once its memory is there, watching snapshots allocates nothing.
func TestStalenessAllocatesNothing(t *testing.T) {
	w := newWatched(t, 1<<40)
	w.db.opt.OnSnapshotRead = func(int, r2.Time) {}
	tx := w.client()
	out, point := make([]byte, 8), []uint64{1}
	set := []*Access{{Table: w.tables[0], State: Fetched, Out: out}}
	i := uint64(0)
	step := func() {
		i++
		w.of.low = timestamp.Stamp(max(i, 100) - 100)
		tx.run, tx.decision, tx.stamp, tx.set = nil, r2.Time(i), timestamp.Stamp(i), set
		set[0].Key, set[0].Version, set[0].Next, set[0].Out = i%500, 4*i, 4*i+4, out
		w.end(tx)
		tx.run, tx.fresh, tx.begun = tx.snap, timestamp.BySession, r2.Time(i)
		set[0].Version, set[0].Out = 4*i+4, nil
		tx.ReadsAt(point)
		w.end(tx)
	}
	for range 5000 {
		step()
	}
	if n := testing.AllocsPerRun(5000, step); n != 0 {
		t.Errorf("%v allocations per transaction and snapshot", n)
	}
}
