package xstore

import "drtmx/engine/wire"

// translate takes the entries of a prediction from the cache, or READs them where the mode keeps none (§3.4.1). Entries of
// another generation than the sub-model's are of no use to it: then both are fetched anew.
func (x *client) translate(cache *cache, d *prediction) (o outcome, err error) {
	x.entries = x.entries[:0]
	if x.mode == Full {
		if !cache.Holds(d.v, d.m, d.sub) { // it was refreshed since the prediction
			return again, nil
		}
		cache.TouchEntries(x.c, d.m, d.first, d.last-d.first+1)
		for i := d.first; i <= d.last; i++ {
			x.entries = append(x.entries, cache.Entry(d.m, i))
		}
		return found, nil
	}
	var fits bool
	x.entries, fits, err = d.v.ReadEntries(x.c, d.m, d.sub, d.first, d.last, x.s.opt.planted.oldModel, x.entries)
	switch {
	case err != nil:
		return invalid, err
	case fits:
		return found, nil
	}
	if x.mode == Model && cache.Holds(d.v, d.m, d.sub) {
		cache.Drop(d.m)
	}
	return again, nil
}

// fetch READs a sub-model that the cache does not have, and its table if the mode keeps it, in one round trip. Where both are
// being changed they do not fit each other, and the next lookup fetches them again.
func (x *client) fetch(p *part, cache *cache, m uint32) error {
	v := cache.Version
	p.counts(x.c).Fetches++
	if x.mode != Full {
		s, span, err := v.ReadSub(x.c, m)
		if err == nil && cache.Version == v {
			cache.Put(m, s, span, nil)
		}
		return err
	}
	s, span, entries, fits, err := v.Read(x.c, m, x.s.opt.planted.oldModel, x.entries[:0])
	if x.entries = entries; err == nil && fits && cache.Version == v {
		cache.Put(m, s, span, entries)
		cache.TouchSub(x.c, m)
		cache.TouchEntries(x.c, m, 0, uint32(len(entries)))
	}
	return err
}

const (
	// checkEvery is how long a cache goes on with a version before it looks whether there is another one. Assumed: expansions are
	// rare, and one READ in so long costs nothing.
	checkEvery = 200_000_000
	headBytes  = 8
)

// checkVersion READs the number of the server's version now and then, and changes to it: sub-models are then fetched as they
// are needed (§3.4.3.2, model expansion).
func (x *client) checkVersion(p *part, cache *cache) error {
	if cache.checking || x.c.Now()-cache.checkedAt < checkEvery {
		return nil
	}
	cache.checking = true
	defer func() { cache.checking = false }()
	buf := x.c.Read(p.headLoc(), headBytes)
	if err := x.c.Wait(); err != nil {
		return err
	}
	cache.checkedAt = x.c.Now()
	number := wire.Get32(buf.B)
	if number == cache.Version.Number {
		return nil
	}
	return x.change(p, cache, number)
}

// change READs the top model of a version and begins with it anew. Its bytes are charged, its values are Go's.
func (x *client) change(p *part, cache *cache, number uint32) error {
	v := cache.Version
	if number < v.Number { // the server has crashed
		v = p.first
	}
	for v.Number != number {
		v = v.Next
	}
	x.c.Read(v.TopLoc(), v.Model.Bytes())
	if err := x.c.Wait(); err != nil {
		return err
	}
	return cache.Use(x.s.cl, x.c.Machine(), x.c.Home(), v)
}
