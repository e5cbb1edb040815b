package txn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn/audit"
)

// Outcome is what became of a transaction, all attempts together.
type Outcome struct {
	Type       uint8
	Co         uint32 // the coroutine, Co.ID
	ReadOnly   bool
	Committed  bool
	RolledBack bool // by its own code
	Failed     bool // it ended with an error; never of a transaction
	Empty      bool // it committed, and found nothing to do: see Tx.Empty
	Attempts   int

	// Begin is when the first attempt began, Decision when all backups had the
	// log (or the body gave up), End when the client could go on: the decision
	// if the commit is passive, else when the commit is acknowledged. Latency is
	// End - Begin. Picoseconds.
	Begin, Decision, End r2.Time
	Last                 r2.Time // begin of the last attempt

	// Breakdown is the time from Begin to End by phase and milestone, RoundTrips
	// the waits by phase. Where Phases is not empty, the other phases' parts are 0.
	Phases     metrics.PhaseSet
	Breakdown  metrics.Breakdown
	RoundTrips []uint32
}

// NewOutcome has room for the phases that are known.
func NewOutcome() Outcome {
	return Outcome{Breakdown: metrics.NewBreakdown(), RoundTrips: metrics.ForPhases[uint32]()}
}

// Clone is an outcome that stays as it is when the next transaction ends.
func (o *Outcome) Clone() Outcome {
	x := *o
	x.Breakdown, x.RoundTrips = slices.Clone(o.Breakdown), slices.Clone(o.RoundTrips)
	return x
}

// clear empties the breakdown: it is large, so only what was used.
func (o *Outcome) clear() {
	o.Breakdown.Clear(o.Phases)
	clear(o.RoundTrips)
	o.Phases = 0
}

// Client runs transactions on one coroutine.
type Client struct {
	db *DB
	c  *r2.Co
	tx Tx
}

// Client returns the coroutine's client. One per coroutine is enough; it keeps
// its buffers.
func (db *DB) Client(c *r2.Co) *Client {
	cl := &Client{db: db, c: c}
	db.Cache(c.Machine()) // tables come before clients
	cl.tx = Tx{db: db, c: c}
	cl.tx.readWrite = db.protocol.Session(&cl.tx)
	cl.tx.run = cl.tx.readWrite
	cl.tx.killable, _ = cl.tx.readWrite.(Killable)
	cl.tx.runner, _ = cl.tx.readWrite.(Runner)
	cl.tx.declaring, _ = cl.tx.readWrite.(Declaring)
	if p, ok := db.protocol.(Snapshots); ok {
		if cl.tx.snap = p.Snapshot(&cl.tx); cl.tx.snap != nil {
			cl.tx.guarantees = new(audit.Guarantees)
			db.watch()
		}
	}
	cl.tx.ahead()
	own := db.own.Of(c.Machine())
	if i := slices.IndexFunc(own.clients, func(o *Client) bool { return o.c.ID() == c.ID() }); i >= 0 {
		own.clients[i] = cl // of a coroutine that began anew behind a crash
	} else {
		own.clients = append(own.clients, cl)
	}
	return cl
}

// DB is the database.
func (cl *Client) DB() *DB { return cl.db }

// Co is the coroutine.
func (cl *Client) Co() *r2.Co { return cl.c }

// Run runs a transaction until it commits: nil; or until its body gives it up:
// ErrRollback or another error of the body. After a conflict the body runs
// again. typ is for the statistics.
func (cl *Client) Run(typ uint8, readOnly bool, body func(*Tx) error) error {
	cl.c.Gate()
	return cl.run(typ, readOnly, cl.freshness(readOnly), body)
}

// run is Run behind the gate.
func (cl *Client) run(typ uint8, readOnly bool, fresh timestamp.Freshness, body func(*Tx) error) error {
	db, tx := cl.db, &cl.tx
	tx.common, tx.typ, tx.readOnly, tx.fresh = db.common, typ, readOnly, fresh
	tx.start()
	var err error
	for {
		err = tx.attempt(body)
		if !errors.Is(err, ErrAborted) {
			break
		}
		if tx.snapshot() {
			cl.c.Fail(fmt.Errorf("txn: a snapshot of type %d was aborted: no other transaction can be in its way", typ))
		}
		if f := db.opt.OnAbort; f != nil {
			f(cl.c.Machine(), typ)
		}
		if tx.attempts == tx.common.MaxAttempts {
			err = fmt.Errorf("transaction of type %d aborted %d times: given up", typ, tx.attempts)
			break
		}
		tx.aborted(tx.backOff())
	}
	if a, ok := err.(*absent); ok {
		err = notFound(a.Table, a.Key)
	}
	if err != nil {
		tx.critical()
		tx.report(err)
	}
	db.own.Of(cl.c.Machine()).inFlight--
	tx.open = false
	return err
}

