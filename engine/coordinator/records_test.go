package coordinator

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/txntest"
	"drtmx/engine/wire"
)

type own struct {
	Access
	mine int
}

// set is of records on these machines.
func set(machines ...int16) *Records[own, *own] {
	r := new(Records[own, *own])
	for i, m := range machines {
		x := r.Add()
		*x = txn.Access{Table: &txn.Table{ID: 3, Name: "t"}, Key: uint64(i), Machine: m}
		r.Set[i].mine = i
	}
	return r
}

// Participants come in the order of the set, each once, with their records in that order too; what memory they had is used again.
func TestParticipants(t *testing.T) {
	r := set(2, 0, 2, 1, 0, 2)
	said := func(parts []Part[*own]) (text string) {
		for _, p := range parts {
			text += fmt.Sprint(p.Machine, ":")
			for _, a := range p.Items {
				text += fmt.Sprint(a.mine)
			}
			text += " "
		}
		return text
	}
	all := func(*own) bool { return true }
	if got := said(r.Participants(all)); got != "2:025 0:14 1:3 " {
		t.Errorf("participants %s", got)
	}
	r.parts[0].Rep = new(r2.Reply)
	if got := said(r.Participants(func(a *own) bool { return a.mine > 2 })); got != "1:3 0:4 2:5 " || r.parts[0].Rep != nil {
		t.Errorf("participants of some: %s, with a reply: %v", got, r.parts[0].Rep != nil)
	}
	if n := r.Count(func(a *own) bool { return a.mine > 2 }); n != 3 {
		t.Errorf("%d are counted", n)
	}
	if n := testing.AllocsPerRun(10, func() { r.Participants(all) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// A member of the next attempt has nothing of the one before but the memory of its lookup.
func TestAddIsFresh(t *testing.T) {
	r := set(1, 2)
	r.Set[1].mine, r.Set[1].HasRow, r.Set[1].Rep = 7, true, new(r2.Reply)
	first := r.Set[1]
	r.Forget()
	r.Add()
	r.Add()
	if a := r.Set[1]; a != first || a.mine != 0 || a.HasRow || a.Rep != nil || len(r.Set) != 2 {
		t.Errorf("the second is %+v", a)
	}
}

// Cut gives what fits, and the rest.
func TestCut(t *testing.T) {
	var sizes []int
	for left := []int{1, 2, 3, 4, 5}; len(left) > 0; {
		var some []int
		some, left = Cut(left, 2)
		sizes = append(sizes, len(some))
	}
	if !slices.Equal(sizes, []int{2, 2, 1}) {
		t.Errorf("messages of %v", sizes)
	}
}

// A message has room for a record if its word and its answer fit.
func TestMessageFits(t *testing.T) {
	r := set(1, 1, 1)
	for _, x := range []struct{ head, answer, room, fit int }{
		{0, 8, 24, 3}, {8, 8, 24, 2}, {0, 16, 24, 1}, {0, 32, 24, 0}, {24, 8, 24, 0},
	} {
		var m Message
		m.Begin(1, make([]byte, x.head), 0, x.room)
		n := 0
		for n < len(r.Set) && m.Take(&r.Set[n].Access, r.Set[n].Name(), x.answer) {
			n++
		}
		if n != x.fit || m.Empty() != (n == 0) || len(m.req) != x.head+8*n {
			t.Errorf("%+v: %d fit into %d bytes, empty: %v", x, n, len(m.req), m.Empty())
		}
	}
	if name := r.Set[2].Name(); name != 3<<56|2 {
		t.Errorf("table 3 key 2 is named %#x", name)
	}
}

// What became of an insert arrives as it was; an error that has no code arrives as one that has.
func TestInsertAnswers(t *testing.T) {
	x := store.Change{Ref: 0x123456789a, Before: 7, After: 1 << 31}
	b := make([]byte, InsertBack)
	for _, want := range statuses {
		PutInsert(b, x, want)
		if got, err := GetInsert(b); got != x || err != want {
			t.Errorf("%v: %+v, %v", want, got, err)
		}
	}
	PutInsert(b, store.Change{}, errors.New("another"))
	if _, err := GetInsert(b); err != store.ErrBusy {
		t.Errorf("another error arrives as %v", err)
	}
}

// Each server has its own words of gaps, verbs reach them, and one that is not free at rest is told.
func TestGaps(t *testing.T) {
	cfg := &wounding{Settings: txn.Settings{Replicas: 1}.WithDefaults()}
	txntest.Run(t, r2.Config{Threads: 1}, txn.Options{Config: cfg}, store.Spec{ID: 1, Name: "t", ValueBytes: 8}, store.Stripes(txntest.Machines, 9), func(c *r2.Co, cl *txn.Client) {
		p := Open(cl.DB(), cl.DB().Protocol().Layout())
		g, err := OpenGaps(&p, "gaps", true)
		if err != nil {
			t.Fatal(err)
		}
		at, other := g.Of(r2.Loc{Machine: 1, Addr: 4096}), g.Of(r2.Loc{Machine: 2, Addr: 4096})
		if at.Machine != 1 || other.Machine != 2 || at != g.Of(r2.Loc{Machine: 1, Addr: 4096}) || at.Addr%8 != 0 {
			t.Errorf("words of gaps: %+v, %+v", at, other)
		}
		if !g.Is(1, at.Addr) || g.Is(1, at.Addr+8*gapWords) || g.Is(1, g.words[1].Addr-8) {
			t.Error("which addresses are words of gaps")
		}
		found := c.CAS(at, 0, 5)
		if err := c.Wait(); err != nil || wire.Get64(found.B) != 0 {
			t.Errorf("lock by a verb: %v", err)
		}
		var told []string
		for m := range txntest.Machines {
			g.Audit(m, func(word uint64) string {
				if word == 0 {
					return ""
				}
				return fmt.Sprint("somebody with ", word)
			}, func(text string) { told = append(told, text) })
		}
		want := fmt.Sprintf("gap %d of machine 1 is still locked by somebody with 5", (at.Addr-g.words[1].Addr)/8)
		if len(told) != 1 || told[0] != want {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}
