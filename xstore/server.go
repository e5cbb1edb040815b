package xstore

import (
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/xstore/model"
	"drtmx/xstore/tree"
)

// handle installs the handlers of the server-centric operations.
func (s *Store) handle() {
	s.rpc.get = s.cl.Handle(s.spec.Name+".get", s.serveGet)
	s.rpc.update = s.cl.Handle(s.spec.Name+".update", s.serveUpdate)
	s.rpc.insert = s.cl.Handle(s.spec.Name+".insert", s.serveInsert)
	s.rpc.remove = s.cl.Handle(s.spec.Name+".delete", s.serveDelete)
	s.rpc.scan = s.cl.Handle(s.spec.Name+".scan", s.serveScan)
}

// serving is the part of the server that a handler runs on.
func (s *Store) serving(c *r2.Co) *part { return s.parts[c.Machine()] }

// serveGet answers a GET that a client's cache could not, and sends along what is newer than the client's.
func (s *Store) serveGet(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	p := s.serving(c)
	key, real, req := s.cutKey(req)
	rep[0], rep[1] = replyMissing, refreshNone
	at := headReply
	if _, ok := p.tree.GetReal(c, key, real, rep[headReply:][:s.spec.ValueBytes]); ok {
		rep[0] = replyFound
		at += padded(s.spec.ValueBytes)
	}
	if version, m := u32(req), u32(req[4:]); version == p.current.number {
		var n int
		rep[1], n = p.current.refresh(c, m, u32(req[8:]), rep[at:])
		at += n
	}
	return at
}

// refresh writes a sub-model and its table into a reply, if they are of another generation than the client's. While a trainer
// writes them they do not fit each other, and the client has to come again.
func (v *version) refresh(c *r2.Co, m, generation uint32, rep []byte) (kind byte, n int) {
	s, span := v.parse(c.Load(v.subLoc(m).Addr, v.subBytes))
	if s.Generation() == generation {
		return refreshNone, 0
	}
	entries := uint32(s.Entries())
	line := m * v.stride
	if linesFor(entries) > v.stride {
		line = v.farAt[m].line
	}
	at := padded(v.subBytes)
	if at+int(entries)*entryBytes > len(rep) {
		return refreshRead, 0
	}
	s.Put(rep)
	if v.model.Tabled() {
		span.Put(rep[model.SubBytes:])
	}
	for i := uint32(0); i < entries; i += lineEntries {
		l := ttLine(c.Load(v.lineLoc(line+i/lineEntries).Addr, lineBytes))
		if l.generation() != s.Generation() {
			return refreshNone, 0
		}
		for k := range min(lineEntries, entries-i) {
			put64(rep[at:], uint64(l.entry(k)))
			at += entryBytes
		}
	}
	return refreshHere, at
}

// serveUpdate looks at the hinted leaves first (§3.4.3.1).
func (s *Store) serveUpdate(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	key, real, req := s.cutKey(req)
	n := min(int(req[0]), maxHints)
	var hints [maxHints]tree.Hint
	for i, b := 0, req[8+padded(s.spec.ValueBytes):]; i < n; i++ {
		hints[i] = tree.Hint{ALN: u32(b[i*8:]), INCA: u32(b[i*8+4:])}
	}
	return answer(rep, s.serving(c).update(c, hints[:n], key, real, req[8:][:s.spec.ValueBytes]))
}

func (s *Store) serveInsert(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	key, real, req := s.cutKey(req)
	ok, err := s.serving(c).insert(c, key, real, req[:s.spec.ValueBytes])
	if errors.Is(err, tree.ErrFull) {
		rep[0] = replyFull
		return 1
	}
	return answer(rep, ok)
}

func (s *Store) serveDelete(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	key, real, _ := s.cutKey(req)
	return answer(rep, s.serving(c).remove(c, key, real))
}

// serveScan scans the tree, as far as the server's keys go.
func (s *Store) serveScan(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	p, to := s.serving(c), ^uint64(0)
	if len(req) > scanBytes {
		to = u64(req[scanBytes:])
	}
	n := min(int(u32(req[8:])), len(rep)/s.pairBytes())
	return len(p.scan(c, u64(req), to, n, u32(req[12:]) != 0, rep[:0]))
}

// pairBytes is a pair in a reply.
func (s *Store) pairBytes() int { return 8 + s.spec.ValueBytes }

func answer(rep []byte, done bool) int {
	rep[0] = replyMissing
	if done {
		rep[0] = replyFound
	}
	return 1
}

// What follows is done on the server's CPU, by a handler or by a client of the same machine.

// update overwrites a value. It cannot lack room: values have one length.
func (p *part) update(c *r2.Co, hints []tree.Hint, key uint64, real, value []byte) bool {
	ok, hinted, err := p.tree.UpdateReal(c, hints, key, real, value)
	if err != nil {
		p.s.cl.Fail(fmt.Errorf("store %s: machine %d: update of key %d: %w", p.s.spec.Name, p.server, key, err))
	}
	p.stats.Updates++
	if hinted {
		p.stats.Hinted++
	}
	if ok {
		p.record(c, recordPut, key, real, value)
	}
	return ok
}

// scan scans the tree.
func (p *part) scan(c *r2.Co, from, to uint64, n int, down bool, dst []byte) []byte {
	if down {
		return p.tree.ScanDown(c, from, to, n, dst)
	}
	return p.tree.ScanUp(c, from, to, n, dst)
}

// insert inserts on the tree. err is tree.ErrFull where it has no room.
func (p *part) insert(c *r2.Co, key uint64, real, value []byte) (ok bool, err error) {
	if ok, err = p.tree.InsertReal(c, key, real, value); ok {
		p.keys++
		p.record(c, recordPut, key, real, value)
		p.tellSplits(c)
		p.inserted(c, key)
	}
	return ok, err
}

// remove deletes on the tree. Leaves that are empty stay.
func (p *part) remove(c *r2.Co, key uint64, real []byte) (ok bool) {
	if ok = p.tree.DeleteReal(c, key, real); ok {
		p.keys--
		p.record(c, recordDelete, key, real, nil)
	}
	return ok
}
