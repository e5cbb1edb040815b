// Package serial is a concurrency control in which one transaction runs at a time: it holds the one lock of the cluster, a
// word in the memory of machine 0, from its begin to its end. Everything is one-sided, own records included but for
// their reads.
//
// Left out: replication, and inserts and deletes. There is nothing to abort for.
package serial

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
	"drtmx/engine/txn/audit"
)

// Kind is the protocol in a list of parts.
var Kind = txn.Kind{
	Name:  "serial",
	Doc:   "one transaction at a time",
	Claim: history.StrictSerializable,
	Rows: func(testbed.LoadOf) []knob.Row {
		return []knob.Row{{Knob: knob.Knob{Name: "serial.poll_ns", Kind: knob.Duration, Default: 2_000, Min: 100, Max: 1_000_000, Unit: "ns", Label: "Pause between two looks at the lock", Group: knob.Phases, Live: true,
			Doc: "How long a transaction waits before it asks for the lock again."}}}
	},
	Layout: func(txn.Config) record.Layout { return layout },
	Config: func(v knob.Values, _ *testbed.Load, _ txn.Seen) txn.Config {
		return Config{PollNS: int64(v.Int("serial.poll_ns"))}
	},
}

// layout is a sequence: records have no locks of their own.
var layout = record.MustLayout(record.Options{Step: 2}, record.Word{Name: "seq", Role: record.RoleStamp, Initial: record.InitialSeq})

// Config says how transactions run.
type Config struct {
	PollNS int64 // between two looks at the lock; 0: 2 us
}

// Common is what all protocols say.
func (c Config) Common() txn.Settings {
	return txn.Settings{Replicas: 1}.WithDefaults()
}

// protocol is the protocol on one database.
type protocol struct {
	cfg  Config
	cl   *r2.Cluster
	h    record.Layout
	lock r2.Loc
	asks []asks // owner: each machine its own
}

// asks are those of a machine's transactions for the lock. What all machines changed together would not be one's own.
type asks struct{ taken, tries uint64 }

var lockTaken = metrics.NewGauge(metrics.Gauge{Part: "serial", Name: "taken", Label: "lock taken", Unit: "%", Kind: metrics.Share})

// Open makes the lock.
func (c Config) Open(db *txn.DB) (txn.Protocol, error) {
	p := &protocol{cl: db.Cluster(), h: layout, asks: make([]asks, db.Cluster().Machines())}
	mem := p.cl.Mem(0)
	at, err := mem.Alloc(host.Alloc{Name: "serial.lock", Bytes: record.LineBytes})
	if err != nil {
		return nil, err
	}
	p.lock = r2.Loc{Machine: 0, RKey: mem.Register(at, record.LineBytes, host.LocalWrite|host.RemoteWrite|host.RemoteAtomic).RKey, Addr: at}
	return p, p.Set(c)
}

func (p *protocol) Set(cfg txn.Config) error {
	c, ok := cfg.(Config)
	if !ok {
		return fmt.Errorf("configuration of another protocol, %T: reset to change the protocol", cfg)
	}
	if c.PollNS == 0 {
		c.PollNS = 2_000
	}
	p.cfg = c
	return nil
}

func (p *protocol) NeedsDrain(txn.Config) bool     { return false }
func (p *protocol) Config() txn.Config             { return p.cfg }
func (p *protocol) Layout() record.Layout          { return p.h }
func (p *protocol) Unserved() int                  { return 0 }
func (p *protocol) Locked([]byte) (string, bool)   { return "", false }
func (p *protocol) Session(tx *txn.Tx) txn.Session { return &session{p: p, tx: tx, c: tx.Co()} }

// Gauges reads how often the lock was free.
func (p *protocol) Gauges(r *metrics.Readings) {
	var all asks
	for _, of := range p.asks {
		all.taken, all.tries = all.taken+of.taken, all.tries+of.tries
	}
	r.Add(lockTaken, float64(all.taken), float64(all.tries))
}

// session runs the transactions of a coroutine.
type session struct {
	p   *protocol
	tx  *txn.Tx
	c   *r2.Co
	set []*access
}

type access struct {
	txn.Access
	loc store.Location
	seq uint64 // its row's
}

// Begin takes the lock.
func (s *session) Begin(bool) {
	s.set = s.set[:0]
	for {
		found := s.c.CAS(s.p.lock, 0, 1+uint64(s.c.ID()))
		if err := s.c.Wait(); err != nil {
			s.c.Fail(fmt.Errorf("serial: lock: %w", err))
			return
		}
		s.p.asks[s.c.Machine()].tries++
		if binary.LittleEndian.Uint64(found.B) == 0 {
			s.p.asks[s.c.Machine()].taken++
			return
		}
		s.c.Sleep(r2.Time(s.p.cfg.PollNS) * 1000)
	}
}

// end gives the lock back.
func (s *session) end() {
	s.c.Write(s.p.lock, make([]byte, 8))
	if err := s.c.Wait(); err != nil {
		s.c.Fail(fmt.Errorf("serial: unlock: %w", err))
	}
}

func (s *session) Add() *txn.Access {
	a := &access{}
	s.set = append(s.set, a)
	return &a.Access
}

func (s *session) Eager(bool) bool   { return false }
func (s *session) Start(*txn.Access) {}
func (s *session) Validate() error   { return nil }
func (s *session) Abandon()          { s.end() }

// Write refuses what the protocol cannot do.
func (s *session) Write(a *txn.Access) error {
	if a.NewRow || a.Delete {
		return errors.New("the serial protocol neither inserts nor deletes")
	}
	return nil
}

// Fetch reads records.
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

func (s *session) fetch(a *access) error {
	loc, ok, err := store.Locate(s.c, a.Table.Store, a.Key)
	if err != nil || !ok {
		a.State = txn.Missing
		return err
	}
	a.loc = loc
	var row []byte
	if int(a.Machine) == s.c.Machine() {
		row = append([]byte(nil), s.c.Load(loc.Addr, a.Table.RowBytes)...)
	} else {
		b := s.c.Read(loc.Loc, a.Table.RowBytes)
		if err := s.c.Wait(); err != nil {
			return err
		}
		row = b.B
	}
	a.seq = s.p.h.StampOf(row)
	s.tx.Got(&a.Access, s.p.h.Value(row), a.Table.Audit.Version(s.c.Machine(), a.Key, loc.Ref, a.seq))
	return nil
}

// Commit writes back and gives the lock back.
func (s *session) Commit() error {
	for _, a := range s.set {
		if a.Out != nil {
			a.Next = audit.UpdatedVersion(a.Version, a.seq+2)
			binary.LittleEndian.PutUint64(a.Out, a.seq+2)
			a.Table.Audit.Touch(s.c.Machine(), a.Key)
		}
	}
	s.tx.Decided(nil)
	for _, a := range s.set {
		if a.Out != nil {
			to := a.loc.Loc
			to.Addr += r2.Addr(s.p.h.Stamp)
			s.c.Write(to, a.Out)
		}
	}
	if err := s.c.Wait(); err != nil {
		s.c.Fail(fmt.Errorf("serial: write-back: %w", err))
	}
	s.end()
	s.tx.Done()
	return nil
}
