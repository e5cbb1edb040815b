package txn

import (
	"errors"
	"fmt"
	"math/bits"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// Outcome is what became of a transaction, all attempts together.
type Outcome struct {
	Type       uint8
	Co         uint32 // the coroutine, Co.ID
	ReadOnly   bool
	Committed  bool
	RolledBack bool // by its own code
	Failed     bool // it ended with an error; never of a transaction
	Attempts   int

	// Begin is when the first attempt began, Decision when all backups had the
	// log (or the body gave up), End when the client could go on: the decision
	// if the commit is passive, else when the commit is acknowledged. Latency is
	// End - Begin. Picoseconds.
	Begin, Decision, End r2.Time

	// Breakdown is the time from Begin to End by phase and milestone, RoundTrips
	// the waits by phase. Where Phases is not empty, the other phases' parts are 0.
	Phases     metrics.PhaseSet
	Breakdown  metrics.Breakdown
	RoundTrips [metrics.NumPhases]uint32
}

// clear empties the breakdown: it is large, so only what was used.
func (o *Outcome) clear() {
	for in := uint32(o.Phases); in != 0; in &= in - 1 {
		p := bits.TrailingZeros32(in)
		o.Breakdown[p] = [metrics.NumMilestones]int64{}
	}
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
	cl.tx = Tx{
		db: db, c: c, cache: db.Cache(c.Machine()), th: db.threads[c.Machine()][c.Thread()],
	}
	cl.tx.th.is(c.Index(), &cl.tx)
	cl.tx.ahead()
	for int(c.ID()) >= len(db.clients) {
		db.clients = append(db.clients, nil)
	}
	db.clients[c.ID()] = cl
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
	db, c, tx := cl.db, cl.c, &cl.tx
	c.Gate()
	tx.cfg, tx.typ, tx.readOnly = db.cfg, typ, readOnly
	tx.start()
	var err error
	for {
		err = tx.attempt(body)
		if !errors.Is(err, errAborted) {
			break
		}
		if f := db.opt.OnAbort; f != nil {
			f(typ)
		}
		if tx.attempts == tx.cfg.MaxAttempts {
			err = fmt.Errorf("transaction of type %d aborted %d times: given up", typ, tx.attempts)
			break
		}
		tx.aborted(tx.backOff())
	}
	if err != nil {
		tx.critical()
		tx.report(err)
	}
	db.inFlight--
	tx.open = false
	return err
}

// start begins the first attempt.
func (tx *Tx) start() {
	c := tx.c
	tx.attempts, tx.phase, tx.roundTrips = 0, metrics.PhaseOther, [metrics.NumPhases]uint32{}
	c.Phase(metrics.PhaseOther, r2.Mode{})
	c.TakeBreakdown(&tx.db.idle)
	tx.trips = 0
	tx.begun = c.Now()
	tx.db.inFlight++
	tx.open = true
	if f := tx.db.opt.OnBegin; f != nil {
		f(tx.th.machine, tx.th.thread, tx.begun)
	}
}

// critical ends the time that counts as latency and attributes it. All
// transactions share one Outcome: it is large, and only one at a time reports.
func (tx *Tx) critical() {
	tx.countTrips()
	o := &tx.db.out
	o.clear()
	o.Phases = tx.c.Phases()
	tx.c.TakeBreakdown(&o.Breakdown)
	tx.trips = 0
	o.End = tx.c.Now()
}

// report tells what became of the transaction.
func (tx *Tx) report(err error) {
	f := tx.db.opt.OnDone
	if f == nil {
		return
	}
	o := &tx.db.out
	o.Type, o.Co, o.ReadOnly = tx.typ, tx.c.ID(), tx.readOnly
	o.Committed, o.RolledBack = err == nil, errors.Is(err, ErrRollback)
	o.Attempts, o.Begin, o.Decision = tx.attempts, tx.begun, tx.decision
	o.RoundTrips = tx.roundTrips
	f(tx.th.machine, tx.th.thread, o)
}

// done is critical and report of a transaction that has committed.
func (tx *Tx) done() {
	tx.critical()
	tx.report(nil)
}

// enter begins a phase.
func (tx *Tx) enter(p metrics.Phase, m r2.Mode) {
	tx.countTrips()
	tx.phase = p
	tx.c.Phase(p, m)
}

func (tx *Tx) countTrips() {
	n := tx.c.RoundTrips()
	tx.roundTrips[tx.phase] += uint32(n - tx.trips)
	tx.trips = n
}

// attempt runs the body and commits.
func (tx *Tx) attempt(body func(*Tx) error) error {
	tx.attempts++
	tx.since, tx.waited, tx.blamed, tx.lockedAt = tx.c.Now(), 0, false, 0
	tx.c.Reset()
	tx.mem.reset()
	tx.set, tx.writes, tx.failed = tx.set[:0], 0, nil
	tx.logs, tx.entries = tx.logs[:0], tx.entries[:0]
	tx.beginHistory()
	tx.enter(tx.executionPhase(), r2.Mode{})
	tx.c.Compute(tx.db.program.attempt)
	err := body(tx)
	if err == nil && tx.failed == nil {
		err = tx.settle()
	}
	if tx.failed != nil && !errors.Is(err, tx.failed) { // what the body says of it stays
		err = tx.failed
	}
	if err == nil {
		return tx.commit()
	}
	tx.abandon()
	tx.decision = tx.c.Now()
	tx.endHistory(err)
	return err
}

func (tx *Tx) executionPhase() metrics.Phase {
	if tx.readOnly {
		return metrics.RORead
	}
	return metrics.Execution
}

// commit is the protocol of Figure 4-1 after execution.
func (tx *Tx) commit() error {
	err := tx.certify()
	tx.hold()
	tx.decision = tx.c.Now()
	tx.endHistory(err)
	if err != nil {
		tx.release()
		return err
	}
	if tx.writes == 0 {
		tx.done()
		return nil
	}
	tx.checkLogs()
	passive := tx.cfg.mode(metrics.Commit, tx.cfg.Commit).Passive
	if passive {
		tx.done()
	}
	if err = tx.writeBack(); err == nil && tx.cfg.Variant == CommitBeforeLog {
		err = tx.log()
	}
	if err != nil {
		// A committed transaction cannot be written back: a machine is gone, and
		// there is no recovery yet.
		tx.db.cl.Fail(fmt.Errorf("txn: write-back: %w", err))
	}
	tx.dropEntries()
	if !passive {
		tx.done()
	}
	tx.reclaim()
	return nil
}

// certify locks, validates and logs: when it returns nil the transaction is
// committed.
func (tx *Tx) certify() error {
	if tx.writes == 0 {
		if tx.alreadyConsistent() {
			return nil
		}
		if tx.readOnly {
			return tx.validate(metrics.ROValidation, tx.cfg.ROValidation)
		}
		return tx.validate(metrics.Validation, tx.cfg.Validation)
	}
	if err := tx.prepare(); err != nil {
		return err
	}
	early := tx.cfg.Variant == ValidateBeforeLock
	if early {
		if err := tx.validate(metrics.Validation, tx.cfg.Validation); err != nil {
			return err
		}
	}
	if err := tx.lock(); err != nil {
		return err
	}
	tx.lockedAt = tx.c.Now()
	if err := tx.addEntries(); err != nil {
		return err
	}
	if !early {
		if err := tx.validate(metrics.Validation, tx.cfg.Validation); err != nil {
			return err
		}
	}
	if tx.cfg.Variant == CommitBeforeLog {
		return nil
	}
	return tx.log()
}

// prepare sets the new sequences, builds the log entry and refuses what does
// not fit into messages, before anything is locked.
func (tx *Tx) prepare() error {
	for i := range tx.set {
		if a := &tx.set[i]; a.out != nil {
			next := record.Next(a.seq)
			if tx.cfg.Variant == SequenceNotAdvanced || tx.cfg.Variant == AsPublished {
				next = a.seq
			}
			put64(a.out, next)
			a.table.touch(a.key)
		}
	}
	if err := tx.fits(); err != nil {
		return tx.fail(err)
	}
	return tx.planLog()
}

// fits checks the messages of the two-sided phases.
func (tx *Tx) fits() error {
	if tx.cfg.Lock != TwoSided && tx.cfg.Commit != TwoSided {
		return nil
	}
	tx.participants(func(*access) bool { return true })
	for _, m := range tx.parts {
		locks, commits := 0, 0
		for i := range tx.set {
			a := &tx.set[i]
			switch {
			case int(a.machine) != m:
			case toLock(a):
				locks += verifyItem
				commits += 8 + pad8(len(a.out))
			}
		}
		for _, p := range []struct {
			phase metrics.Phase
			prim  Prim
			bytes int
		}{{metrics.Lock, tx.cfg.Lock, locks}, {metrics.Commit, tx.cfg.Commit, commits}} {
			if p.prim == TwoSided && p.bytes > tx.db.maxPayload {
				return fmt.Errorf("two-sided %s: %d bytes for machine %d, a message carries %d; split the transaction or use the one-sided primitive", p.phase, p.bytes, m, tx.db.maxPayload)
			}
		}
	}
	return nil
}

// backOff sleeps a random time below a bound that doubles with every attempt, and returns it.
func (tx *Tx) backOff() r2.Time {
	tx.enter(metrics.Backoff, r2.Mode{})
	bound := tx.cfg.BackoffMinNS
	for i := 1; i < tx.attempts && bound < tx.cfg.BackoffMaxNS; i++ {
		bound *= 2
	}
	bound = min(bound, tx.cfg.BackoffMaxNS)
	pause := r2.Time(1+tx.c.Rand().Uint64n(uint64(bound))) * nanosecond
	tx.c.Sleep(pause)
	return pause
}
