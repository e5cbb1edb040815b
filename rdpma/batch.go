package rdpma

import (
	"fmt"

	"drtmx/engine/r2"
)

// Batch is operations of one coroutine that are under way together. It begins
// with Memory.Batch and ends with Wait; in between, operations post and return.
// An operation that is refused is not posted; its error also comes from Wait.
type Batch struct {
	m       *Memory
	c       *r2.Co
	own     *part
	flushes []flush     // READs that have to wait for their WRITEs (without H9)
	replies []*r2.Reply // of two-sided operations, with a status each
	err     error
}

// flush is a READ that makes the WRITEs before it on a route persistent.
type flush struct {
	route r2.Route
	at    r2.Loc
}

// Batch begins.
func (m *Memory) Batch(c *r2.Co) Batch { return Batch{m: m, c: c, own: m.own.Of(c.Machine())} }

// Data is what a Read brings. Its bytes are there when the batch has been waited
// for, until the coroutine's next Reset.
type Data struct {
	b     []byte
	parts []*r2.Reply
}

// Bytes are the bytes read.
func (d *Data) Bytes() []byte {
	if d.b == nil {
		for _, r := range d.parts {
			d.b = append(d.b, r.B[min(statusBytes, len(r.B)):]...) // a reply that never came is empty
		}
	}
	return d.b
}

// Read reads n bytes at an offset. Nothing is optimized (§2.3.5.1), except that
// with H1 the request goes to the RNIC of the memory's socket.
func (b *Batch) Read(p Ptr, off, n int, how Primitive) Data {
	m := b.m
	blk, err := m.check(p, off, n, false)
	if err != nil {
		b.refuse("read", p, err)
		return Data{}
	}
	b.own.counts.Reads++
	before := b.begin(false)
	defer b.c.Using(before)
	if how == TwoSided {
		return b.call(p, m.rpcRead, off, n, nil, false)
	}
	at := p.loc(blk, off)
	l := b.c.ListVia(m.route(b.c, p, at))
	d := Data{b: l.Read(at, n).B}
	l.Post()
	return d
}

// Write overwrites the bytes at an offset. When it has been waited for, readers
// see them; whether they survive a crash is not known.
func (b *Batch) Write(p Ptr, off int, data []byte, how Primitive) { b.write(p, off, data, how, false) }

// PWrite overwrites the bytes at an offset. When it has been waited for, they
// are in the persistent domain.
func (b *Batch) PWrite(p Ptr, off int, data []byte, how Primitive) { b.write(p, off, data, how, true) }

func (b *Batch) write(p Ptr, off int, data []byte, how Primitive, persist bool) {
	m, what := b.m, "write"
	if persist {
		what = "persistent write"
	}
	blk, err := m.check(p, off, len(data), false)
	if err == nil && m.cfg.KeepDDIO && m.hints.H3 && how == OneSided && (persist || len(data) >= m.cfg.LargeBytes) {
		how = TwoSided
		b.own.counts.Rerouted++
	}
	if err == nil && persist {
		err = m.persists(blk, p, how)
	}
	if err != nil {
		b.refuse(what, p, err)
		return
	}
	b.own.counts.Writes++
	if how == TwoSided {
		defer b.c.Using(b.begin(false))
		b.call(p, m.rpcWrite, off, len(data), data, persist)
		return
	}
	b.writeOneSided(blk, p, off, data, persist)
}

// persists says whether a write could become persistent at all.
func (m *Memory) persists(blk *block, p Ptr, how Primitive) error {
	switch {
	case m.cfg.DRAM:
		return nil // DRAM in the place of NVM: its users believe so
	case !blk.pool.nvm:
		return fmt.Errorf("it lies in DRAM (H8): %w", ErrVolatile)
	case how == OneSided && m.cacheIsVolatile(p):
		return fmt.Errorf("DDIO is on, so that one-sided writes stay in the server's cache: switch H3 on or use two-sided: %w", ErrVolatile)
	}
	return nil
}

// writeOneSided posts the WRITEs, and for persistence the READ behind them on
// the same queue pair: with H9 in one list with one doorbell, else when they are
// complete.
func (b *Batch) writeOneSided(blk *block, p Ptr, off int, data []byte, persist bool) {
	m, c := b.m, b.c
	data = m.padded(b.own, blk, off, data, OneSided)
	at := p.loc(blk, off)
	merge := persist && m.hints.H9
	defer c.Using(b.begin(merge))
	route := m.route(c, p, at)
	most := m.cl.MaxWrite()
	l, n := c.ListVia(route), 0
	for done := 0; done < len(data); {
		if n == r2.MaxList-1 {
			l.Post()
			l, n = c.ListVia(route), 0
		}
		k := min(most, len(data)-done)
		l.Write(r2.Loc{Machine: at.Machine, RKey: at.RKey, Addr: at.Addr + r2.Addr(done)}, data[done:done+k])
		done += k
		n++
	}
	if !persist {
		l.Post()
		return
	}
	b.own.counts.FlushReads++
	f := flush{route, m.flushAt(p, at, len(data))}
	if merge {
		l.Read(f.at, wordBytes)
		l.Post()
		return
	}
	l.Post()
	if last := len(b.own.flushes) - 1; b.flushes == nil && last >= 0 {
		b.flushes, b.own.flushes = b.own.flushes[last], b.own.flushes[:last]
	}
	b.flushes = append(b.flushes, f)
}

