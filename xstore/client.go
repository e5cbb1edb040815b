package xstore

import (
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/wire"
	"drtmx/xstore/model"
	"drtmx/xstore/tree"
)

// The phases of a request (figure 3-17b): finding the position of a key, on the client's CPU and by READs; the READ of the
// value, or of the leaves that a scan takes; an RPC that the server answers.
var (
	Index = metrics.NewPhase(metrics.PhaseInfo{Name: "index", Label: "lookup", Colour: "#117733", Order: 70, Of: "requests"})
	Value = metrics.NewPhase(metrics.PhaseInfo{Name: "value", Label: "value", Colour: "#DDCC77", Order: 71, Of: "requests"})
	Call  = metrics.NewPhase(metrics.PhaseInfo{Name: "rpc", Label: "RPC", Colour: "#999933", Order: 72, Of: "requests"})
)

// posted is how a client posts: several READs at once, with one doorbell for those of a queue pair (§3.4.2.1).
var posted = r2.Mode{Outstanding: true, Doorbell: true}

// client is a coroutine's handle of the store.
type client struct {
	s      *Store
	c      *r2.Co
	index  *index   // that it has adopted
	mode   Mode     // of index
	caches []*cache // by server
	walks  []*walk  // by server, instead of them: caches of the tree's nodes

	// Of the lookup or scan that is under way.
	leaves  []leafRead
	entries []model.Entry
	hints   []tree.Hint
	view    tree.View
	inner   tree.Inner
	path    []uint32 // inner nodes on the way down
	fetched bool     // a node was READ on it
	scan    scanState
	stale   bool   // the scan met a leaf that is not what its sub-model was trained on
	reply   []byte // of a scan on the own machine
	// Of an operation on a key with a length of its own: its bytes.
	real []byte
	// Of an index's operations.
	pairs []store.Pair
	word  [valueBytes]byte
}

// leafRead is a leaf whose keys, or all of it, a client READs.
type leafRead struct {
	aln, inca uint32
	lln       uint32 // in the table of its sub-model
	bytes     int    // of the READ, if more than all others'
	buf       r2.Buf
}

// location is where a client has found a key.
type location struct {
	aln  uint32
	slot int
	// Where keys have different lengths: to the records of the hash, 0 if the slot has another one's; or the slot was not READ.
	pointer tree.FatPointer
	unread  bool
}

// outcome is how a lookup ends.
type outcome uint8

const (
	found outcome = iota
	missing
	invalid // the server has to answer
	again   // what it needs was fetched: look up once more
)

const (
	// maxAttempts bounds those of a client before it asks the server.
	maxAttempts = 8
	// searchCycles is a local search of a leaf: sixteen comparisons. Assumed.
	searchCycles = 24
)

// Get is GET (§3.4.2.1).
func (x *client) Get(number uint64, value []byte) (bool, error) {
	key := x.known(number)
	p := x.begin(key)
	if p.local(x.c) {
		x.enter(Index)
		_, ok := p.tree.GetReal(x.c, key, x.real, value)
		return ok, nil
	}
	for range maxAttempts {
		at, o, err := x.lookup(p, key)
		switch {
		case err != nil:
			return false, err
		case o == missing:
			return false, nil
		case o == invalid:
			return x.fallback(p, key, value)
		case o == again:
			continue
		}
		switch o, err = x.value(p, at, key, value); {
		case o == found || o == missing || err != nil:
			return o == found && err == nil, err
		case o == invalid:
			return x.fallback(p, key, value)
		}
		// Another key's value is there, or the READ saw it change: the key may have moved.
	}
	return x.fallback(p, key, value)
}

// enter begins a phase of a request. What a transaction does with an index is of the transaction's phase.
func (x *client) enter(p metrics.Phase) {
	if x.s.group == nil {
		x.c.Phase(p, posted)
	}
}

// request is the begin of a request to the server: the index that it is about, if the store is one.
func (x *client) request() []byte {
	if x.s.group == nil {
		return x.c.Request()
	}
	return wire.Add64(x.c.Request(), uint64(x.s.number))
}

// local says that the keys are on the client's own machine: there it works on the tree, as the server does.
func (p *part) local(c *r2.Co) bool { return p.server == c.Machine() }

// lookup finds the position of a key with what the client caches.
func (x *client) lookup(p *part, key uint64) (location, outcome, error) {
	x.enter(Index)
	if w := x.walks[p.server]; w != nil {
		return x.descend(p, w, key)
	}
	return x.predict(p, key)
}

// value READs the value of a key: again if the slot has another key's by now, or was caught in a change.
func (x *client) value(p *part, at location, key uint64, value []byte) (outcome, error) {
	x.enter(Value)
	if x.s.spec.Real != nil {
		return x.record(p, at, key, value)
	}
	off, n := p.layout.Value(at.slot)
	buf := x.c.Read(p.leafLoc(at.aln, off), n)
	if err := x.c.Wait(); err != nil {
		return invalid, err
	}
	x.c.TouchDMA(buf.Addr, n)
	got, b, whole := p.layout.DecodeValue(at.slot, buf.B)
	if !whole {
		p.counts(x.c).Torn++
		return again, nil
	}
	copy(value, b)
	if got != key {
		return again, nil
	}
	return found, nil
}

// readLeaves READs the first bytes of the leaves, which are their keys, with one doorbell (Figure 3-8, lines 6 to 13). One that was caught in a change is
// read again; whole is false if that never ends.
func (x *client) readLeaves(p *part, bytes int) (whole bool, err error) {
	for i := range x.leaves {
		x.leaves[i].buf.B = nil
	}
	for range maxAttempts {
		for i := range x.leaves {
			if l := &x.leaves[i]; l.buf.B == nil {
				l.buf = x.c.Read(p.leafLoc(l.aln, 0), max(bytes, l.bytes))
			}
		}
		if err := x.c.Wait(); err != nil {
			return false, err
		}
		left := 0
		for i := range x.leaves {
			l := &x.leaves[i]
			x.c.TouchDMA(l.buf.Addr, len(l.buf.B))
			if !p.layout.DecodeKeys(l.buf.B, &x.view) {
				p.counts(x.c).Torn++
				l.buf.B = nil
				left++
			}
		}
		if left == 0 {
			return true, nil
		}
	}
	return false, nil
}
