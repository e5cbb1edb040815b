package rococo

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/versions"
	"drtmx/engine/wire"
)

// Rococo as a host of snapshots (§5.3.2):
//
//	Start    the answer has the largest timestamp of the records, read after they are claimed, and the coordinator derives a
//	         larger one (RW1)
//	Commit   the graph makes of it one that is larger than those of all that comes before, in the order in which they run: the
//	         same on all servers (graph.stampAll). Pieces install it, with what they read and write (RW2)
//
// A snapshot raises the timestamps of its records and then waits for those that have claimed them before, as a read-only
// transaction without timestamps does, once: a transaction that claims them afterwards has a larger stamp.

// openVersions prepares what records with versions need.
func (p *protocol) openVersions() (err error) {
	p.MV, err = versions.Open(p.DB, startHost{p}, p.Cfg.Timestamps, versions.Costs{Fetch: p.cost.begin, Record: p.cost.read, Handler: p.cost.request})
	return err
}

// startHost says that there are no locks, and which transactions have to be waited for all the same.
type startHost struct{ p *protocol }

func (startHost) Busy(uint64) bool { return false }

// TryLockRow and RowRemoved are for the collector of tombstones alone.
func (startHost) TryLockRow(c *r2.Co, row r2.Addr) (word uint64, won bool) {
	return collected, c.LocalCAS(row, 0, collected) == 0
}
func (startHost) RowRemoved(*r2.Co, r2.Addr) {}

func (h startHost) AwaitWriters(c *r2.Co, items []byte) (blocked int, waited r2.Time) {
	return h.p.servers[c.Machine()].awaitWriters(c, items)
}

// stamps says that a scheme is in force which gives them: records may have versions without.
func (p *protocol) stamps() bool { return p.MV != nil && p.Cfg.Timestamps.Versions() }

// next is the sequence of the version after one.
func (p *protocol) next(seq uint64) uint64 {
	if p.MV != nil {
		return record.NextVersion(seq)
	}
	return record.Next(seq)
}

// least is what the stamp of a transaction has to be larger than that has claimed a record to do a piece.
func (s *server) least(c *r2.Co, x *piece) (uint64, error) {
	t := x.table
	if t.Constant {
		return 0, nil
	}
	loc, ok, err := t.Store.LookupLocal(c, x.key)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return s.p.MV.Guard(c, t, x.key), nil
	}
	tuple, version := s.p.MV.Under(c, loc.Addr)
	if x.op.Changes() {
		return max(tuple, version), nil
	}
	return version, nil
}

// reserveAll takes room for the versions that a plan overwrites.
func (s *server) reserveAll(c *r2.Co, list []*node) {
	for _, n := range list {
		for i := range n.pieces {
			if x := &n.pieces[i]; x.op.Writes {
				s.reserve(c, x.table)
			}
		}
	}
}

// reserve takes room for a version that is overwritten. Transactions cannot abort: where there is none it waits until some are collected.
func (s *server) reserve(c *r2.Co, t *txn.Table) {
	for polls := 0; !s.p.MV.Reserve(c, t); polls++ {
		if polls == roomPolls {
			c.Fail(fmt.Errorf("rococo: machine %d has had no room for an old version of table %s for %d ms: snapshots that wait for this transaction may need them all; %s", s.machine, t.Name, roomPolls*roomPollNS/1_000_000, timestamp.MoreRoom))
		}
		c.Sleep(r2.Time(roomPollNS) * 1000)
	}
}

// Room is looked for so often, and so long after the last time.
const (
	roomPolls  = 2_000
	roomPollNS = 50_000
)

// stampWords is what servers tell each other of a transaction's timestamp: how far it is known, itself or what it has to be
// at least, and the bounds of its component.
const stampWords = 4

func (n *node) encodeStamp(b []byte) int {
	wire.Put64(b, 0)
	wire.Put64(b[word:], n.least)
	if n.stamped {
		wire.Put64(b, 1)
		wire.Put64(b[word:], n.stamp)
	}
	wire.Put64(b[2*word:], n.floor)
	wire.Put64(b[3*word:], n.top)
	return stampWords * word
}

func (n *node) decodeStamp(b []byte) (rest []byte) {
	n.least, n.stamp, n.stamped = wire.Get64(b[word:]), wire.Get64(b[word:]), wire.Get64(b) != 0
	n.floor, n.top = wire.Get64(b[2*word:]), wire.Get64(b[3*word:])
	return b[stampWords*word:]
}

// StampsDiffer is the kind of anomaly of a transaction that has another timestamp on another server.
const StampsDiffer = "stamps-differ"

// final takes the timestamp that a server has found for the transaction.
func (s *session) final(stamp uint64, m int) {
	if s.stamp == 0 {
		s.stamp = stamp
	}
	if s.stamp != stamp {
		s.p.DB.Note(s.C.Machine(), anomaly(StampsDiffer, fmt.Sprintf("a transaction has stamp %d, and stamp %d on machine %d", s.stamp, stamp, m)))
	}
}
