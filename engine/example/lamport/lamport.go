// Package lamport is a scheme of timestamps: Lamport's logical clocks. Machines have no other time, so a snapshot is as old as what
// its machine has heard of.
//
// A transaction's stamp is larger than those of all that it depends on, and than those that its machine has given or met before. As
// under DST, readers raise tuple timestamps, and so what commits is serialisable with what snapshots read. No clock runs on while a
// machine hears nothing: nothing is promised of the age of a snapshot, and there is none that is strict.
package lamport

import (
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// Kind is the scheme in the list of parts.
var Kind = timestamp.Kind{
	Name:   "lamport",
	Doc:    "logical clocks, which move as messages come",
	Traits: func(knob.Values) timestamp.Traits { return traits },
	Claim:  history.Serializable,
	Open: func(e timestamp.Env) (timestamp.Scheme, error) {
		return &scheme{clocks: make([]timestamp.Stamp, e.Cluster.Machines())}, nil
	},
}

// Snapshots raise tuple timestamps, and wait for writers that may be in front of them.
var traits = timestamp.Traits{Claims: true, Waits: true, Words: 1}

type scheme struct{ clocks []timestamp.Stamp } // by machine

func (*scheme) Traits() timestamp.Traits { return traits }

// tick is the next time of a machine, later than what it meets.
func (s *scheme) tick(c *r2.Co, met timestamp.Stamp) timestamp.Stamp {
	t := &s.clocks[c.Machine()]
	*t = max(t.Next(), met)
	return *t
}

func (s *scheme) Begin(c *r2.Co, x *timestamp.Txn) {
	*x = timestamp.Txn{TS: s.tick(c, 0), Deps: x.Deps[:0]}
}

// Saw: the writer of what was read comes before.
func (s *scheme) Saw(x *timestamp.Txn, version timestamp.Stamp) { x.TS = max(x.TS, version.Next()) }

// Over: transactions that have read or written what is overwritten come before.
func (s *scheme) Over(x *timestamp.Txn, tuple, version timestamp.Stamp) {
	x.TS = max(x.TS, tuple.Next(), version.Next())
}

// Draw: the stamp is what came together.
func (s *scheme) Draw(_ *r2.Co, x *timestamp.Txn) error {
	x.Drawn = true
	return nil
}

func (s *scheme) Wait(*r2.Co, *timestamp.Txn) {}
func (s *scheme) Void(*r2.Co, *timestamp.Txn) {}

// Done has the machine's clock, and the session, behind the transaction.
func (s *scheme) Done(c *r2.Co, x *timestamp.Txn, session *timestamp.Session) {
	session.Seen = max(session.Seen, s.tick(c, x.TS))
}

// Point is now, whatever freshness is asked for: there is nothing older that would be cheaper, nor anything newer.
func (s *scheme) Point(c *r2.Co, session *timestamp.Session, _ timestamp.Freshness, p *timestamp.Point) error {
	session.Seen = s.tick(c, session.Seen)
	p.One(session.Seen)
	return nil
}

// Low: no point of the machine is below its clock.
func (s *scheme) Low(c *r2.Co, p *timestamp.Point) { p.One(s.clocks[c.Machine()]) }

// Bound: none.
func (s *scheme) Bound() (ns int64, ok bool) { return 0, false }
