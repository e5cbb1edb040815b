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

// Reset forgets everything and keeps the memory.
func (c *Contention) Reset() { *c = Contention{} }

// Conflicts are those of several sketches, as of the clients of each machine. The totals add up. A record that a full sketch does not
// keep may have had as many conflicts there as the coldest that it keeps: so many more count for it, and may not be its own. So what is
// said of a sketch holds of all together: every record with more than 1/HotCapacity of all conflicts is here.
type Conflicts struct {
	Conflicts, Aborts uint64
	LostPS            int64

	kept   []kept // of all sketches, one after the other
	absent uint64 // what a record that all sketches lack counts for
	all    []Hot
}

// kept is what a sketch keeps of a record, and what one that it lacks counts for.
type kept struct {
	*Hot
	absent uint64
}

// Reset forgets everything and keeps the memory.
func (c *Conflicts) Reset() { *c = Conflicts{kept: c.kept[:0], all: c.all[:0]} }

// Add adds a sketch, which stays as it is until Hottest.
func (c *Conflicts) Add(o *Contention) {
	c.Conflicts, c.Aborts, c.LostPS = c.Conflicts+o.Conflicts, c.Aborts+o.Aborts, c.LostPS+o.LostPS
	absent := uint64(0)
	if o.n == HotCapacity {
		absent = o.hot[0].Conflicts
		for i := range o.hot {
			absent = min(absent, o.hot[i].Conflicts)
		}
	}
	c.absent += absent
	for i := range o.n {
		c.kept = append(c.kept, kept{&o.hot[i], absent})
	}
}

// add adds what another sketch says of the record. Over may wrap until what all sketches that lack it say is added.
func (h *Hot) add(o kept) {
	h.Conflicts, h.Over, h.Aborts, h.WaitPS = h.Conflicts+o.Conflicts-o.absent, h.Over+o.Over-o.absent, h.Aborts+o.Aborts, h.WaitPS+o.WaitPS
	for i, n := range o.ByType {
		h.ByType[i] += n
	}
}

// Hottest are the n records with the most conflicts that are surely their own, hottest first. It comes once, and what it returns is good
// until Reset.
func (c *Conflicts) Hottest(n int) []Hot {
	slices.SortStableFunc(c.kept, func(a, b kept) int { return cmp.Compare(a.Key, b.Key) })
	for i, h := range c.kept {
		if i == 0 || c.kept[i-1].Key != h.Key {
			c.all = append(c.all, Hot{Key: h.Key, Conflicts: c.absent, Over: c.absent})
		}
		c.all[len(c.all)-1].add(h)
	}
	all := c.all
	slices.SortFunc(all, func(a, b Hot) int {
		return cmp.Or(cmp.Compare(b.Conflicts-b.Over, a.Conflicts-a.Over), cmp.Compare(b.Aborts, a.Aborts), cmp.Compare(a.Key, b.Key))
	})
	return all[:min(n, len(all))]
}
