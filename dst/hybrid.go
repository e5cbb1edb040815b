package dst

import (
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/r2/clocks"
	"drtmx/engine/testbed"
	"drtmx/engine/timestamp"
)

const name = "dst"

// DST is the decentralised scalable timestamp of §5.2.
var DST = timestamp.Kind{
	Name:   name,
	Doc:    "decentralised timestamps from clocks and from what a transaction touches (section 5.2)",
	Traits: hybridTraits,
	Rows:   func(load testbed.LoadOf) []knob.Row { return []knob.Row{formRow(load)} }, Elsewhere: []func(v knob.Values) error{formElsewhere},
	Claim: history.StrictSerializable, ClaimOf: hybridClaim,
	Open: func(e timestamp.Env) (timestamp.Scheme, error) { return openHybrid(e) },
}

// hybridClaim: where all clocks show one time, a transaction that begins after the end of another has a larger stamp, and a strict snapshot has all
// that ended before. Where they do not, a snapshot under way may see a transaction that began after the end of another one without that one.
func hybridClaim(o *timestamp.Options) history.Claim {
	if o.AllAre(timestamp.Strict) && o.DriftNS == 0 && o.SkewNS == 0 {
		return history.StrictSerializable
	}
	return history.Serializable
}

// hybrid is Figure 5-7. A transaction's stamp is the least that is larger than all that it depends on, and no less than the
// clock and the last stamp of its worker: neither a message nor a shared counter is needed.
type hybrid struct {
	traits timestamp.Traits
	clocks *clocks.Clocks
	opt    func() *timestamp.Options
	local  *locals
	low    []timestamp.Stamp // by machine
}

func openHybrid(e timestamp.Env) (*hybrid, error) {
	l, err := newLocals(e.Cluster)
	return &hybrid{traits: hybridTraits(e.Options().Values), clocks: e.Clocks, opt: e.Options, local: l, low: make([]timestamp.Stamp, e.Cluster.Machines())}, err
}

func (h *hybrid) Traits() timestamp.Traits { return h.traits }

// now is the start of a transaction: a clock that steps back does not take it back.
func (h *hybrid) now(c *r2.Co) timestamp.Stamp {
	return max(timestamp.Hybrid(h.clocks.Read(c), 0), h.local.get(c))
}

// Begin is START.
func (h *hybrid) Begin(c *r2.Co, x *timestamp.Txn) {
	*x = timestamp.Txn{TS: h.now(c), Deps: x.Deps[:0]}
}

// Saw: the writer of what was read comes before.
func (h *hybrid) Saw(x *timestamp.Txn, version timestamp.Stamp) { x.TS = max(x.TS, version.Next()) }

// Over: transactions that read what is overwritten come before, and so does the one that wrote it.
func (h *hybrid) Over(x *timestamp.Txn, tuple, version timestamp.Stamp) {
	x.TS = max(x.TS, tuple.Next(), version.Next())
}

// Draw has nothing to ask for.
func (h *hybrid) Draw(_ *r2.Co, x *timestamp.Txn) error {
	x.Drawn = true
	return nil
}

func (h *hybrid) Wait(*r2.Co, *timestamp.Txn) {}

// Done is the end of COMMIT: what this worker begins from now on comes later.
func (h *hybrid) Done(c *r2.Co, x *timestamp.Txn, s *timestamp.Session) {
	h.local.raise(c, x.TS)
	s.Seen = max(s.Seen, x.TS)
}

func (h *hybrid) Void(*r2.Co, *timestamp.Txn) {}

// Point is START of a read-only transaction: staleness before now, but not before what its session has seen. A strict one
// reads beyond every clock, and waits until that is the past: a claim above its own clock would lift writers above
// theirs, and the bound on staleness would not hold any more.
func (h *hybrid) Point(c *r2.Co, s *timestamp.Session, f timestamp.Freshness, p *timestamp.Point) error {
	at := h.now(c)
	switch f {
	case timestamp.Strict:
		at = max(timestamp.Hybrid(at.Physical()+uint64(h.clocks.Epsilon()), at.Logical()), s.Seen)
		h.outwait(c, at)
	case timestamp.BySession:
		at = max(before(at, h.opt().StalenessNS), s.Seen)
	default:
		at = before(at, h.opt().StalenessNS)
	}
	if f != timestamp.Stale {
		s.Seen = max(s.Seen, at)
	}
	p.One(at)
	return nil
}

// outwait waits until the clock of c's machine has passed a stamp.
func (h *hybrid) outwait(c *r2.Co, at timestamp.Stamp) {
	for {
		now := timestamp.Hybrid(h.clocks.Read(c), 0)
		if now > at {
			return
		}
		c.Sleep(r2.Time(at.Physical()-now.Physical()+1) * r2.Nanosecond)
	}
}

// before is a stamp so many nanoseconds before another one.
func before(s timestamp.Stamp, ns int64) timestamp.Stamp {
	return s - min(s, timestamp.Hybrid(uint64(ns), 0))
}

// Low is what a snapshot that begins now would read at, had its worker never committed.
func (h *hybrid) Low(c *r2.Co, p *timestamp.Point) {
	low := &h.low[c.Machine()]
	*low = max(*low, before(timestamp.Hybrid(h.clocks.Read(c), 0), h.opt().StalenessNS))
	p.One(*low)
}

// Bound is that of §5.2.4: a version that a snapshot does not see was stamped by a clock that is at most a drift ahead of the
// snapshot's; it was decided when that clock showed its stamp, or later.
func (h *hybrid) Bound() (ns int64, ok bool) {
	return h.opt().StalenessNS + h.clocks.Advance(2*h.clocks.Epsilon()), true
}
