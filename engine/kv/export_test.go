package kv

import (
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// What only tests of this package use.

// LookupRemote finds a record of another machine by one-sided READs of its hash table: one in the common case,
// and then the caller READs the row (thesis section 4.3.1).
func (t *Table) LookupRemote(c *r2.Co, key uint64) (loc Location, ok bool, err error) {
	for l := t.Search(c, key, nil); ; {
		if err := c.Wait(); err != nil {
			return Location{}, false, err
		}
		loc, state, err := l.Next(c)
		if state != store.More {
			return loc, state == store.Found, err
		}
	}
}

// NewTable makes a table on the machines of a cluster, whose rows have a header. Nothing of it is touched.
func NewTable(cl *r2.Cluster, h record.Layout, spec Spec, place Placement) (*Table, error) {
	return kind{}.newTable(cl, h, spec, place)
}