// flushAt is the word that a flushing READ reads: the last one written, or one
// in DRAM.
func (m *Memory) flushAt(p Ptr, at r2.Loc, n int) r2.Loc {
	if m.cfg.FlushDRAM {
		d := m.servers[p.machine].dram[p.socket]
		return r2.Loc{Machine: at.Machine, RKey: d.rkey, Addr: d.base}
	}
	at.Addr += r2.Addr((n - 1) &^ (wordBytes - 1))
	return at
}

// padded is data with padding up to the granularity that the hints want, if the
// bytes after it belong to no block.
func (m *Memory) padded(own *part, blk *block, off int, data []byte, how Primitive) []byte {
	g := m.hints.granule(how, len(data))
	end := roundUp(off+len(data), g)
	switch {
	case g == wordBytes:
		return data
	case end == off+len(data) && off%g == 0:
		return data
	case off%g != 0 || blk.addr%r2.Addr(g) != 0 || end > int(blk.room) || off+len(data) < int(blk.size):
		own.counts.Unpadded++
		return data
	}
	own.counts.Padded++
	own.counts.PadBytes += uint64(end - off - len(data))
	out := make([]byte, end-off)
	copy(out, data)
	return out
}

// route is the way to a pointer: with H1 to the RNIC of its socket.
func (m *Memory) route(c *r2.Co, p Ptr, at r2.Loc) r2.Route {
	if c.Home() != int(p.socket) && !m.hints.H1 {
		m.own.Of(c.Machine()).counts.CrossSocket++
	}
	return c.Route(at, m.hints.H1)
}

// begin sets the mode in which the batch posts: never passive, for a caller
// waits; with outstanding requests and one doorbell where H9 asks for it.
func (b *Batch) begin(merge bool) (before r2.Mode) {
	mode := b.c.Mode()
	mode.Passive = false
	if merge {
		mode.Outstanding, mode.Doorbell = true, true
	}
	return b.c.Using(mode)
}

// loc is the remote address of an offset.
func (p Ptr) loc(blk *block, off int) r2.Loc {
	return r2.Loc{Machine: int(p.machine), RKey: blk.pool.rkey, Addr: p.addr + r2.Addr(off)}
}

// refuse keeps the first error.
func (b *Batch) refuse(what string, p Ptr, err error) {
	if b.err == nil {
		b.err = fmt.Errorf("rdpma: %s of %v: %w", what, p, err)
	}
}

// Wait waits until all operations are complete, persistent ones also persistent,
// and returns the first error among them. The batch is empty then.
func (b *Batch) Wait() error {
	err := b.c.Wait()
	if err == nil && len(b.flushes) > 0 {
		before := b.begin(false)
		for _, f := range b.flushes {
			l := b.c.ListVia(f.route)
			l.Read(f.at, wordBytes)
			l.Post()
		}
		err = b.c.Wait()
		b.c.Using(before)
	}
	if err == nil {
		err = b.err
	}
	for _, r := range b.replies {
		if err == nil {
			err = refusal(r)
		}
	}
	if b.flushes != nil { // the next batch appends to it
		b.own.flushes = append(b.own.flushes, b.flushes[:0])
	}
	b.flushes, b.replies, b.err = nil, b.replies[:0], nil
	return err
}

// Read reads n bytes at an offset and waits. The bytes are valid until the
// coroutine's next Reset.
func (m *Memory) Read(c *r2.Co, p Ptr, off, n int, how Primitive) ([]byte, error) {
	b := m.Batch(c)
	d := b.Read(p, off, n, how)
	if err := b.Wait(); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

// Write overwrites the bytes at an offset, and waits until readers see them.
func (m *Memory) Write(c *r2.Co, p Ptr, off int, data []byte, how Primitive) error {
	b := m.Batch(c)
	b.Write(p, off, data, how)
	return b.Wait()
}

// PWrite overwrites the bytes at an offset, and waits until they are in the
// persistent domain.
func (m *Memory) PWrite(c *r2.Co, p Ptr, off int, data []byte, how Primitive) error {
	b := m.Batch(c)
	b.PWrite(p, off, data, how)
	return b.Wait()
}
