package dst

import (
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// TrueTime is a scheme that the thesis does not have, and the example of how one is written: this file and its line in the list of parts
// are all of it. Its clocks show a time that is off by at most ε, and it knows ε, as Spanner's TrueTime does: now is between the earliest
// and the latest time that a reading allows. A transaction's stamp is the latest time when it commits, and it waits until
// that has passed for certain: then whatever begins later has a larger stamp. That is commit wait, of twice ε, with all
// locks held. For it a strict snapshot neither waits nor sends a message: it reads at the latest time when it begins.
//
// Stamps are hybrid ones, and readers raise tuple timestamps as under DST. So clocks that are worse than ε, or step back, cost
// strictness alone: what is serialisable stays so.
var TrueTime = timestamp.Kind{
	Name:   "truetime",
	Doc:    "clocks of a known uncertainty; every writer waits until it has passed before it commits (as Spanner does)",
	Traits: func(knob.Values) timestamp.Traits { return trueTimeTraits },
	Claim:  history.StrictSerializable, ClaimOf: trueTimeClaim,
	Open: openTrueTime,
}

// trueTimeClaim: strictness is of strict snapshots alone, and a clock that is off by more than ε, unnoticed, costs it.
func trueTimeClaim(o *timestamp.Options) history.Claim {
	if o.AllAre(timestamp.Strict) && o.SkewNS == 0 {
		return history.StrictSerializable
	}
	return history.Serializable
}

// Snapshots raise tuple timestamps, and wait for writers that may be in front of them.
var trueTimeTraits = timestamp.Traits{Claims: true, Waits: true, Clocks: true, Words: 1}

const microsecond = r2.Time(1_000_000)

type trueTime struct {
	env   timestamp.Env
	floor []timestamp.Stamp // by machine: no snapshot begins below
}

func openTrueTime(e timestamp.Env) (timestamp.Scheme, error) {
	return &trueTime{env: e, floor: make([]timestamp.Stamp, e.Cluster.Machines())}, nil
}

func (s *trueTime) Traits() timestamp.Traits { return trueTimeTraits }

// Begin forgets the attempt before.
func (s *trueTime) Begin(c *r2.Co, x *timestamp.Txn) { x.TS, x.Deps, x.Drawn = 0, x.Deps[:0], false }

// Saw: behind the writer of what is read.
func (s *trueTime) Saw(x *timestamp.Txn, version timestamp.Stamp) { x.TS = max(x.TS, version.Next()) }

// Over: behind the writer, and all readers, of what is overwritten.
func (s *trueTime) Over(x *timestamp.Txn, tuple, version timestamp.Stamp) {
	x.TS = max(x.TS, tuple.Next(), version.Next())
}

// Draw is under the locks, so that the stamp is later than the begin of the wait for it.
func (s *trueTime) Draw(c *r2.Co, x *timestamp.Txn) error {
	_, latest := s.now(c)
	x.TS, x.Drawn = max(x.TS, latest), true
	return nil
}

// Wait is the commit wait: the stamp is past on every clock.
func (s *trueTime) Wait(c *r2.Co, x *timestamp.Txn) {
	for {
		earliest, _ := s.now(c)
		if earliest > x.TS {
			return
		}
		c.Sleep(max(microsecond, 1000*r2.Time(s.env.Clocks.Advance(int64(x.TS.Physical()-earliest.Physical())+1))))
	}
}

// Done has the session see its own writes.
func (s *trueTime) Done(c *r2.Co, x *timestamp.Txn, session *timestamp.Session) {
	session.Seen = max(session.Seen, x.TS)
}

// Void: no other machine has seen the stamp.
func (s *trueTime) Void(c *r2.Co, x *timestamp.Txn) {}

// Point is the latest time for a strict snapshot. Others read where writers are unlikely to be active: what they allow before the
// earliest time, but behind all that their session has seen.
func (s *trueTime) Point(c *r2.Co, session *timestamp.Session, f timestamp.Freshness, p *timestamp.Point) error {
	_, latest := s.now(c)
	at := s.old(c)
	if f == timestamp.Strict {
		at = latest
	}
	if f != timestamp.Stale {
		at = max(at, session.Seen)
		session.Seen = at
	}
	p.One(at)
	return nil
}

// old is the point of a snapshot that may be stale. A clock that steps back takes none back.
func (s *trueTime) old(c *r2.Co) timestamp.Stamp {
	earliest, _ := s.now(c)
	floor := &s.floor[c.Machine()]
	*floor = max(*floor, before(earliest, s.staleness()))
	return *floor
}

// Low is the floor.
func (s *trueTime) Low(c *r2.Co, p *timestamp.Point) { p.One(s.old(c)) }

// Bound: at its decision a transaction's stamp has passed, and a snapshot that may be stale reads an uncertainty and the staleness
// before what its clock shows, which may be another uncertainty late. Each of two readings is rounded down.
func (s *trueTime) Bound() (ns int64, ok bool) {
	return s.staleness() + 2*int64(s.uncertainty()) + 2, true
}

func (s *trueTime) staleness() int64 { return s.env.Options().StalenessNS }

// uncertainty is ε: two clocks differ by at most twice that.
func (s *trueTime) uncertainty() uint64 { return uint64(s.env.Clocks.Epsilon()+1) / 2 }

// now are the earliest and the latest time that the clock's reading allows.
func (s *trueTime) now(c *r2.Co) (earliest, latest timestamp.Stamp) {
	t, e := s.env.Clocks.Read(c), s.uncertainty()
	return timestamp.Hybrid(t-min(t, e), 0), timestamp.Hybrid(t+e, 0)
}
