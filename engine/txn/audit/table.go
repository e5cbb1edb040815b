package audit

import (
	"drtmx/engine/owned"
)

// Table is what is known of the records of a table.
type Table struct {
	touched   keySet
	fresh     owned.Each[[]uint64] // keys that a machine has touched, and that are not in touched yet
	deletions deletions
	commits   commits

	book  *Book
	id    uint8
	fixed bool // its records have a version each at all times, which their stamps say
}

// Open makes it ready for a table with a number whose keys from the start are below a bound, if they are dense. fixed says that its
// records are neither inserted nor deleted.
func (t *Table) Open(book *Book, id uint8, keys uint64, fixed bool) {
	*t = Table{touched: newKeySet(keys), fresh: owned.New[[]uint64](book.machines, nil), commits: newCommits(keys), book: book, id: id, fixed: fixed}
	book.tables[id] = t
}

// Touch remembers that a machine may have written or locked a record.
func (t *Table) Touch(machine int, key uint64) {
	list := t.fresh.Of(machine)
	*list = append(*list, key)
}

// EachTouched calls f with those keys, in rising order.
func (t *Table) EachTouched(f func(key uint64)) {
	t.Gather()
	t.touched.each(f)
}

// Gather takes in what machines have touched. None of them runs.
func (t *Table) Gather() {
	for _, list := range t.fresh.All() {
		for _, key := range *list {
			t.touched.add(key)
		}
		*list = (*list)[:0]
	}
}
