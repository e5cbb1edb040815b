package xstore

import (
	"fmt"

	"drtmx/engine/store"
	"drtmx/engine/wire"
	"drtmx/xstore/model"
	"drtmx/xstore/published"
	"drtmx/xstore/tree"
)

// fallback ships a GET to the server, and takes in what it knows of the sub-model that failed (§3.4.2.1).
func (x *client) fallback(p *part, key uint64, value []byte) (bool, error) {
	x.enter(Call)
	p.counts(x.c).Fallbacks++
	version, m, generation, cache := ^uint32(0), uint32(0), uint32(0), x.caches[p.server]
	if cache != nil {
		version, m = cache.Version.Number, cache.Version.Model.Sub(key)
		if s, _, ok := cache.Find(m); ok {
			generation = s.Generation()
		}
	}
	rep := x.c.Call(p.server, x.s.rpc.get, x.getRequest(key, version, m, generation))
	if err := x.c.Wait(); err != nil {
		return false, err
	}
	b := rep.B
	if len(b) < headReply || b[0] > replyFound {
		return false, fmt.Errorf("store %s: machine %d refuses key %d", x.s.spec.Name, p.server, key)
	}
	status, refresh := b[0], b[1]
	b = b[headReply:]
	if status == replyFound {
		copy(value, b[:x.s.spec.ValueBytes])
		b = b[wire.Padded(x.s.spec.ValueBytes):]
	}
	if cache == nil || cache.Version.Number != version {
		return status == replyFound, nil
	}
	switch refresh {
	case published.NewerRemote:
		cache.Drop(m)
	case published.NewerInline:
		x.refresh(p, cache, m, b)
	}
	return status == replyFound, nil
}

// refresh takes a sub-model and its table out of a reply.
func (x *client) refresh(p *part, cache *cache, m uint32, b []byte) {
	s, span, entries := cache.Version.GetNewer(b, x.entries[:0])
	x.entries = entries
	p.counts(x.c).Refreshes++
	if f := &x.s.opt.planted; f.oldModel || f.keepTable {
		s, span = x.mix(cache, m, s, span)
	}
	cache.Put(m, s, span, x.entries)
	cache.TouchSub(x.c, m)
	if x.mode == Full {
		cache.TouchEntries(x.c, m, 0, uint32(len(x.entries)))
	}
}

// mix plants the faults of caches that keep one half of an old sub-model.
func (x *client) mix(cache *cache, m uint32, s model.Sub, span model.Span) (model.Sub, model.Span) {
	old, oldSpan, ok := cache.Find(m)
	if !ok {
		return s, span
	}
	if x.s.opt.planted.oldModel {
		s.Slope, s.Intercept, s.MinErr, s.MaxErr = old.Slope, old.Intercept, old.MinErr, old.MaxErr
		return s, oldSpan
	}
	for i := range min(len(x.entries), old.Entries()) {
		x.entries[i] = cache.Entry(m, uint32(i))
	}
	return s, span
}

// Update is UPDATE (§3.4.3.1): the server does it, with a hint of where the key is.
func (x *client) Update(number uint64, value []byte) (bool, error) {
	key := x.known(number)
	p := x.begin(key)
	if p.local(x.c) {
		x.enter(Index)
		return p.update(x.c, nil, key, x.real, value), nil
	}
	x.hints = x.hints[:0]
	if x.s.opt.PositionHint && x.mode == Full {
		x.enter(Index)
		x.hint(p, key)
	}
	x.enter(Call)
	rep := x.c.Call(p.server, x.s.rpc.update, x.updateRequest(key, value, x.hints))
	return x.status(p, key, rep)
}

// hint predicts the leaves of a key from what is in the cache (Figure 3-8, lines 1 to 12).
func (x *client) hint(p *part, key uint64) {
	cache := x.caches[p.server]
	d := prediction{v: cache.Version, m: cache.Version.Model.Sub(key)}
	if _, _, ok := cache.Find(d.m); !ok {
		return
	}
	d, o, err := x.cover(p, cache, key)
	if o != found || err != nil || d.last-d.first >= maxHints {
		return
	}
	cache.TouchEntries(x.c, d.m, d.first, d.last-d.first+1)
	for i := d.first; i <= d.last; i++ {
		if e := cache.Entry(d.m, i); e.Valid() {
			x.hints = append(x.hints, tree.Hint{ALN: e.ALN(), INCA: e.INCA()})
		}
	}
}

// Insert is INSERT (§3.4.3.2).
func (x *client) Insert(number uint64, value []byte) (bool, error) {
	key := x.known(number)
	p := x.begin(key)
	if p.local(x.c) {
		x.enter(Index)
		ok, err := p.insert(x.c, key, x.real, value)
		if err != nil {
			err = x.full(p, key)
		}
		return ok, err
	}
	x.enter(Call)
	rep := x.c.Call(p.server, x.s.rpc.insert, wire.AddPadded(x.addKey(x.request(), key), value))
	return x.status(p, key, rep)
}

// Delete is DELETE (§3.4.3.2).
func (x *client) Delete(number uint64) (bool, error) {
	key := x.known(number)
	p := x.begin(key)
	if p.local(x.c) {
		x.enter(Index)
		return p.remove(x.c, key, x.real), nil
	}
	x.enter(Call)
	rep := x.c.Call(p.server, x.s.rpc.remove, x.addKey(x.request(), key))
	return x.status(p, key, rep)
}

// status waits for a reply that says no more than how it went.
func (x *client) status(p *part, key uint64, rep *reply) (done bool, err error) {
	if err := x.c.Wait(); err != nil {
		return false, err
	}
	switch {
	case len(rep.B) == 1 && rep.B[0] <= replyFound:
		return rep.B[0] == replyFound, nil
	case len(rep.B) == 1 && rep.B[0] == replyFull:
		return false, x.full(p, key)
	}
	return false, fmt.Errorf("store %s: machine %d refuses key %d", x.s.spec.Name, p.server, key)
}

// full is the error of an insert that finds no room.
func (x *client) full(p *part, key uint64) error {
	return fmt.Errorf("store %s: machine %d has no room for key %d: it was made for %d more than the initial ones", x.s.spec.Name, p.server, key, x.s.spec.Spare)
}

// Interfaces that are kept.
var (
	_ store.KVClient = (*client)(nil)
	_ store.KV       = (*Store)(nil)
)
