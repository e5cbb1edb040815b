package published

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/xstore/model"
)

// Cache is the learned cache that clients of a machine, or one thread of it, have of a server (XCache, thesis §3.4.1): the top
// model, sub-models, and translation tables. What was never fetched again is as in the image that all share.
//
// Its bytes are Go values. Reads of them are charged as of an array of sub-models and one of entries in the client's
// memory.
type Cache struct {
	Version *Version
	at      []uint32 // by sub-model: 1 + index in own; 0: the image's, or not there
	own     []cached
	subs    r2.Addr // reserved in the client's memory
	entries r2.Addr

	heldSubs, heldEntries int // how many of them are there
}

// cached is a sub-model that was fetched, with its table as the mode wants it.
type cached struct {
	sub   model.Sub
	span  model.Span // where the model has a table of them
	tt    []model.Entry
	stale bool // it has to be fetched before it is used
}

// Use changes to a version, of which nothing is cached unless all begin with it. What it takes of the client's memory is reserved
// only: to be charged for.
func (x *Cache) Use(cl *r2.Cluster, machine, socket int, v *Version) (err error) {
	x.Version, x.at = v, make([]uint32, v.Model.M)
	x.Reset()
	mem := cl.Mem(machine)
	if x.subs, err = mem.Reserve("xcache.models", uint64(v.Model.M)*uint64(v.subBytes), socket); err != nil {
		return fmt.Errorf("xstore: %w", err)
	}
	if x.entries, err = mem.Reserve("xcache.tables", uint64(v.farFrom+v.farLines)*lineEntries*entryBytes, socket); err != nil {
		return fmt.Errorf("xstore: %w", err)
	}
	return nil
}

// TouchSub charges a look at a sub-model.
func (x *Cache) TouchSub(c *r2.Co, m uint32) {
	c.Touch(x.subs+r2.Addr(uint64(m)*uint64(x.Version.subBytes)), x.Version.subBytes)
}

// TouchEntries charges a look at entries of a table. Those of the image are behind each other, as a client's that has filled
// its cache at once; later ones are where there is room for a grown table.
func (x *Cache) TouchEntries(c *r2.Co, m, first, n uint32) {
	at := uint64(m) * uint64(x.Version.stride) * lineEntries
	if x.Version.image != nil && x.at[m] == 0 {
		at = uint64(x.Version.image.first[m]) + uint64(m)
	}
	c.Touch(x.entries+r2.Addr((at+uint64(first))*entryBytes), int(n)*entryBytes)
}

// Held are the bytes that it holds: of the top model, of sub-models and of their tables.
func (x *Cache) Held() (top, subs, entries int) {
	return x.Version.Model.Top.Bytes(), x.heldSubs * x.Version.subBytes, x.heldEntries * entryBytes
}

// Find is a sub-model that is there. entry then gives those of its table.
func (x *Cache) Find(m uint32) (s model.Sub, span model.Span, ok bool) {
	if i := x.at[m]; i > 0 {
		e := &x.own[i-1]
		return e.sub, e.span, !e.stale
	}
	im := x.Version.image
	if im == nil {
		return s, span, false
	}
	if im.spans != nil {
		span = im.spans[m]
	}
	return im.sub(m), span, true
}

// Holds says that a version's sub-model is still the one that is cached.
func (x *Cache) Holds(v *Version, m uint32, sub model.Sub) bool {
	if x.Version != v {
		return false
	}
	s, _, ok := x.Find(m)
	return ok && s == sub
}

// Entry is the i-th of the table of a sub-model that is there.
func (x *Cache) Entry(m, i uint32) model.Entry {
	if k := x.at[m]; k > 0 {
		return x.own[k-1].tt[i]
	}
	return x.Version.image.entry(m, i)
}

// hold gives a sub-model memory of its own.
func (x *Cache) hold(m uint32) *cached {
	if x.at[m] == 0 {
		if len(x.own) < cap(x.own) { // that of a version before: its tables' memory is used again
			x.own = x.own[:len(x.own)+1]
			x.own[len(x.own)-1].tt = x.own[len(x.own)-1].tt[:0]
		} else {
			x.own = append(x.own, cached{})
		}
		x.at[m] = uint32(len(x.own))
		if im := x.Version.image; im != nil {
			x.heldEntries -= int(im.size[m])
		} else {
			x.heldSubs++
		}
	}
	return &x.own[x.at[m]-1]
}

// Put remembers a sub-model and its table, which is copied.
func (x *Cache) Put(m uint32, s model.Sub, span model.Span, tt []model.Entry) {
	e := x.hold(m)
	x.heldEntries += len(tt) - len(e.tt)
	e.sub, e.span, e.stale = s, span, false
	e.tt = append(e.tt[:0], tt...)
}

// Invalidate marks an entry whose leaf has changed (Figure 3-8, line 18).
func (x *Cache) Invalidate(m, i uint32) {
	if x.at[m] == 0 {
		s, span, _ := x.Find(m)
		e := x.hold(m) // after find: the image's ends here
		e.sub, e.span, e.stale, e.tt = s, span, false, e.tt[:0]
		for k := range uint32(s.Entries()) {
			e.tt = append(e.tt, x.Version.image.entry(m, k))
		}
		x.heldEntries += len(e.tt)
	}
	e := &x.own[x.at[m]-1]
	if i < uint32(len(e.tt)) {
		e.tt[i] = e.tt[i].Invalid()
	}
}

// Drop forgets a sub-model: the next lookup fetches it.
func (x *Cache) Drop(m uint32) { x.hold(m).stale = true }

// Reset forgets all that was fetched, as when the machine has crashed: the cache is as when it began with its version.
func (x *Cache) Reset() {
	x.own = x.own[:0]
	clear(x.at)
	x.heldSubs, x.heldEntries = 0, 0
	if im := x.Version.image; im != nil {
		x.heldSubs, x.heldEntries = int(x.Version.Model.M), im.entries
	}
}
