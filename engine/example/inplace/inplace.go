// Package inplace is a concurrency control whose transactions lock each record that they touch when they touch it, give up at the first lock
// that another one holds, and write records where they lie on all machines, under undo logs, before they commit. Every request is
// one-sided: no CPU serves anything.
//
// Left out: inserts and deletes.
package inplace

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
	"drtmx/engine/txn/audit"
)

// Kind is the protocol in a list of parts.
var Kind = txn.Kind{
	Name:  "inplace",
	Doc:   "locks by CAS, and undo logs",
	Claim: history.StrictSerializable,
	Rows: func(testbed.LoadOf) []knob.Row {
		return []knob.Row{{Knob: knob.Knob{Name: "inplace.late_aborts", Kind: knob.Int, Default: 0, Min: 0, Max: 100, Unit: "%", Label: "Aborts behind the log", Group: knob.Phases, Live: true,
			Doc: "Share of the transactions that abort when all their records are written already, so that undo logs have something to undo."}}}
	},
	Has:   []txn.Feature{txn.HasLog, txn.HasAborts},
	Logs:  []string{"undo"},
	Rules: []func(knob.Values, *testbed.Load) error{txn.ValidReplicas},
	Config: func(v knob.Values, _ *testbed.Load, _ txn.Seen) txn.Config {
		return Config{Settings: txn.SettingsOf(v).WithDefaults(), LateAborts: v.Int("inplace.late_aborts")}
	},
}

// layout is a lock, and a sequence that backups have too.
var layout = record.MustLayout(record.Options{Step: 2}, record.Word{Name: "lock", Role: record.RoleLock}, record.Word{Name: "seq", Role: record.RoleStamp, Initial: record.InitialSeq})

// Config says how transactions run.
type Config struct {
	txn.Settings
	LateAborts int // percent of those that have written their records
}

// Open opens the log.
func (c Config) Open(db *txn.DB) (txn.Protocol, error) {
	p := &protocol{cfg: c, cl: db.Cluster(), h: layout}
	var err error
	p.log, err = db.OpenLog(replication.Options{Replicas: c.Replicas, Layout: layout, InPlace: true})
	return p, err
}

// protocol is the protocol on one database.
type protocol struct {
	cfg Config
	cl  *r2.Cluster
	h   record.Layout
	log replication.Scheme
}

// Set changes the share of late aborts.
func (p *protocol) Set(cfg txn.Config) error {
	c, ok := cfg.(Config)
	if !ok || c.Replicas != p.cfg.Replicas {
		return errors.New("another protocol, or another number of replicas: reset to change it")
	}
	p.cfg = c
	return nil
}

func (p *protocol) NeedsDrain(txn.Config) bool { return false }
func (p *protocol) Config() txn.Config         { return p.cfg }
func (p *protocol) Layout() record.Layout      { return p.h }
func (p *protocol) Unserved() int              { return 0 }

// Locked says who has locked a row.
func (p *protocol) Locked(row []byte) (string, bool) {
	o, held := record.Holder(p.h.LockOf(row))
	return fmt.Sprintf("machine %d thread %d coroutine %d", o.Machine, o.Thread, o.Coroutine), held
}

func (p *protocol) Session(tx *txn.Tx) txn.Session {
	return &session{p: p, tx: tx, c: tx.Co(), log: p.log.Writer(tx.Co()).(replication.InPlaceWriter)}
}

// session runs the transactions of a coroutine.
type session struct {
	coordinator.UpdatesOnly
	p   *protocol
	tx  *txn.Tx
	c   *r2.Co
	set []*access
	log replication.InPlaceWriter
}

type access struct {
	txn.Access
	loc    store.Location
	locked bool
	row    []byte // as it was read
}

// Begin begins an attempt.
func (s *session) Begin(bool) {
	s.set = s.set[:0]
	s.log.Begin(replication.Background)
}

func (s *session) Add() *txn.Access {
	a := &access{}
	s.set = append(s.set, a)
	return &a.Access
}

func (s *session) Eager(bool) bool   { return false }
func (s *session) Start(*txn.Access) {}
func (s *session) Validate() error   { return nil }

// Fetch locks and reads records.
func (s *session) Fetch(first int, _ bool) error {
	for _, a := range s.set[first:] {
		if a.State != txn.Wanted {
			continue
		}
		if err := s.fetch(a); err != nil {
			return s.tx.Fail(err)
		}
	}
	return nil
}

// fetch locks a record by CAS, and then reads it.
func (s *session) fetch(a *access) error {
	loc, ok, err := store.Locate(s.c, a.Table.Store, a.Key)
	if err != nil || !ok {
		a.State = txn.Missing
		return err
	}
	a.loc = loc
	found := s.c.CAS(loc.Loc, 0, replication.OwnerOf(s.c).LockWord())
	if err := s.c.Wait(); err != nil {
		return err
	}
	if binary.LittleEndian.Uint64(found.B) != 0 {
		s.tx.Met(&a.Access, 0)
		return txn.ErrAborted
	}
	a.locked = true
	b := s.c.Read(loc.Loc, a.Table.RowBytes)
	if err := s.c.Wait(); err != nil {
		return err
	}
	a.row = append(a.row[:0], b.B...)
	s.tx.Got(&a.Access, s.p.h.Value(a.row), a.Table.Audit.Version(s.c.Machine(), a.Key, loc.Ref, s.p.h.StampOf(a.row)))
	return nil
}

// Commit logs what is there, writes what is to be, decides, and unlocks.
func (s *session) Commit() error {
	err := s.write()
	if err == nil && s.tx.Writes() > 0 && int(s.c.Rand().Uint64n(100)) < s.p.cfg.LateAborts {
		err = s.tx.Fail(txn.ErrAborted)
	}
	s.tx.Decided(err)
	s.end(err == nil)
	if err == nil {
		s.tx.Done()
	}
	return err
}

// write logs, and writes on all machines.
func (s *session) write() error {
	for _, a := range s.set {
		if a.Out == nil {
			continue
		}
		seq := record.Next(s.p.h.StampOf(a.row))
		a.Next = audit.UpdatedVersion(a.Version, seq)
		a.Table.Audit.Touch(s.c.Machine(), a.Key)
		n := s.log.Add(int(a.Machine), record.Update{Table: a.Table.ID, Key: a.Key, New: seq, Value: a.OutValue()})
		s.log.Replaces(n, a.loc, a.row[s.p.h.Own:])
	}
	if !s.log.Needed() {
		return nil
	}
	if err := s.log.Plan(false); err != nil {
		return s.tx.Fail(err)
	}
	if err := s.log.Append(false); err != nil {
		return s.tx.Fail(err)
	}
	return nil
}

// end has the log keep or undo what was written, and then releases the locks.
func (s *session) end(commit bool) {
	err := s.log.Decide(commit)
	for _, a := range s.set {
		if a.locked && err == nil {
			s.c.Write(a.loc.Loc, make([]byte, 8))
			a.locked = false
		}
	}
	if err == nil {
		err = s.c.Wait()
	}
	if err != nil {
		s.c.Fail(fmt.Errorf("inplace: end of a transaction: %w", err))
	}
}

// Abandon ends an attempt that fails before Commit.
func (s *session) Abandon() { s.end(false) }
