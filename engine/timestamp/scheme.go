package timestamp

import (
	"errors"

	"drtmx/engine/membership"
	"drtmx/engine/r2"
	"drtmx/engine/r2/clocks"
)

// Freshness is what a read-only transaction asks of its snapshot.
type Freshness uint8

const (
	BySession Freshness = iota // what the session has committed or seen, at least
	Stale                      // whatever the bound on staleness allows
	Strict                     // everything that was committed before it began
	NumFreshness
)

var freshnessNames = [NumFreshness]string{"session", "stale", "strict"}

func (f Freshness) String() string { return freshnessNames[f] }

// Session is what the client of a coroutine has committed or read last.
type Session struct{ Seen Stamp }

// Traits are what a host has to know of a scheme.
type Traits struct {
	Claims  bool // snapshots and reads of writers raise tuple timestamps (DST, TrueTime)
	Waits   bool // a snapshot waits for the holder of a write lock (DST, TrueTime, GTS without stable)
	Readers bool // a writer depends on the readers of what it overwrites (VTS with ts.readers)
	Early   bool // the stamp is drawn between lock and validation and may wait (GTS)
	Acked   bool // Done only after the write-back is acknowledged: a snapshot does not wait (GTS, VTS)
	Oracle  bool // needs the oracle machine
	Clocks  bool // reads the clocks of machines
	Words   int  // of a point in messages

	// What a printed form of a scheme does to the tuple timestamp of a record, see dst.DST.
	WaitsByTuple  bool // a snapshot waits for the holder of a lock if the timestamp was not beyond it, whatever the version
	SetsTupleBack bool // a new version stores its stamp there, also over a larger one
}

// ErrRetry says that an attempt cannot have a stamp now: it aborts and is tried again.
var ErrRetry = errors.New("no timestamp now: the attempt is tried again")

// Txn is a scheme's part of an attempt. A coroutine has one, which its attempts reuse.
type Txn struct {
	TS    Stamp
	Deps  []Stamp
	Drawn bool // TS is final
}

// Scheme gives stamps to transactions and points to snapshots.
type Scheme interface {
	Traits() Traits
	// Begin begins an attempt of a read-write transaction.
	Begin(c *r2.Co, x *Txn)
	// Saw is told of each version that was read, and that is still there under the locks; and, where writers depend on readers, of each
	// that has read what was overwritten, before Done.
	Saw(x *Txn, version Stamp)
	// Over is told of each tuple that will be overwritten, as it is under its lock, and of each gap that is filled.
	Over(x *Txn, tuple, version Stamp)
	// Draw gives x.TS and sets x.Drawn. ErrRetry: the attempt aborts.
	Draw(c *r2.Co, x *Txn) error
	// Wait comes before the decision.
	Wait(c *r2.Co, x *Txn)
	// Done comes when the versions are installed, Void when the attempt has failed after Draw.
	Done(c *r2.Co, x *Txn, s *Session)
	Void(c *r2.Co, x *Txn)
	// Point is where a snapshot that begins now reads.
	Point(c *r2.Co, s *Session, f Freshness, p *Point) error
	// Low is a point below which no snapshot of c's machine begins any more. It never goes back.
	Low(c *r2.Co, p *Point)
	// Bound is how stale a read may be at most; ok is false where nothing is promised.
	Bound() (ns int64, ok bool)
}

// Switched is a scheme with knobs of its own or with work in the background. At rest, when it is opened, when another scheme takes its
// place and when one of Kind.Restamps has changed, it is told whether it is the one in force.
type Switched interface{ Switch(on bool) }

// Tuned is a scheme in force that is told when any other knob of timestamps has changed, while transactions run.
type Tuned interface{ Tune() }

// Env is what a scheme is opened on.
type Env struct {
	Cluster *r2.Cluster
	Clocks  *clocks.Clocks
	Members *membership.Table // which machines run transactions, and which is an oracle
	Options func() *Options   // in force
}
