package xstore

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/xstore/model"
)

// cache is the learned cache that clients of a machine, or one thread of it, have of a server (XCache, thesis §3.4.1): the top
// model, sub-models, and translation tables. What was never fetched again is as in the image that all share.
//
// Its bytes are Go values. Reads of them are charged as of an array of sub-models and one of entries in the client's
// memory.
type cache struct {
	v       *version
	at      []uint32 // by sub-model: 1 + index in own; 0: the image's, or not there
	own     []cached
	subs    r2.Addr // reserved in the client's memory
	entries r2.Addr

	heldSubs, heldEntries int // how many of them are there

	// Of looking for another version, see client.checkVersion.
	checkedAt r2.Time
	checking  bool
}

// cached is a sub-model that was fetched, with its table as the mode wants it.
type cached struct {
	sub  model.Sub
	span model.Span // where the model has a table of them
	tt   []model.Entry
	gone bool // it has to be fetched before it is used
}

// newCache is a cache of the version that a server begins with. What it takes of the client's memory is reserved only: to
// be charged for.
func newCache(cl *r2.Cluster, machine, socket int, v *version) (*cache, error) {
	x := &cache{}
	return x, x.use(cl, machine, socket, v)
}

// use changes to a version, of which nothing is cached unless all begin with it.
func (x *cache) use(cl *r2.Cluster, machine, socket int, v *version) (err error) {
	x.v, x.at = v, make([]uint32, v.model.M)
	x.lose()
	mem := cl.Mem(machine)
	if x.subs, err = mem.Reserve("xcache.models", uint64(v.model.M)*uint64(v.subBytes), socket); err != nil {
		return fmt.Errorf("xstore: %w", err)
	}
	if x.entries, err = mem.Reserve("xcache.tables", uint64(v.farFrom+v.farLines)*lineEntries*entryBytes, socket); err != nil {
		return fmt.Errorf("xstore: %w", err)
	}
	return nil
}

// touchSub charges a look at a sub-model.
func (x *cache) touchSub(c *r2.Co, m uint32) {
	c.Touch(x.subs+r2.Addr(uint64(m)*uint64(x.v.subBytes)), x.v.subBytes)
}

// touchEntries charges a look at entries of a table. Those of the image are behind each other, as a client's that has filled
// its cache at once; later ones are where there is room for a grown table.
func (x *cache) touchEntries(c *r2.Co, m, first, n uint32) {
	at := uint64(m) * uint64(x.v.stride) * lineEntries
	if x.v.image != nil && x.at[m] == 0 {
		at = uint64(x.v.image.first[m]) + uint64(m)
	}
	c.Touch(x.entries+r2.Addr((at+uint64(first))*entryBytes), int(n)*entryBytes)
}

// bytes is what the cache holds in a mode.
func (x *cache) bytes(m Mode) int {
	n := x.v.model.Top.Bytes()
	if m != Top {
		n += x.heldSubs * x.v.subBytes
	}
	if m == Full {
		n += x.heldEntries * entryBytes
	}
	return n
}

// find is a sub-model that is there. entry then gives those of its table.
func (x *cache) find(m uint32) (s model.Sub, span model.Span, ok bool) {
	if i := x.at[m]; i > 0 {
		e := &x.own[i-1]
		return e.sub, e.span, !e.gone
	}
	im := x.v.image
	if im == nil {
		return s, span, false
	}
	if im.spans != nil {
		span = im.spans[m]
	}
	return im.sub(m), span, true
}

// holds says that a prediction's sub-model is still the one that is cached.
func (x *cache) holds(d *prediction) bool {
	if x.v != d.v {
		return false
	}
	s, _, ok := x.find(d.m)
	return ok && s == d.sub
}

// entry is the i-th of the table of a sub-model that is there.
func (x *cache) entry(m, i uint32) model.Entry {
	if k := x.at[m]; k > 0 {
		return x.own[k-1].tt[i]
	}
	return x.v.image.entry(m, i)
}

// hold gives a sub-model memory of its own.
func (x *cache) hold(m uint32) *cached {
	if x.at[m] == 0 {
		if len(x.own) < cap(x.own) { // that of a version before: its tables' memory is used again
			x.own = x.own[:len(x.own)+1]
			x.own[len(x.own)-1].tt = x.own[len(x.own)-1].tt[:0]
		} else {
			x.own = append(x.own, cached{})
		}
		x.at[m] = uint32(len(x.own))
		if im := x.v.image; im != nil {
			x.heldEntries -= int(im.size[m])
		} else {
			x.heldSubs++
		}
	}
	return &x.own[x.at[m]-1]
}

// put remembers a sub-model and its table, which is copied.
func (x *cache) put(m uint32, s model.Sub, span model.Span, tt []model.Entry) {
	e := x.hold(m)
	x.heldEntries += len(tt) - len(e.tt)
	e.sub, e.span, e.gone = s, span, false
	e.tt = append(e.tt[:0], tt...)
}

// invalidate marks an entry whose leaf has changed (Figure 3-8, line 18).
func (x *cache) invalidate(m, i uint32) {
	if x.at[m] == 0 {
		s, span, _ := x.find(m)
		e := x.hold(m) // after find: the image's ends here
		e.sub, e.span, e.gone, e.tt = s, span, false, e.tt[:0]
		for k := range uint32(s.Entries()) {
			e.tt = append(e.tt, x.v.image.entry(m, k))
		}
		x.heldEntries += len(e.tt)
	}
	e := &x.own[x.at[m]-1]
	if i < uint32(len(e.tt)) {
		e.tt[i] = e.tt[i].Invalid()
	}
}

// drop forgets a sub-model: the next lookup fetches it.
func (x *cache) drop(m uint32) { x.hold(m).gone = true }

// lose forgets all that was fetched, as when the machine has crashed: the cache is as when it began with its version.
func (x *cache) lose() {
	x.own = x.own[:0]
	clear(x.at)
	x.heldSubs, x.heldEntries = 0, 0
	if im := x.v.image; im != nil {
		x.heldSubs, x.heldEntries = int(x.v.model.M), im.entries
	}
}
