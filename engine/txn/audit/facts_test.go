package audit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// testBook is a book of some machines with a clock.
type testBook struct {
	*Book
	now int64
	of  Table
	rec *Recorder
}

func newTestBook(machines int) *testBook {
	x := &testBook{rec: history.New(history.Options{})}
	x.Book = OpenBook(x.rec, machines, func(int) int64 { return x.now })
	x.of.Open(x.Book, 3, 1000, false)
	return x
}

// What tokens stand for is what one would have heard who hears of all that happens at once, whenever it is gathered.
func TestFacts(t *testing.T) {
	const machines, keys = 4, 5
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		x := newTestBook(machines)
		var d deletions
		c := newCommits(1000)
		type asked struct{ token, next, want, after uint64 }
		var list []asked
		for co := range uint32(machines) {
			x.Begin(int(co), co, 0) // no value is dropped
		}
		for range 4000 {
			x.now += 1 + rnd.Int64N(500)
			m, key := rnd.IntN(machines), rnd.Uint64N(keys)
			ref, stamp, gap := store.Ref(rnd.Uint64N(6)), 2*rnd.Uint64N(1000), uint32(rnd.IntN(50))
			a := asked{}
			switch rnd.IntN(8) {
			case 0:
				x.of.NoteInsert(m, key, ref)
				d.noteInsert(key, ref)
				continue
			case 1:
				x.of.NoteDeletion(m, key, store.Change{Ref: ref, After: gap})
				d.add(key, ref, gap, 0)
				continue
			case 2:
				was := d.version(key, ref, record.Counter(stamp))
				x.of.NoteCollection(m, key, store.Change{Ref: ref, After: gap}, stamp)
				d.add(key, ref, gap, was)
				continue
			case 3:
				a.token, a.want = x.of.AbsentAtGap(m, key, gap), d.absentAtGap(key, gap)
			case 4:
				a.token, a.want = x.of.AbsentBefore(m, key, ref), d.absentBefore(key, ref)
			case 5:
				a.token, a.want = x.of.Latest(m, key, ref), d.version(key, ref, record.Counter(c.last(key)))
			case 6:
				x.Gather()
				continue
			default:
				a.token, a.want = x.of.Version(m, key, ref, stamp), d.version(key, ref, record.Counter(stamp))
			}
			switch rnd.IntN(3) {
			case 0:
				a.next, a.after = UpdatedVersion(a.token, stamp), UpdatedVersion(a.want, stamp)
			case 1:
				a.next, a.after = DeletedVersion(a.token), DeletedVersion(a.want)
			default:
				a.next, a.after = ReinsertedVersion(a.token, stamp), ReinsertedVersion(a.want, stamp)
			}
			if rnd.IntN(2) == 0 {
				x.now++
				a.next = x.of.Follow(rnd.IntN(machines), key, a.token, a.next)
			}
			list = append(list, a)
		}
		x.Gather()
		for i, a := range list {
			if v := x.version(a.token); v != a.want {
				t.Fatalf("seed %d, token %d stands for %x, want %x", seed, i, v, a.want)
			}
			if v := x.resolve(&x.of, 0, a.want, a.next); v != a.after {
				t.Fatalf("seed %d, what follows on %x is %x, want %x", seed, a.want, v, a.after)
			}
		}
	}
}

// The history is that of all machines in the order of time, and what no attempt asks for is forgotten.
func TestGather(t *testing.T) {
	x := newTestBook(3)
	attempt := func(m int, run func(p *Page)) {
		p := x.Page(m)
		run(p)
		x.End(p, &Attempt{Machine: m, Coroutine: uint32(m), Begin: x.now, End: x.now, Committed: true})
	}
	last := uint64(record.InitialSeq)
	for i := range 3 * keptValues {
		m := i % 3
		x.now += 1000
		x.Begin(m, uint32(m), x.now)
		seen := x.of.Latest(m, 7, 0)
		attempt(m, func(p *Page) {
			p.Read(3, 7, seen, 0)
			p.Write(3, 7, seen, AdvancedVersion(), 0)
		})
		if last++; i%1000 == 0 {
			x.Gather()
		}
	}
	if r := x.rec.Finish(); len(r.Anomalies) > 0 || r.Seen != 3*keptValues {
		t.Errorf("%d attempts, %+v", r.Seen, r.Anomalies)
	}
	if v := x.of.commits.last(7); v != last {
		t.Errorf("version %d, want %d", v, last)
	}
	for m, l := range x.logs.All() {
		if len(l.values) >= keptValues || len(l.entries)+len(l.facts)+len(l.reads) > 0 {
			t.Errorf("machine %d keeps %d values, %d entries", m, len(l.values), len(l.entries))
		}
	}
	x.now++
	old := x.of.Latest(1, 7, 0)
	attempt(1, func(p *Page) { p.Write(3, 7, old, AdvancedVersion(), 0) })
	attempt(2, func(p *Page) { p.Write(3, 7, old, AdvancedVersion(), 0) }) // over the same version
	if r := x.rec.Finish(); len(r.Anomalies) != 1 || !strings.Contains(r.Anomalies[0].Kind, history.LostUpdate) {
		t.Errorf("%+v", r.Anomalies)
	}
}

// An attempt that goes on while others end has its versions until it ends; one that a crash has ended holds nothing back.
func TestLongAttempt(t *testing.T) {
	x := newTestBook(2)
	x.Begin(0, 0, 0)
	seen := x.of.Latest(0, 7, 0)
	many := func() {
		for range 2 * keptValues {
			x.now++
			x.Begin(1, 1, x.now)
			x.of.Latest(1, 8, 0)
			x.End(x.Page(1), &Attempt{Machine: 1, Coroutine: 1})
			if x.now%100 == 0 {
				x.Gather()
			}
		}
		x.Gather()
	}
	many()
	if v := x.version(seen); v != record.InitialSeq {
		t.Errorf("version %d", v)
	}
	x.Crashed(0)
	many()
	if n := len(x.logs.Of(1).values); n > 2*keptValues {
		t.Errorf("%d values are kept", n)
	}
}
