package xstore

import (
	"fmt"
	"slices"

	"drtmx/engine/store"
	"drtmx/engine/wire"
	"drtmx/xstore/model"
)

// scanState is a scan that is under way: what it still has to find.
type scanState struct {
	from, to uint64 // between these keys, both included
	down     bool   // falling
	need     int    // pairs; 0: the scan has ended
	dst      []store.Pair
	bytes    []byte // of their values
	slots    []int  // of a leaf, by their keys
}

const (
	// maxScanLeaves is how many leaves a scan READs at once.
	maxScanLeaves = 64
	// usualScan is how many pairs a client has memory for from the start.
	usualScan = 128
)

// next is the key at which the scan goes on.
func (s *scanState) next() uint64 {
	if s.down {
		return s.to
	}
	return s.from
}

// advancePast has the scan go on behind the keys from low to high, all of which it has seen from where it was.
func (s *scanState) advancePast(low, high uint64) {
	switch {
	case s.down && low > s.from:
		s.to = min(s.to, low-1)
	case !s.down && high < s.to:
		s.from = max(s.from, high+1)
	default:
		s.need = 0
	}
}

// Scan is SCAN (§3.4.2.2): on one server after the other.
func (x *client) Scan(key uint64, n int, dst []store.Pair) ([]store.Pair, error) {
	if x.s.spec.Real != nil {
		return dst, fmt.Errorf("store %s: scan of %d pairs: keys of different lengths are kept by their hashes, which have no order", x.s.spec.Name, n)
	}
	x.scan.from, x.scan.to, x.scan.down, x.scan.need = key, ^uint64(0), false, n
	return x.scanAll(dst)
}

