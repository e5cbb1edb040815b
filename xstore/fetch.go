package xstore

import (
	"encoding/binary"

	"drtmx/engine/r2"
	"drtmx/xstore/model"
)

// translate takes the entries of a prediction from the cache, or READs them where the mode keeps none (§3.4.1). Entries of
// another generation than the sub-model's are of no use to it: then both are fetched anew.
func (x *client) translate(cache *cache, d *prediction) (o outcome, err error) {
	x.entries = x.entries[:0]
	if x.mode == Full {
		if !cache.holds(d) { // it was refreshed since the prediction
			return again, nil
		}
		cache.touchEntries(x.c, d.m, d.first, d.last-d.first+1)
		for i := d.first; i <= d.last; i++ {
			x.entries = append(x.entries, cache.entry(d.m, i))
		}
		return found, nil
	}
	line := d.m * d.v.stride
	at, n := span(d.first, d.last)
	if linesFor(uint32(d.sub.Entries())) > d.v.stride {
		buf := x.c.Read(d.v.lineLoc(line), lineHeader+entryBytes)
		if err := x.c.Wait(); err != nil {
			return invalid, err
		}
		x.c.TouchDMA(buf.Addr, len(buf.B))
		if l := ttLine(buf.B); l.far() {
			line = l.farLine()
		}
	}
	loc := d.v.lineLoc(line)
	loc.Addr += at
	buf := x.c.Read(loc, n)
	if err := x.c.Wait(); err != nil {
		return invalid, err
	}
	x.c.TouchDMA(buf.Addr, n)
	if x.take(buf.B, d.sub.Generation(), d.first, d.last) {
		return found, nil
	}
	if x.mode == Model && cache.holds(d) {
		cache.drop(d.m)
	}
	return again, nil
}

// take appends the entries from first to last of lines that begin with the one of first. ok is false if a line is of
// another generation.
func (x *client) take(lines []byte, generation, first, last uint32) (ok bool) {
	for i := first; i <= last; i++ {
		at := (i/lineEntries - first/lineEntries) * lineBytes
		l := ttLine(lines[at:])
		if l.generation() != generation && !x.s.opt.planted.oldModel {
			return false
		}
		x.entries = append(x.entries, l.entry(i%lineEntries))
	}
	return true
}

// readSub READs a sub-model.
func (x *client) readSub(v *version, m uint32) (s model.Sub, span model.Span, err error) {
	buf := x.c.Read(v.subLoc(m), v.subBytes)
	if err := x.c.Wait(); err != nil {
		return s, span, err
	}
	x.c.TouchDMA(buf.Addr, len(buf.B))
	s, span = v.parse(buf.B)
	return s, span, nil
}

// parse takes a sub-model, and its span if there is one, out of what was fetched.
func (v *version) parse(b []byte) (s model.Sub, span model.Span) {
	if v.model.Tabled() {
		span = model.GetSpan(b[model.SubBytes:])
	}
	return model.GetSub(b), span
}

// fetch READs a sub-model that the cache does not have, and its table if the mode keeps it, in one round trip. Where both are
// being changed they do not fit each other, and the next lookup fetches them again.
func (x *client) fetch(p *part, cache *cache, m uint32) error {
	v := cache.v
	p.stats.Fetches++
	if x.mode != Full {
		s, span, err := x.readSub(v, m)
		if err == nil && cache.v == v {
			cache.put(m, s, span, nil)
		}
		return err
	}
	lines := int(v.stride) * lineBytes
	sub, table := x.c.Read(v.subLoc(m), v.subBytes), x.c.Read(v.lineLoc(m*v.stride), lines)
	if err := x.c.Wait(); err != nil {
		return err
	}
	x.c.TouchDMA(sub.Addr, len(sub.B))
	x.c.TouchDMA(table.Addr, lines)
	s, span := v.parse(sub.B)
	n := uint32(s.Entries())
	if l := ttLine(table.B); n > 0 && l.far() && l.generation() == s.Generation() {
		table = x.c.Read(v.lineLoc(l.farLine()), int(linesFor(n))*lineBytes)
		if err := x.c.Wait(); err != nil {
			return err
		}
		x.c.TouchDMA(table.Addr, len(table.B))
	}
	x.install(cache, v, m, s, span, table)
	return nil
}

// install puts a sub-model into the cache with the table that was READ for it, if they are of one generation.
func (x *client) install(cache *cache, v *version, m uint32, s model.Sub, span model.Span, table r2.Buf) {
	n := uint32(s.Entries())
	x.entries = x.entries[:0]
	if int(linesFor(n))*lineBytes > len(table.B) || n > 0 && !x.take(table.B, s.Generation(), 0, n-1) {
		return
	}
	if cache.v == v {
		cache.put(m, s, span, x.entries)
		cache.touchSub(x.c, m)
		cache.touchEntries(x.c, m, 0, n)
	}
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
	number := binary.LittleEndian.Uint32(buf.B)
	if number == cache.v.number {
		return nil
	}
	return x.change(p, cache, number)
}

// change READs the top model of a version and begins with it anew. Its bytes are charged, its values are Go's.
func (x *client) change(p *part, cache *cache, number uint32) error {
	v := p.versions[number]
	x.c.Read(v.topLoc(), v.model.Bytes())
	if err := x.c.Wait(); err != nil {
		return err
	}
	return cache.use(x.s.cl, x.c.Machine(), x.c.Home(), v)
}