// start begins the first attempt.
func (tx *Tx) start() {
	c := tx.c
	tx.checkBeforeInsert = false
	tx.attempts, tx.drained, tx.phase = 0, 0, metrics.PhaseOther
	c.Phase(metrics.PhaseOther, r2.Mode{})
	x := tx.scratch()
	c.TakeBreakdown(x.time)
	c.TakeTrips(x.trips)
	tx.begun = c.Now()
	tx.chooseSession()
	tx.db.own.Of(tx.c.Machine()).inFlight++
	tx.open = true
	if f := tx.db.opt.OnBegin; f != nil {
		f(tx.c.Machine(), tx.c.Thread(), tx.begun)
	}
}

// critical ends the time that counts as latency and attributes it. The
// transactions of a machine share one Outcome: it is large, and only one at a time reports.
func (tx *Tx) critical() {
	o := &tx.scratch().out
	o.clear()
	o.Phases = tx.c.Phases()
	tx.c.TakeBreakdown(o.Breakdown)
	tx.c.TakeTrips(o.RoundTrips)
	o.End = tx.c.Now()
}

// report tells what became of the transaction.
func (tx *Tx) report(err error) {
	f := tx.db.opt.OnDone
	if f == nil {
		return
	}
	o := &tx.scratch().out
	o.Type, o.Co, o.ReadOnly = tx.typ, tx.c.ID(), tx.readOnly
	o.Committed, o.RolledBack, o.Empty = err == nil, errors.Is(err, ErrRollback), err == nil && tx.empty
	o.Attempts, o.Begin, o.Last, o.Decision = tx.attempts, tx.begun, tx.since, tx.decision
	f(tx.c.Machine(), tx.c.Thread(), o)
}

// Empty says that the attempt finds nothing to do: what it looked for is not there, or the place of what it brings is taken.
// If it commits it is counted among those.
func (tx *Tx) Empty() { tx.empty = true }

// Done ends what counts as the latency of a transaction that has committed: from
// now on its client could go on.
func (tx *Tx) Done() {
	tx.critical()
	tx.report(nil)
}

// Enter begins a phase, whose requests are posted in that mode.
func (tx *Tx) Enter(p metrics.Phase, m r2.Mode) {
	tx.phase = p
	tx.c.Phase(p, m)
}

// attempt runs the body and commits.
func (tx *Tx) attempt(body func(*Tx) error) error {
	tx.attempts++
	tx.since, tx.waited, tx.blamed = tx.c.Now(), 0, false
	tx.c.Reset()
	tx.mem.reset()
	tx.clearSet()
	tx.writes, tx.failed, tx.stamped, tx.stamp, tx.empty = 0, nil, false, 0, false
	tx.closed = tx.declares()
	tx.entries = tx.entries[:0]
	tx.beginHistory()
	tx.Enter(tx.ExecutionPhase(), r2.Mode{})
	tx.run.Begin(tx.attempts == 1)
	err := tx.runBody(body)
	if err == nil && tx.failed == nil {
		err = tx.finishReads()
	}
	if tx.failed != nil && !errors.Is(err, tx.failed) { // what the body says of it stays
		err = tx.failed
	}
	if err == nil {
		return tx.run.Commit()
	}
	if tx.failed == nil && errors.Is(err, ErrExists) {
		err = cmp.Or(tx.dropWrites(), err)
	}
	tx.run.Abandon()
	tx.Decided(err)
	return err
}

func (tx *Tx) runBody(body func(*Tx) error) error {
	if tx.runner != nil && !tx.snapshot() {
		return tx.runner.Run(tx, body)
	}
	return body(tx)
}

// ExecutionPhase is the phase in which the body runs.
func (tx *Tx) ExecutionPhase() metrics.Phase {
	if tx.readOnly {
		return RORead
	}
	return Execution
}

// Decided says how the attempt ends: err is nil if it commits. It comes before
// its writes are visible.
func (tx *Tx) Decided(err error) {
	tx.decision = tx.c.Now()
	tx.endHistory(err)
}

// backOff sleeps a random time below a bound that doubles with every attempt, and returns it.
func (tx *Tx) backOff() r2.Time {
	tx.Enter(metrics.Backoff, r2.Mode{})
	bound := tx.common.BackoffMinNS
	for i := 1; i < tx.attempts && bound < tx.common.BackoffMaxNS; i++ {
		bound *= 2
	}
	bound = min(bound, tx.common.BackoffMaxNS)
	if tx.db.cl.Draining() {
		bound = tx.beyond(bound)
	}
	pause := r2.Time(1+tx.c.Rand().Uint64n(uint64(bound))) * r2.Nanosecond
	tx.c.Sleep(pause)
	return pause
}

// A drain waits for transactions that may abort each other for ever while their attempts take longer than the longest back-off. No others
// come, so one of them gets through as soon as the rest pause for long enough: after some attempts in the drain the bound goes on to
// double. It stays below what a watchdog takes for a standstill.
const (
	drainTries   = 16
	drainMostNS  = 8_000_000
	drainDoubles = 12 // from a microsecond there
)

// beyond is the bound of a back-off within a drain.
func (tx *Tx) beyond(bound int64) int64 {
	if tx.drained++; tx.drained <= drainTries {
		return bound
	}
	return max(bound, min(bound<<min(tx.drained-drainTries, drainDoubles), drainMostNS))
}
