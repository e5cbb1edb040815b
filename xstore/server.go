package xstore

import (
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/wire"
	"drtmx/xstore/published"
	"drtmx/xstore/redo"
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
	rep[0], rep[1] = replyMissing, published.NotNewer
	at := headReply
	if _, ok := p.tree.GetReal(c, key, real, rep[headReply:][:s.spec.ValueBytes]); ok {
		rep[0] = replyFound
		at += wire.Padded(s.spec.ValueBytes)
	}
	if version, m := wire.Get32(req), wire.Get32(req[4:]); version == p.current.Number {
		var n int
		rep[1], n = p.current.PutNewer(c, m, wire.Get32(req[8:]), rep[at:])
		at += n
	}
	return at
}

// serveUpdate looks at the hinted leaves first (§3.4.3.1).
func (s *Store) serveUpdate(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	key, real, req := s.cutKey(req)
	n := min(int(req[0]), maxHints)
	var hints [maxHints]tree.Hint
	for i, b := 0, req[8+wire.Padded(s.spec.ValueBytes):]; i < n; i++ {
		hints[i] = tree.Hint{ALN: wire.Get32(b[i*8:]), INCA: wire.Get32(b[i*8+4:])}
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
		to = wire.Get64(req[scanBytes:])
	}
	n := min(int(wire.Get32(req[8:])), len(rep)/s.pairBytes())
	return len(p.scan(c, wire.Get64(req), to, n, wire.Get32(req[12:]) != 0, rep[:0]))
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
		c.Fail(fmt.Errorf("store %s: machine %d: update of key %d: %w", p.s.spec.Name, p.server, key, err))
	}
	p.counts(c).Updates++
	if hinted {
		p.counts(c).Hinted++
	}
	if ok {
		p.record(c, redo.Put, key, real, value)
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
		p.record(c, redo.Put, key, real, value)
		p.tellSplits(c)
		p.inserted(c, key)
	}
	return ok, err
}

// remove deletes on the tree. Leaves that are empty stay.
func (p *part) remove(c *r2.Co, key uint64, real []byte) (ok bool) {
	if ok = p.tree.DeleteReal(c, key, real); ok {
		p.keys--
		p.record(c, redo.Delete, key, real, nil)
	}
	return ok
}
