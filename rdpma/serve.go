package rdpma

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
)

// A request is block, generation, offset, and how many bytes with flagPersist,
// four 32-bit words, and for a write its bytes. A reply is a status, and for a
// read the bytes.
const (
	requestBytes = 16
	flagPersist  = 1 << 31
	statusBytes  = 1
)

// Statuses of a reply.
const (
	statusDone = iota
	statusFreed
	statusStale
)

// refusal is the error in a reply.
func refusal(r *r2.Reply) error {
	if len(r.B) == 0 {
		return nil // the call itself failed, and Wait said why
	}
	switch r.B[0] {
	case statusFreed:
		return fmt.Errorf("rdpma: the server refused: %w", ErrFreed)
	case statusStale:
		return fmt.Errorf("rdpma: the server refused: %w", ErrStale)
	}
	return nil
}

// call posts the messages of a two-sided operation: several if the bytes do not
// fit into one.
func (b *Batch) call(p Ptr, rpc uint8, off, n int, data []byte, persist bool) Data {
	m, c := b.m, b.c
	if c.Home() != int(p.socket) {
		b.own.counts.CrossSocket++
	}
	var d Data
	for done := 0; done < n; done += m.chunk {
		k := min(m.chunk, n-done)
		word := uint32(k)
		if persist {
			word |= flagPersist
		}
		req := make([]byte, 0, requestBytes+k)
		req = binary.LittleEndian.AppendUint32(req, p.block)
		req = binary.LittleEndian.AppendUint32(req, p.gen)
		req = binary.LittleEndian.AppendUint32(req, uint32(off+done))
		req = binary.LittleEndian.AppendUint32(req, word)
		if data != nil {
			req = append(req, data[done:done+k]...)
		}
		r := c.Call(int(p.machine), rpc, req)
		b.replies = append(b.replies, r)
		d.parts = append(d.parts, r)
	}
	return d
}

// request is what a message asks for.
type request struct {
	blk     *block
	at      r2.Addr
	off, n  int
	persist bool
	status  byte
}

// parse resolves a request on the server: the memory may have been freed since
// the client looked.
func (m *Memory) parse(c *r2.Co, req []byte) request {
	word := binary.LittleEndian.Uint32(req[12:])
	blk := &m.servers[c.Machine()].blocks[binary.LittleEndian.Uint32(req)]
	q := request{blk: blk, off: int(binary.LittleEndian.Uint32(req[8:])), n: int(word &^ flagPersist), persist: word&flagPersist != 0}
	if gen := binary.LittleEndian.Uint32(req[4:]); blk.gen != gen {
		q.status = statusStale
		if blk.gen&1 == 0 {
			q.status = statusFreed
		}
	}
	q.at = blk.addr + r2.Addr(q.off)
	return q
}

// serveWrite stores a payload: with ntstore where H4 or H7 say so, else with
// stores that bring the lines into the cache. Persistence needs a fence behind
// the one, and clwb and a fence behind the other (§2.3.2.2).
func (m *Memory) serveWrite(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	q := m.parse(c, req)
	rep[0] = q.status
	if q.status != statusDone {
		return statusBytes
	}
	data := m.padded(m.own.Of(c.Machine()), q.blk, q.off, req[requestBytes:requestBytes+q.n], TwoSided)
	if m.hints.nonTemporal(q.n) {
		c.StoreNT(q.at, data)
	} else {
		c.Store(q.at, data)
		if q.persist {
			c.Flush(q.at, len(data))
		}
	}
	if q.persist {
		c.Fence()
	}
	return statusBytes
}

// serveRead copies the bytes into the reply.
func (m *Memory) serveRead(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	q := m.parse(c, req)
	rep[0] = q.status
	if q.status != statusDone {
		return statusBytes
	}
	return statusBytes + copy(rep[statusBytes:], c.Load(q.at, q.n))
}
