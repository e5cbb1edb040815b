package metrics

import (
	"cmp"
	"slices"
)

const (
	// HotCapacity is how many records a sketch keeps.
	HotCapacity = 64
	// HotTypes is how many transaction types a record's conflicts are told apart by; types of
	// a higher number count as the last.
	HotTypes = 16
)

// Hot is a record at which transactions met others, as a sketch knows it.
type Hot struct {
	Key       uint64
	Conflicts uint64 // at most: with what a record that had the place before had
	Over      uint64 // at most so many of Conflicts are not this record's
	Aborts    uint64 // attempts that ended because of it, since it has the place
	WaitPS    int64  // since it has the place
	ByType    [HotTypes]uint32
}

// Contention is what conflicts cost a span of time: totals, which are exact, and the hottest
// records. These it finds in little memory by the space-saving sketch of Metwally et al. (2005): a
// record that is not among those kept takes the place of the one with the fewest conflicts and
// inherits its count. Every record with more than 1/HotCapacity of all conflicts is kept, and
// what Conflicts says too much is at most Over. It is told at conflicts only, allocates nothing and
// depends on nothing but the order of the calls.
type Contention struct {
	Conflicts uint64 // failed locks and validations, and reads of locked records
	Aborts    uint64 // attempts that a conflict ended
	LostPS    int64  // in attempts that aborted, their back-off, and waits for locked records

	hot [HotCapacity]Hot
	n   int
}

// at is the place of a record; one that has none gets that of the coldest.
func (c *Contention) at(key uint64) *Hot {
	coldest := 0
	for i := range c.n {
		h := &c.hot[i]
		if h.Key == key {
			return h
		}
		if h.Conflicts < c.hot[coldest].Conflicts {
			coldest = i
		}
	}
	if c.n < HotCapacity {
		c.n++
		h := &c.hot[c.n-1]
		*h = Hot{Key: key}
		return h
	}
	h := &c.hot[coldest]
	*h = Hot{Key: key, Conflicts: h.Conflicts, Over: h.Conflicts}
	return h
}

// Conflict notes that a transaction of a type met another one at a record, and waits for it.
func (c *Contention) Conflict(key uint64, typ uint8, wait int64) {
	c.Conflicts++
	h := c.at(key)
	h.Conflicts++
	h.WaitPS += wait
	h.ByType[min(typ, HotTypes-1)]++
}

// Abort notes that an attempt ended because of a record, and the back-off that follows.
func (c *Contention) Abort(key uint64, backoff int64) {
	c.Aborts++
	for i := range c.n {
		if h := &c.hot[i]; h.Key == key {
			h.Aborts++
			h.WaitPS += backoff
			return
		}
	}
}

// Lost notes time of a transaction that a conflict took from it.
func (c *Contention) Lost(ps int64) { c.LostPS += ps }

// Hottest are the n records with the most conflicts that are surely their own, hottest first.
func (c *Contention) Hottest(n int) []Hot {
	all := slices.Clone(c.hot[:c.n])
	slices.SortFunc(all, func(a, b Hot) int {
		return cmp.Or(cmp.Compare(b.Conflicts-b.Over, a.Conflicts-a.Over), cmp.Compare(b.Aborts, a.Aborts), cmp.Compare(a.Key, b.Key))
	})
	return all[:min(n, len(all))]
}

// Reset forgets everything and keeps the memory.
func (c *Contention) Reset() { *c = Contention{} }