// scanAll runs the scan that was begun.
func (x *client) scanAll(dst []store.Pair) ([]store.Pair, error) {
	s := &x.scan
	s.dst = dst
	s.bytes = slices.Grow(s.bytes[:0], min(s.need, usualScan)*x.s.spec.ValueBytes)
	for s.need > 0 {
		p := x.begin(s.next())
		if err := x.scanPart(p); err != nil {
			return dst, err
		}
		if s.need > 0 {
			s.advancePast(p.low, p.high)
		}
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
	for s := &x.scan; s.need > 0 && s.next() >= p.low && s.next() <= p.high; {
		x.enter(Index)
		scan := x.scanModel
		if x.walks[p.server] != nil {
			scan = x.scanNodes
		}
		ok, err := scan(p)
		switch {
		case err != nil:
			return err
		case !ok:
			return x.scanServer(p)
		}
	}
	return nil
}

// scanModel reads the leaves of the sub-model that predicts where the scan goes on: the keys of the predicted ones, and then the
// first of them that matters and those behind it, keys and values. ok is false if the server has to go on. A sub-model that was
// trained on other leaves is fetched anew by the next client that needs it: the answer to a scan brings none along.
func (x *client) scanModel(p *part) (ok bool, err error) {
	cache, s := x.caches[p.server], &x.scan
	p.counts(x.c).Lookups++
	if err := x.checkVersion(p, cache); err != nil {
		return false, err
	}
	d, o, err := x.cover(p, cache, s.next())
	if o == found {
		o, err = x.translate(cache, &d)
	}
	p.counts(x.c).hit(x.mode == Full && o == found)
	if o != found || err != nil {
		return o == again, err
	}
	x.stale = false
	ok, err = x.scanPredicted(p, cache, &d)
	if x.stale && x.mode != Top && cache.Holds(d.v, d.m, d.sub) {
		cache.Drop(d.m)
	}
	return ok, err
}

// scanPredicted goes on where the prediction says.
func (x *client) scanPredicted(p *part, cache *cache, d *prediction) (ok bool, err error) {
	s := &x.scan
	lo, hi, ends := x.bound(d)
	if !x.leavesOf() {
		return false, nil
	}
	if whole, err := x.readLeaves(p, p.layout.LookupBytes()); !whole {
		return false, err
	}
	at, have := x.start(p)
	switch {
	case at < 0:
		return false, nil
	case s.down:
		hi = int(d.first) + at
	default:
		lo = int(d.first) + at
	}
	if have == 0 && ends && lo >= hi { // the other end is in what was READ, too
		s.need = 0
		return true, nil
	}
	return x.scanLeaves(p, cache, d, lo, hi, have, ends)
}

// bound are the entries of a table that a scan may need, and whether it ends with them: the sub-model predicts the other end, too,
// if that is one of its keys.
func (x *client) bound(d *prediction) (lo, hi int, ends bool) {
	s, v := &x.scan, d.v
	lo, hi = 0, d.sub.Entries()-1
	end := s.to
	if s.down {
		end = s.from
	}
	if end == ^uint64(0) || end == 0 {
		return lo, hi, false
	}
	x.c.Compute(v.Model.Top.Cycles() + model.SubCycles)
	if v.Model.Sub(end) != d.m || v.Model.Tabled() && (end < d.span.Low || end > d.span.High) {
		return lo, hi, false
	}
	first, last := d.sub.Range(d.base, end, x.s.opt.Slots)
	if s.down {
		return first, hi, true
	}
	return lo, last, true
}

// leavesOf lists the leaves of the entries.
func (x *client) leavesOf() (valid bool) {
	x.leaves = x.leaves[:0]
	for _, e := range x.entries {
		if !e.Valid() {
			x.stale = true
			return false
		}
		x.leaves = append(x.leaves, leafRead{aln: e.ALN(), inca: e.INCA()})
	}
	return true
}

// start is the first of the leaves in the scan's order with a key of it, or the last one, and how many such keys it has; -1 if
// one has another incarnation.
func (x *client) start(p *part) (leaf, have int) {
	for k := range x.leaves {
		if leaf = k; x.scan.down {
			leaf = len(x.leaves) - 1 - k
		}
		l := &x.leaves[leaf]
		x.c.Compute(searchCycles)
		p.layout.DecodeKeys(l.buf.B, &x.view)
		if x.view.INCA != l.inca {
			p.counts(x.c).Mismatches++
			x.stale = true
			return -1, 0
		}
		have = 0
		for _, k := range x.view.Keys {
			if k >= x.scan.from && k <= x.scan.to {
				have++
			}
		}
		if have > 0 {
			break
		}
	}
	return leaf, have
}

// scanLeaves READs whole leaves of the entries lo to hi, in the scan's order, until their counts say that there are enough keys.
// ends says that the scan does not go on beyond them.
func (x *client) scanLeaves(p *part, cache *cache, d *prediction, lo, hi, have int, ends bool) (ok bool, err error) {
	s := &x.scan
	x.enter(Value)
	for ; s.need > 0 && lo <= hi; have = 0 {
		d.first, d.last = uint32(lo), uint32(min(hi, lo+maxScanLeaves-1))
		if s.down {
			d.first, d.last = uint32(max(lo, hi-maxScanLeaves+1)), uint32(hi)
		}
		if o, err := x.translate(cache, d); o != found || err != nil {
			return o == again, err
		}
		if s.down {
			slices.Reverse(x.entries)
		}
		keep := 1
		for ; keep < len(x.entries) && have < s.need; keep++ {
			have += x.entries[keep].CNT()
		}
		x.entries = x.entries[:keep]
		if !x.leavesOf() {
			return false, nil
		}
		if whole, err := x.readWhole(p); !whole {
			return false, err
		}
		for i := range x.leaves {
			if !x.collect(p, &x.leaves[i]) {
				return false, nil
			}
		}
		if s.down {
			hi -= keep
		} else {
			lo += keep
		}
	}
	switch span := d.span; {
	case s.need == 0:
	case ends:
		s.need = 0
	case d.v.Model.Tabled(): // as it was when the table was trained: the server's may have grown
		s.advancePast(span.Low, span.High)
	default:
		span = d.v.Model.Span(d.m)
		s.advancePast(span.Low, span.High)
	}
	return true, nil
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
	p.counts(x.c).Leaves += uint64(len(x.leaves))
	return true, nil
}

// collect takes the pairs of a leaf that the scan still needs, in the order of their keys. ok is false if the leaf is not the
// one that was expected, or something in it is being changed.
func (x *client) collect(p *part, l *leafRead) (ok bool) {
	s := &x.scan
	if !p.layout.DecodeKeys(l.buf.B, &x.view) {
		p.counts(x.c).Torn++
		return false
	}
	if x.view.INCA != l.inca && !x.s.opt.planted.noIncarnation {
		p.counts(x.c).Mismatches++
		x.stale = true
		return false
	}
	s.slots = s.slots[:0]
	for i, k := range x.view.Keys {
		if k >= s.from && k <= s.to {
			s.slots = append(s.slots, i)
		}
	}
	keys := x.view.Keys
	slices.SortFunc(s.slots, func(a, b int) int {
		if (keys[a] < keys[b]) != s.down {
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
			p.counts(x.c).Torn++
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
	if s.need--; s.need > 0 {
		s.advancePast(key, key)
	}
}

// scanLocal scans the tree of the client's own machine.
func (x *client) scanLocal(p *part) error {
	s := &x.scan
	x.enter(Index)
	each := x.s.pairBytes()
	x.reply = p.scan(x.c, s.from, s.to, s.need, s.down, x.reply[:0])
	for b := x.reply; len(b) > 0; b = b[each:] {
		x.emit(wire.Get64(b), b[8:each])
	}
	return nil
}

// scanServer has the server go on.
func (x *client) scanServer(p *part) error {
	s := &x.scan
	x.enter(Call)
	p.counts(x.c).Fallbacks++
	each := x.s.pairBytes()
	most := x.s.cl.MaxReply() / each
	for s.need > 0 {
		want := min(s.need, most)
		rep := x.c.Call(p.server, x.s.rpc.scan, scanRequest(x.request(), s, want))
		if err := x.c.Wait(); err != nil {
			return err
		}
		if len(rep.B)%each != 0 {
			return fmt.Errorf("store %s: machine %d refuses a scan of keys %d to %d", x.s.spec.Name, p.server, s.from, s.to)
		}
		got := len(rep.B) / each
		for b := rep.B; len(b) > 0; b = b[each:] {
			x.emit(wire.Get64(b), b[8:each])
		}
		if got < want {
			return nil
		}
	}
	return nil
}
