package xstore

import (
	"fmt"
	"slices"

	"drtmx/engine/store"
)

// scanState is a scan that is under way.
type scanState struct {
	from  uint64 // everything below it has been found
	need  int    // pairs that are missing
	dst   []store.Pair
	bytes []byte // of their values
	slots []int  // of a leaf, by their keys
}

// maxScanLeaves is how many leaves a scan READs at once.
const maxScanLeaves = 64

// Scan is SCAN (§3.4.2.2): on one server after the other.
func (x *client) Scan(key uint64, n int, dst []store.Pair) ([]store.Pair, error) {
	s := &x.scan
	s.from, s.need, s.dst = key, n, dst
	s.bytes = slices.Grow(s.bytes[:0], n*x.s.spec.ValueBytes)
	for s.need > 0 {
		p := x.begin(s.from)
		if err := x.scanPart(p); err != nil {
			return dst, err
		}
		if p.high == ^uint64(0) {
			break
		}
		s.from = max(s.from, p.high+1)
	}
	dst, s.dst = s.dst, nil
	return dst, nil
}

// scanPart goes on with a server's keys: until enough are found, or there are no more of them. What the cache cannot tell the
// server does.
func (x *client) scanPart(p *part) error {
	if p.local(x.c) {
		return x.scanLocal(p)
	}
	for x.scan.need > 0 && x.scan.from <= p.high {
		x.c.Phase(Index, posted)
		scan := x.scanModel
		if x.walks[p.server] != nil {
			scan = x.scanNodes
		}
		ended, ok, err := scan(p)
		switch {
		case err != nil:
			return err
		case !ok:
			return x.scanServer(p)
		case ended:
			return nil
		}
	}
	return nil
}

// scanModel reads the leaves of the sub-model that predicts where the scan goes on: the keys of the predicted ones, and then the
// first of them that matters and those behind it, keys and values. ok is false if the server has to go on. ended says that
// there are no more keys on the server.
func (x *client) scanModel(p *part) (ended, ok bool, err error) {
	cache, s := x.caches[p.server], &x.scan
	p.stats.Lookups++
	if err := x.checkVersion(p, cache); err != nil {
		return false, false, err
	}
	d, o, err := x.cover(p, cache, s.from)
	if o == found {
		o, err = x.translate(cache, &d)
	}
	if o != found || err != nil {
		return false, o == again, err
	}
	if !x.leavesOf(d.first) {
		return false, false, nil
	}
	if whole, err := x.readLeaves(p, p.layout.LookupBytes()); !whole {
		return false, false, err
	}
	skip, have := x.start(p)
	if skip < 0 {
		p.stats.Mismatches++
		return false, false, nil
	}
	d.first += uint32(skip)
	return x.scanLeaves(p, cache, &d, have)
}

// leavesOf lists the leaves of the entries, the first of which is the entry first of its table.
func (x *client) leavesOf(first uint32) (valid bool) {
	x.leaves = x.leaves[:0]
	for i, e := range x.entries {
		if !e.Valid() {
			return false
		}
		x.leaves = append(x.leaves, leafRead{aln: e.ALN(), inca: e.INCA(), lln: first + uint32(i)})
	}
	return true
}

// start is the first of the leaves with a key of the scan, or the last one, and how many such keys it has; -1 if one has
// another incarnation.
func (x *client) start(p *part) (leaf, have int) {
	for i := range x.leaves {
		l := &x.leaves[i]
		x.c.Compute(searchCycles)
		p.layout.DecodeKeys(l.buf.B, &x.view)
		if x.view.INCA != l.inca {
			return -1, 0
		}
		have = 0
		for _, k := range x.view.Keys {
			if k >= x.scan.from {
				have++
			}
		}
		if have > 0 {
			return i, have
		}
	}
	return len(x.leaves) - 1, 0
}

