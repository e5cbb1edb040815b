package oracle

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// gts is the scheme of Figure 5-2.
type gts struct {
	client
	server                   *global
	draw, install, point     uint8
	draws, installs, reading *service
}

func openGTS(e timestamp.Env) (timestamp.Scheme, error) {
	of, err := clientOf(e, "gts")
	if err != nil {
		return nil, err
	}
	s := &gts{client: of}
	if err := s.client.open(1, s.fetch); err != nil {
		return nil, err
	}
	if s.server, err = newGlobal(e.Cluster, s.oracle); err != nil {
		return nil, err
	}
	s.draw = e.Cluster.Handle("gts.take", s.serveDraw)
	s.install = e.Cluster.Handle("gts.install", s.serveInstall)
	s.point = e.Cluster.Handle("gts.point", s.servePoint)
	s.draws = newService(e.Cluster, &s.opt.batching, s.sendDraw)
	s.installs = newService(e.Cluster, &s.opt.batching, s.sendInstall)
	s.reading = newService(e.Cluster, &s.opt.batching, s.sendPoint)
	return s, nil
}

func gtsTraits(stable bool) timestamp.Traits {
	return timestamp.Traits{Early: true, Acked: stable, Waits: !stable, Oracle: true, Words: 1}
}

func (s *gts) Traits() timestamp.Traits { return gtsTraits(s.opt.stable) }

// Switch reads the knobs. Without stable timestamps no number was installed, and at rest all are.
func (s *gts) Switch(on bool) {
	s.reset(on)
	s.server.stabiliseAll()
}

func (s *gts) Begin(c *r2.Co, x *timestamp.Txn) { x.TS, x.Deps, x.Drawn = 0, x.Deps[:0], false }

func (s *gts) Saw(x *timestamp.Txn, version timestamp.Stamp) {}

func (s *gts) Over(x *timestamp.Txn, tuple, version timestamp.Stamp) {}

// Draw takes a number: one round trip.
func (s *gts) Draw(c *r2.Co, x *timestamp.Txn) error {
	r := s.request(c)
	if err := s.draws.ask(c, r); err != nil {
		return err
	}
	x.TS, x.Drawn = r.stamp, true
	return nil
}

// Done installs it: another one.
func (s *gts) Done(c *r2.Co, x *timestamp.Txn, session *timestamp.Session) {
	session.Seen = max(session.Seen, x.TS)
	s.installNumber(c, x)
}

// Void installs the number of a transaction that has failed, for StableGTS would wait for it.
func (s *gts) Void(c *r2.Co, x *timestamp.Txn) { s.installNumber(c, x) }

func (s *gts) installNumber(c *r2.Co, x *timestamp.Txn) {
	if !s.opt.stable {
		return
	}
	r := s.request(c)
	r.stamp = x.TS
	s.report(c, s.installs.ask(c, r))
}

// Point is StableGTS, or, without stable timestamps, GlobalTS. A strict snapshot waits until all numbers are stable that were
// given out when it began: the transactions that ended before have theirs among them.
func (s *gts) Point(c *r2.Co, session *timestamp.Session, f timestamp.Freshness, p *timestamp.Point) error {
	if err := s.begin(c, session, f, p); err != nil {
		return err
	}
	if f != timestamp.Stale {
		session.Seen = max(session.Seen, timestamp.Stamp(p.Words[0]))
	}
	return nil
}

// fetch asks the oracle for the point.
func (s *gts) fetch(c *r2.Co, p *timestamp.Point) (newest uint64, err error) {
	r := s.request(c)
	r.point = p
	err = s.reading.ask(c, r)
	return r.newest, err
}

func (s *gts) sendDraw(c *r2.Co, batch []*request) error {
	m := c.Mark()
	defer c.Release(m)
	req := c.Buf(4)
	binary.LittleEndian.PutUint32(req.B, uint32(len(batch)))
	rep, err := call(c, s.oracle, s.draw, req.B)
	if err != nil {
		return err
	}
	first := binary.LittleEndian.Uint64(rep)
	for i, r := range batch {
		r.stamp = timestamp.Stamp(first + uint64(i))
	}
	return nil
}

func (s *gts) serveDraw(c *r2.Co, from r2.Peer, req, rep []byte) int {
	s.server.counts.messages++
	first := s.server.draw(c, from.Machine, int(binary.LittleEndian.Uint32(req)))
	binary.LittleEndian.PutUint64(rep, first)
	return 8
}

// sendInstall is of 8 bytes for each number. What finds the queue full comes again.
func (s *gts) sendInstall(c *r2.Co, batch []*request) error {
	most := s.env.Cluster.MaxPayload() / 8
	for len(batch) > 0 {
		m := c.Mark()
		some := batch[:min(len(batch), most)]
		req := c.Buf(8 * len(some)).B
		for i, r := range some {
			binary.LittleEndian.PutUint64(req[8*i:], r.stamp.Counter())
		}
		rep, err := call(c, s.oracle, s.install, req)
		if err != nil {
			return err
		}
		taken := int(binary.LittleEndian.Uint32(rep))
		c.Release(m)
		if batch = batch[taken:]; taken < len(some) {
			calm(c)
		}
	}
	return nil
}

func (s *gts) serveInstall(c *r2.Co, from r2.Peer, req, rep []byte) int {
	s.server.counts.messages++
	taken := 0
	for ; 8*taken < len(req) && s.server.install(c, binary.LittleEndian.Uint64(req[8*taken:])); taken++ {
	}
	binary.LittleEndian.PutUint32(rep, uint32(taken))
	return 4
}

func (s *gts) sendPoint(c *r2.Co, batch []*request) error {
	m := c.Mark()
	defer c.Release(m)
	rep, err := call(c, s.oracle, s.point, nil)
	if err != nil {
		return err
	}
	stable, newest := binary.LittleEndian.Uint64(rep), binary.LittleEndian.Uint64(rep[8:])
	if !s.opt.stable {
		stable = newest
	}
	for _, r := range batch {
		r.point.One(timestamp.Stamp(stable))
		r.newest = newest
	}
	return nil
}

func (s *gts) servePoint(c *r2.Co, from r2.Peer, req, rep []byte) int {
	s.server.counts.messages++
	stable, newest := s.server.point(c)
	binary.LittleEndian.PutUint64(rep, stable)
	binary.LittleEndian.PutUint64(rep[8:], newest)
	return 16
}

// Stuck says what the stable timestamp waits for.
func (s *gts) Stuck() string {
	if !s.opt.stable {
		return ""
	}
	return s.server.stuck()
}

// State is what a script shows of the oracle.
func (s *gts) State() string {
	return fmt.Sprintf("GlobalTS=%d StableGTS=%d", s.server.newest(), s.server.stable)
}
