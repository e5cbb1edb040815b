package workload

import (
	"cmp"
	"fmt"
	"slices"

	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/txn"
)

// Fresh judges what transactions saw of records that each count the transactions that wrote them: no less than what was committed when
// the transaction began, on whatever machine. Each machine writes down its own begins and commits. Look puts those of all machines in the
// order of their times, while none of them runs.
type Fresh struct {
	name   string
	writes []uint64 // by key: transactions that committed and wrote it, as far as Look has come
	stale  string   // the first read of a value that was overwritten before
	logs   owned.Each[[]uint64]
	begun  []freshBegun // by coroutine: what it began last, as far as Look has come
	order  []freshEntry
}

// freshBegun are the keys of a transaction, and what was committed of each when it began.
type freshBegun struct{ keys, before []uint64 }

// freshEntry is an entry of a log: a time, a head, and as many words as that says. Those of a begin are keys, with freshWrites if they are
// written; those of a commit are the values that it saw, in the same order.
type freshEntry struct {
	at      r2.Time
	machine int
	words   []uint64 // the head, and what follows
}

// Of a head the lowest bits say what the entry is, those above how many words follow, then the coroutine.
const (
	freshCommits = 1 << iota // not a begin
	freshLacks               // it may lack what is committed
	freshCount
	freshCo = freshCount << 16

	freshWrites = uint64(1) << 63
)

// Open prepares it for the records of a table, one of which errors call by a name.
func (f *Fresh) Open(machines int, name string, keys uint64) {
	f.name, f.writes, f.logs = name, make([]uint64, keys), owned.New[[]uint64](machines, nil)
}

// Begin writes down that a transaction begins, with the records that it takes.
func (f *Fresh) Begin(c *r2.Co, refs []txn.Ref) { f.begin(c.Machine(), c.ID(), c.Now(), refs) }

func (f *Fresh) begin(machine int, co uint32, at r2.Time, refs []txn.Ref) {
	log := f.logs.Of(machine)
	*log = append(*log, uint64(at), freshHead(co, len(refs)))
	for i := range refs {
		key := refs[i].Key
		if refs[i].Write {
			key |= freshWrites
		}
		*log = append(*log, key)
	}
}

// Commit writes down that it has committed, and what it saw of them. lacks says that it need not see what is committed.
func (f *Fresh) Commit(c *r2.Co, seen []uint64, lacks bool) {
	f.commit(c.Machine(), c.ID(), c.Now(), seen, lacks)
}

func (f *Fresh) commit(machine int, co uint32, at r2.Time, seen []uint64, lacks bool) {
	head := freshHead(co, len(seen)) | freshCommits
	if lacks {
		head |= freshLacks
	}
	log := f.logs.Of(machine)
	*log = append(append(*log, uint64(at), head), seen...)
}

func freshHead(co uint32, words int) uint64 { return uint64(co)*freshCo | uint64(words)*freshCount }

// Look judges what was before a time: nothing of before it may be written down afterwards.
func (f *Fresh) Look(before r2.Time) {
	f.order = f.order[:0]
	for m, log := range f.logs.All() {
		for words := *log; len(words) > 0; {
			n := 2 + int(words[1]%freshCo/freshCount)
			if at := r2.Time(words[0]); at < before {
				f.order = append(f.order, freshEntry{at, m, words[1:n]})
			}
			words = words[n:]
		}
	}
	slices.SortStableFunc(f.order, func(a, b freshEntry) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.machine, b.machine))
	})
	for i := range f.order {
		f.judge(&f.order[i])
	}
	for _, log := range f.logs.All() {
		kept := (*log)[:0]
		for words := *log; len(words) > 0; {
			n := 2 + int(words[1]%freshCo/freshCount)
			if r2.Time(words[0]) >= before {
				kept = append(kept, words[:n]...)
			}
			words = words[n:]
		}
		*log = kept
	}
}

// judge looks at an entry.
func (f *Fresh) judge(e *freshEntry) {
	head, words := e.words[0], e.words[1:]
	co := int(head / freshCo)
	for co >= len(f.begun) {
		f.begun = append(f.begun, freshBegun{})
	}
	x := &f.begun[co]
	if head&freshCommits == 0 {
		x.keys, x.before = append(x.keys[:0], words...), x.before[:0]
		for _, key := range words {
			x.before = append(x.before, f.writes[key&^freshWrites])
		}
		return
	}
	for i, seen := range words {
		key := x.keys[i] &^ freshWrites
		if seen < x.before[i] && f.stale == "" && head&freshLacks == 0 {
			f.stale = fmt.Sprintf("%s %d had the value %d, which was %d when the transaction began", f.name, key, seen, x.before[i])
		}
		if x.keys[i]&freshWrites != 0 {
			f.writes[key]++
		}
	}
}

// Stale is the first read of a value that was overwritten before its transaction began, as far as Look has come; "" if there is none.
func (f *Fresh) Stale() string { return f.stale }

// Writes is how many transactions have committed that wrote a record, as far as Look has come.
func (f *Fresh) Writes(key uint64) uint64 { return f.writes[key] }