// scanLeaves READs whole leaves from entry d.first on, until their counts say that there are enough keys, or the table ends.
func (x *client) scanLeaves(p *part, cache *cache, d *prediction, have int) (ended, ok bool, err error) {
	s := &x.scan
	x.c.Phase(Value, posted)
	for n := uint32(d.sub.Entries()); d.first < n && s.need > 0; have = 0 {
		d.last = min(n-1, d.first+maxScanLeaves-1)
		if o, err := x.translate(cache, d); o != found || err != nil {
			return false, o == again, err
		}
		keep := 1
		for ; keep < len(x.entries) && have < s.need; keep++ {
			have += x.entries[keep].CNT()
		}
		x.entries = x.entries[:keep]
		if !x.leavesOf(d.first) {
			return false, false, nil
		}
		if whole, err := x.readWhole(p); !whole {
			return false, false, err
		}
		for i := range x.leaves {
			if !x.collect(p, &x.leaves[i]) {
				return false, false, nil
			}
		}
		d.first += uint32(keep)
	}
	if s.need == 0 {
		return false, true, nil
	}
	high := d.v.model.Span(d.m).High
	if high >= p.high {
		return true, true, nil
	}
	s.from = max(s.from, high+1)
	return false, true, nil
}

// readWhole READs the leaves, keys and values, with one doorbell.
func (x *client) readWhole(p *part) (whole bool, err error) {
	for i := range x.leaves {
		x.leaves[i].buf = x.c.Read(p.leafLoc(x.leaves[i].aln, 0), p.layout.Span(p.layout.Slots))
	}
	if err := x.c.Wait(); err != nil {
		return false, err
	}
	for i := range x.leaves {
		x.c.TouchDMA(x.leaves[i].buf.Addr, len(x.leaves[i].buf.B))
	}
	p.stats.Leaves += uint64(len(x.leaves))
	return true, nil
}

// collect takes the pairs of a leaf that the scan still needs, in the order of their keys. ok is false if the leaf is not the
// one that was expected, or something in it is being changed.
func (x *client) collect(p *part, l *leafRead) (ok bool) {
	s := &x.scan
	if !p.layout.DecodeKeys(l.buf.B, &x.view) {
		p.stats.Torn++
		return false
	}
	if x.view.INCA != l.inca && !x.s.opt.planted.noIncarnation {
		p.stats.Mismatches++
		return false
	}
	s.slots = s.slots[:0]
	for i, k := range x.view.Keys {
		if k >= s.from {
			s.slots = append(s.slots, i)
		}
	}
	keys := x.view.Keys
	slices.SortFunc(s.slots, func(a, b int) int {
		if keys[a] < keys[b] {
			return -1
		}
		return 1
	})
	x.c.Compute(searchCycles + len(s.slots)*pairCycles)
	for _, i := range s.slots {
		if s.need == 0 {
			return true
		}
		off, n := p.layout.Value(i)
		key, value, whole := p.layout.DecodeValue(i, l.buf.B[off:off+n])
		if !whole || key != keys[i] {
			p.stats.Torn++
			return false
		}
		x.emit(key, value)
	}
	return true
}

// pairCycles is what a pair of a scan takes: its place in the order, and the copy. Assumed.
const pairCycles = 30

// emit adds a pair to the result. Its value is copied: buffers may be used again before the scan has ended.
func (x *client) emit(key uint64, value []byte) {
	s := &x.scan
	at := len(s.bytes)
	s.bytes = append(s.bytes, value...)
	value = s.bytes[at:len(s.bytes):len(s.bytes)]
	s.dst = append(s.dst, store.Pair{Key: key, Value: value})
	s.need--
	s.from = key + 1
	if s.from == 0 { // there is none behind it
		s.need = 0
	}
}

// scanLocal scans the tree of the client's own machine.
func (x *client) scanLocal(p *part) error {
	s := &x.scan
	x.c.Phase(Index, posted)
	each := x.s.pairBytes()
	x.reply = p.tree.Scan(x.c, s.from, s.need, x.reply[:0])
	for b := x.reply; len(b) > 0; b = b[each:] {
		x.emit(u64(b), b[8:each])
	}
	return nil
}

// scanServer has the server go on.
func (x *client) scanServer(p *part) error {
	s := &x.scan
	x.c.Phase(Call, posted)
	p.stats.Fallbacks++
	each := x.s.pairBytes()
	most := x.s.cl.MaxReply() / each
	for s.need > 0 {
		want := min(s.need, most)
		rep := x.c.Call(p.server, x.s.rpc.scan, add64(add64(x.c.Request(), s.from), uint64(want)))
		if err := x.c.Wait(); err != nil {
			return err
		}
		if len(rep.B)%each != 0 {
			return fmt.Errorf("store %s: machine %d refuses a scan from key %d", x.s.spec.Name, p.server, s.from)
		}
		got := len(rep.B) / each
		for b := rep.B; len(b) > 0; b = b[each:] {
			x.emit(u64(b), b[8:each])
		}
		if got < want {
			return nil
		}
	}
	return nil
}
