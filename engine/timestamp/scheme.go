package timestamp

import (
	"errors"

	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/r2/clocks"
	"drtmx/engine/testbed"
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
	Words   int  // of a point in messages
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

// Switched is a scheme with knobs of its own or with work in the background. When it is opened, and then at rest whenever a
// knob of timestamps has changed, it is told whether it is the one in force.
type Switched interface{ Switch(on bool) }

// Env is what a scheme is opened on.
type Env struct {
	Cluster *r2.Cluster
	Clocks  *clocks.Clocks
	Oracle  int                // its machine; -1: there is none
	Clients []int              // machines that run transactions
	Options func() *Options    // in force, staleness and the like
	Values  func() knob.Values // of these
	Scale   func(cost string, value int) int
}

// Kind is a scheme as the list of parts has it.
type Kind struct {
	Name   string // value of the knob ts.scheme
	Doc    string // a clause
	Traits func(v knob.Values) Traits
	// Rows are its own knobs, Rules what may not be set together under it.
	Rows  func(load testbed.LoadOf) []knob.Row
	Rules []func(v knob.Values) error
	// Elsewhere are rules that hold under every other scheme, of knobs that mean something under this one alone.
	Elsewhere []func(v knob.Values) error
	// Claim is the most that transactions under it may claim together, ClaimOf that under these values, where it depends
	// on them.
	Claim   history.Claim
	ClaimOf func(v knob.Values) history.Claim
	Open    func(e Env) (Scheme, error)
}

// Kinds are the schemes of a list.
type Kinds []Kind

// registered is the list of this program.
var registered Kinds

// Register makes a list that of the program. It is called while the program starts, before anything reads a spec. A
// name that is there twice is a panic.
func Register(list Kinds) {
	seen := map[string]bool{None: true}
	for i := range list {
		if seen[list[i].Name] {
			panic("timestamp: scheme " + list[i].Name + " twice")
		}
		seen[list[i].Name] = true
	}
	registered = list
}

// None is the value of ts.scheme under which nothing has a stamp.
const None = "none"

// Named is the registered scheme of a name, nil if there is none.
func Named(name string) *Kind {
	for i := range registered {
		if registered[i].Name == name {
			return &registered[i]
		}
	}
	return nil
}

// Names lists the registered schemes.
func Names() []string {
	var names []string
	for i := range registered {
		names = append(names, registered[i].Name)
	}
	return names
}
