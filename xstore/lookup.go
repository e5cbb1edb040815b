package xstore

import (
	"drtmx/xstore/model"
	"drtmx/xstore/published"
	"drtmx/xstore/tree"
)

// prediction is what a model says of a key: entries first to last of the table of sub-model m.
type prediction struct {
	v           *published.Version
	m           uint32
	sub         model.Sub
	span        model.Span // that came with it, where the model has a table of them
	base        uint64
	first, last uint32
}

// predict is LOOKUP (Figure 3-8).
func (x *client) predict(p *part, key uint64) (at location, o outcome, err error) {
	cache := x.caches[p.server]
	p.counts(x.c).Lookups++
	if err := x.checkVersion(p, cache); err != nil {
		return at, invalid, err
	}
	d, o, err := x.cover(p, cache, key)
	if o == found && err == nil {
		o, err = x.translate(cache, &d)
	}
	if o != found || err != nil {
		p.counts(x.c).hit(false)
		return at, o, err
	}
	x.leaves = x.leaves[:0]
	for i, e := range x.entries {
		if !e.Valid() {
			p.counts(x.c).hit(false)
			return at, invalid, nil
		}
		x.leaves = append(x.leaves, leafRead{aln: e.ALN(), inca: e.INCA(), lln: d.first + uint32(i), bytes: p.slotBytes(e.CNT())})
	}
	p.counts(x.c).hit(x.mode == Full)
	if whole, err := x.readLeaves(p, p.layout.LookupBytes()); !whole {
		return at, invalid, err
	}
	return x.search(p, cache, &d, key)
}

// cover predicts the entries that cover a key, lines 1 to 5.
func (x *client) cover(p *part, cache *cache, key uint64) (d prediction, o outcome, err error) {
	d.v = cache.Version
	top := d.v.Model
	x.c.Compute(top.Top.Cycles() + model.SubCycles)
	d.m = top.Sub(key)
	if x.mode == Top {
		if d.sub, d.span, err = d.v.ReadSub(x.c, d.m); err != nil {
			return d, invalid, err
		}
	} else {
		ok := false
		if d.sub, d.span, ok = cache.Find(d.m); !ok {
			return d, again, x.fetch(p, cache, d.m)
		}
		cache.TouchSub(x.c, d.m)
	}
	d.base = top.Base(d.m)
	if top.Tabled() {
		if d.span.Empty() || key < d.span.Low || key > d.span.High {
			return d, invalid, nil
		}
		d.base = top.BaseOf(d.span)
	}
	first, last := d.sub.Range(d.base, key, p.layout.Slots)
	if first > last {
		p.counts(x.c).Blind++
		return d, invalid, nil
	}
	d.first, d.last = uint32(first), uint32(last)
	return d, found, nil
}

// search looks for the key in the leaves, lines 14 to 24. After a mismatch only "found" may be answered: what was read are
// not the leaves that the model was trained on.
func (x *client) search(p *part, cache *cache, d *prediction, key uint64) (at location, o outcome, err error) {
	p.counts(x.c).Leaves += uint64(len(x.leaves))
	p.counts(x.c).More += uint64(len(x.leaves) - 1)
	o = missing
	for i := range x.leaves {
		l := &x.leaves[i]
		x.c.Compute(searchCycles)
		p.layout.DecodeKeys(l.buf.B, &x.view)
		if slot, ok := x.view.Find(key); ok && (x.s.opt.Speculative || x.view.INCA == l.inca) {
			if x.view.INCA != l.inca {
				p.counts(x.c).Mismatches++
				p.counts(x.c).Speculative++
			}
			return p.locate(l.aln, slot, key, l.buf.B), found, nil
		}
		if x.view.INCA == l.inca || x.s.opt.planted.noIncarnation {
			continue
		}
		p.counts(x.c).Mismatches++
		if x.s.opt.Speculative && x.view.NXT != tree.NoLeaf && !x.s.opt.planted.noRightLink {
			if at, o, err = x.sibling(p, x.view.NXT, key); o == found || err != nil {
				return at, o, err
			}
		}
		o = invalid
		if x.mode == Full && cache.Holds(d.v, d.m, d.sub) {
			cache.Invalidate(d.m, l.lln)
		}
	}
	if o == invalid && (x.s.opt.planted.missAnswered || x.s.opt.planted.noRightLink) {
		o = missing
	}
	return at, o, nil
}

// sibling looks for the key at the right of a leaf that was split, which has kept the lower half of its keys: the prediction
// still leads to one of the two (§3.4.3.2).
func (x *client) sibling(p *part, aln uint32, key uint64) (at location, o outcome, err error) {
	buf := x.c.Read(p.leafLoc(aln, 0), max(p.layout.LookupBytes(), p.slotBytes(p.layout.Slots)))
	if err := x.c.Wait(); err != nil {
		return at, invalid, err
	}
	x.c.TouchDMA(buf.Addr, len(buf.B))
	x.c.Compute(searchCycles)
	p.counts(x.c).Leaves++
	if p.layout.DecodeKeys(buf.B, &x.view) {
		if slot, ok := x.view.Find(key); ok {
			p.counts(x.c).Siblings++
			return p.locate(aln, slot, key, buf.B), found, nil
		}
	}
	return at, invalid, nil
}
