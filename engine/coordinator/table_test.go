package coordinator

import (
	"errors"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/txntest"
)

// wounding is a protocol for one client: it reads rows of its own machine, writes nothing, and its transactions can be killed.
type wounding struct {
	txn.Settings
	table *Table // set by Open
	verbs bool
	twice bool // it runs each body twice
}

type woundingProtocol struct {
	Protocol
	cfg *wounding
}

func (w *wounding) Open(db *txn.DB) (txn.Protocol, error) {
	p := &woundingProtocol{Protocol: Open(db, record.LockSeq), cfg: w}
	var err error
	if w.table, err = OpenTable(p.Cl, "states", w.verbs); err == nil {
		err = p.OpenLog(w.Replicas)
	}
	return p, err
}

func (p *woundingProtocol) Config() txn.Config                    { return p.cfg }
func (p *woundingProtocol) Set(txn.Config) error                  { return nil }
func (p *woundingProtocol) NeedsDrain(txn.Config) bool            { return false }
func (p *woundingProtocol) Locked([]byte) (who string, held bool) { return "", false }
func (p *woundingProtocol) Session(tx *txn.Tx) txn.Session {
	s := &woundingSession{Session: OpenSession[woundingAccess](&p.Protocol, tx), p: p}
	if p.cfg.twice {
		return twice{s}
	}
	return s
}

// twice is a session that runs the body itself: once to learn what it touches, and again with all of it there.
type twice struct{ *woundingSession }

func (s twice) Run(tx *txn.Tx, body func(*txn.Tx) error) error {
	if err := body(tx); err != nil {
		return err
	}
	known := len(s.Set)
	if err := body(tx); err != nil {
		return err
	}
	if len(s.Set) != known {
		return s.Tx.Fail(errors.New("the body touches other records the second time"))
	}
	return nil
}

type woundingAccess struct{ Access }

type woundingSession struct {
	Session[woundingAccess, *woundingAccess]
	p  *woundingProtocol
	id TxnID
}

func (s *woundingSession) Begin(bool)              { s.Reset(s.p.cfg.Reclaim); s.id = s.p.cfg.table.Begin(s.C) }
func (s *woundingSession) Eager(bool) bool         { return false }
func (s *woundingSession) Start(*txn.Access)       {}
func (s *woundingSession) Write(*txn.Access) error { return errors.New("it only reads") }
func (s *woundingSession) Validate() error         { return nil }
func (s *woundingSession) Abandon()                { s.p.cfg.table.End(s.C, s.id, Aborted) }

// Killed is asked at each access.
func (s *woundingSession) Killed() error {
	if s.p.cfg.table.Killed(s.C, s.id) {
		return txn.ErrAborted
	}
	return nil
}

func (s *woundingSession) Fetch(first int, _ bool) error {
	for _, a := range s.Set[first:] {
		loc, _, err := a.Table.Store.LookupLocal(s.C, a.Key)
		if err != nil {
			return s.Tx.Fail(err)
		}
		row := s.C.Load(loc.Addr, a.Table.RowBytes)
		s.Tx.Got(&a.Access.Access, record.LockSeq.Value(row), a.Table.Audit.Version(s.C.Machine(), a.Key, loc.Ref, record.LockSeq.StampOf(row)))
	}
	return nil
}

func (s *woundingSession) Commit() error {
	end, err := s.p.cfg.table.End(s.C, s.id, Committed)
	if err == nil && end != Committed {
		err = s.Aborts()
	}
	return s.End(err, false, func() error { return nil }, func() {})
}

// A transaction that is killed between two of its accesses hears of it at the second, and commits the next time.
func TestKilledBetweenAccesses(t *testing.T) {
	for _, verbs := range []bool{true, false} {
		cfg := &wounding{Settings: txn.Settings{Replicas: 1}.WithDefaults(), verbs: verbs}
		spec := store.Spec{ID: 1, Name: "t", ValueBytes: 8}
		bad := txntest.Run(t, r2.Config{Threads: 1}, txn.Options{Config: cfg}, spec, store.Stripes(txntest.Machines, 3*txntest.Machines), func(c *r2.Co, cl *txn.Client) {
			first, done, killed := TxnID{record.OwnerOf(0, 0, c.Index()), 1}, false, Running
			cl.DB().Cluster().Spawn(1, 0, func(other *r2.Co) {
				other.Sleep(10_000 * r2.Nanosecond) // by then the transaction is in its body
				var err error
				if killed, err = cfg.table.Kill(other, first); err != nil {
					t.Error(err)
				}
				done = true
			})
			second := 0
			err := cl.Run(0, false, func(tx *txn.Tx) error {
				if _, err := tx.GetInt(1, 0); err != nil {
					return err
				}
				for !done {
					c.Sleep(100 * r2.Nanosecond)
				}
				_, err := tx.GetInt(1, txntest.Machines)
				if second++; (second == 1) != errors.Is(err, txn.ErrAborted) {
					t.Errorf("verbs %v: attempt %d reads on with %v", verbs, second, err)
				}
				return err
			})
			if err != nil || second != 2 || killed != Aborted {
				t.Errorf("verbs %v: it ends with %v after %d attempts, killed: %v", verbs, err, second, killed)
			}
			// What is over cannot be killed, whoever asks.
			for _, x := range []struct {
				id   TxnID
				want State
			}{{TxnID{record.OwnerOf(0, 0, c.Index()), 2}, Committed}, {TxnID{record.OwnerOf(0, 0, c.Index()), 1}, Aborted}} {
				if got, err := cfg.table.Kill(c, x.id); got != x.want || err != nil {
					t.Errorf("verbs %v: a kill of transaction %d that is over finds it %v, %v, want %v", verbs, x.id.Number, got, err, x.want)
				}
				if got, err := cfg.table.Look(c, x.id); got != x.want || err != nil {
					t.Errorf("verbs %v: transaction %d looks %v, %v, want %v", verbs, x.id.Number, got, err, x.want)
				}
			}
		})
		for _, b := range bad {
			t.Error(b)
		}
	}
}

// A session may run the body itself, several times in one attempt; an error of any run ends the attempt.
func TestSessionRunsTheBody(t *testing.T) {
	cfg := &wounding{Settings: txn.Settings{Replicas: 1}.WithDefaults(), twice: true}
	spec := store.Spec{ID: 1, Name: "t", ValueBytes: 8}
	bad := txntest.Run(t, r2.Config{Threads: 1}, txn.Options{Config: cfg}, spec, store.Stripes(txntest.Machines, 3*txntest.Machines), func(c *r2.Co, cl *txn.Client) {
		runs := 0
		if err := cl.Run(0, false, func(tx *txn.Tx) error {
			runs++
			_, err := tx.GetInt(1, 0)
			return err
		}); err != nil || runs != 2 {
			t.Errorf("it ends with %v, and the body ran %d times", err, runs)
		}
		runs = 0
		if err := cl.Run(0, false, func(tx *txn.Tx) error {
			if runs++; runs == 2 {
				return txn.ErrRollback
			}
			return nil
		}); !errors.Is(err, txn.ErrRollback) || runs != 2 {
			t.Errorf("the second run rolls back: %v after %d runs", err, runs)
		}
		runs = 0
		if err := cl.Run(0, false, func(tx *txn.Tx) error {
			runs++
			_, err := tx.GetInt(1, uint64(min(runs-1, 1)*txntest.Machines))
			return err
		}); err == nil || runs != 2 {
			t.Errorf("other records the second time: %v after %d runs", err, runs)
		}
	})
	if len(bad) != 0 {
		t.Errorf("%v", bad)
	}
}
