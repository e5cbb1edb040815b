// Package leased is a concurrency control whose records have one word for both kinds of locks, as in DrTM: a write lock with its owner, or
// a lease, the time until which all may read the record and none may write it. A reader that finds a lease with enough time left shares it
// and changes nothing; else it takes one by CAS. Nothing has to be released: leases end by themselves. A writer waits for the end of a
// lease, and locks by CAS. At the end of a transaction all of its leases must still hold, at one moment while all its locks are held.
//
// Every request is one-sided. Left out: clocks that differ, hardware transactional memory for local records, inserts and deletes.
package leased

import (
	"fmt"
	"slices"

	"drtmx/engine/coordinator"
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Kind is the protocol in a list of parts.
var Kind = txn.Kind{
	Name:  "leased",
	Doc:   "write locks and leases of readers in one word, by CAS",
	Claim: history.StrictSerializable,
	Rows: func(testbed.LoadOf) []knob.Row {
		return []knob.Row{{Knob: knob.Knob{Name: "leased.lease_ns", Kind: knob.Duration, Default: 400_000, Min: 200_000, Max: 10_000_000, Unit: "ns", Label: "Lease", Group: knob.Phases, Live: true,
			Doc: "How long readers may read what one of them has leased. Writers wait so long at most. All that a transaction reads must be leased at one moment: with less than 200us some could never be."}}}
	},
	Has:   []txn.Feature{txn.HasLog, txn.HasAborts},
	Logs:  []string{"redo", "none"},
	Rules: []func(knob.Values, *testbed.Load) error{txn.ValidReplicas, txn.ValidBackoff},
	Config: func(v knob.Values, _ *testbed.Load, _ txn.Seen) txn.Config {
		return Config{txn.SettingsOf(v).WithDefaults(), int64(v.Int("leased.lease_ns"))}
	},
}

// Config says how transactions run.
type Config struct {
	txn.Settings
	LeaseNS int64
}

type protocol struct {
	coordinator.Protocol
	coordinator.Configured[Config, Config]
}

// layout is the word of both kinds of locks, and a sequence that backups have too.
var layout = record.MustLayout(record.Options{Step: 2}, record.Word{Name: "state", Role: record.RoleLock}, record.Word{Name: "seq", Role: record.RoleStamp, Initial: record.InitialSeq})

// Open opens the log.
func (c Config) Open(db *txn.DB) (txn.Protocol, error) {
	p := &protocol{Protocol: coordinator.Open(db, layout)}
	var err error
	if p.Configured, err = coordinator.Configure(c, func(c Config) (*Config, error) { return &c, p.KeepReplicas(&c.Settings) }); err == nil {
		err = p.OpenLog(c.Replicas)
	}
	return p, err
}

// word is the state of a record: bit 0 says that it is locked, the next 8 are the machine that has locked it, and the other 55 the end of
// its lease, in ns.
type word uint64

func lease(end int64) word          { return word(end) << 9 }
func locked(machine int) word       { return word(machine)<<1 | 1 }
func (w word) held() bool           { return w&1 != 0 }
func (w word) left(now int64) int64 { return int64(w>>9) - now }
func wordOf(row []byte) word        { return word(wire.Get64(row)) }

// Locked says who has locked a row.
func (p *protocol) Locked(row []byte) (string, bool) {
	w := wordOf(row)
	return fmt.Sprintf("machine %d", w>>1&0xff), w.held()
}

// session runs the transactions of a coroutine.
type session struct {
	coordinator.Session[access, *access]
	p     *protocol
	wrote []uint64 // names of records that the transaction has written in some attempt
}

type access struct {
	coordinator.Access
	word   word // as the attempt has left it
	seq    uint64
	locked bool
}

func (p *protocol) Session(tx *txn.Tx) txn.Session {
	return &session{Session: coordinator.OpenSession[access](&p.Protocol, tx), p: p}
}

// Begin begins an attempt.
func (s *session) Begin(first bool) {
	if s.Reset(s.p.Cfg.Reclaim); first {
		s.wrote = s.wrote[:0]
	}
}

func (s *session) Eager(bool) bool   { return false }
func (s *session) Start(*txn.Access) {}
func (s *session) now() int64        { return s.C.Now() / r2.Nanosecond }

// Fetch leases or locks records, and reads them.
func (s *session) Fetch(first int, _ bool) error {
	for _, a := range s.Set[first:] {
		if a.State != txn.Wanted {
			continue
		}
		at, found, err := store.Locate(s.C, a.Table.Store, a.Key)
		if err != nil {
			return s.Tx.Fail(err)
		}
		if a.Loc = at; !found {
			a.State = txn.Missing
			continue
		}
		row, err := s.hold(a, a.ToWrite || slices.Contains(s.wrote, a.Name())) // a lease would be in the transaction's own way
		if err != nil {
			return err
		}
		a.seq = s.p.H.StampOf(row)
		s.Tx.Got(&a.Access.Access, s.p.H.Value(row), a.Table.Audit.Version(s.C.Machine(), a.Key, at.Ref, a.seq))
	}
	return nil
}

// hold leases a record, or locks it, and reads it. A writer waits for the end of a lease.
func (s *session) hold(a *access, write bool) (row []byte, err error) {
	if row, err = s.read(a); err != nil {
		return nil, err
	}
	left, to := a.word.left(s.now()), lease(s.now()+s.p.Cfg.LeaseNS)
	if !write && left > s.p.Cfg.LeaseNS/2 {
		return row, nil // the lease of another reader is good for this one too
	}
	if write {
		to = locked(s.C.Machine())
		if pause := (left + 1) * r2.Nanosecond; pause > 0 {
			s.Tx.Met(&a.Access.Access, pause)
			s.Tx.Paused(pause)
			s.C.Sleep(pause)
		}
	}
	found := s.C.CAS(a.Loc.Loc, uint64(a.word), uint64(to))
	if err := s.C.Wait(); err != nil {
		return nil, s.Tx.Fail(err)
	}
	if wordOf(found.B) != a.word { // another transaction was faster
		return nil, s.Conflict(&a.Access)
	}
	if a.locked = write; write && s.LockedAt == 0 {
		s.LockedAt = s.C.Now()
	}
	return s.read(a) // what was read before may be of the time before the lock
}

// keep holds a record anew: it must be as it was.
func (s *session) keep(a *access, write bool) error {
	row, err := s.hold(a, write)
	if err == nil && s.p.H.StampOf(row) != a.seq {
		err = s.Conflict(&a.Access)
	}
	return err
}

// read reads a row. One that another transaction has locked ends the attempt.
func (s *session) read(a *access) (row []byte, err error) {
	b := s.C.Read(a.Loc.Loc, a.Table.RowBytes)
	if err := s.C.Wait(); err != nil {
		return nil, s.Tx.Fail(err)
	}
	if a.word = wordOf(b.B); a.word.held() && !a.locked {
		err = s.Conflict(&a.Access)
	}
	return b.B, err
}

// Write locks a record that the attempt has read under a lease.
func (s *session) Write(x *txn.Access) error {
	a := s.Own(x)
	if err := (coordinator.UpdatesOnly{}).Write(x); err != nil || a.locked {
		return err
	}
	s.wrote = append(s.wrote, a.Name())
	return s.keep(a, true)
}

// Validate renews the leases that have ended meanwhile, and then says whether all hold at one moment.
func (s *session) Validate() error {
	for _, again := range []bool{true, false} {
		for _, a := range s.Set {
			if a.State != txn.Fetched || a.locked || a.Table.Constant || a.word.left(s.now()) > 0 {
				continue
			}
			if !again {
				return s.Conflict(&a.Access)
			}
			if err := s.keep(a, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// Commit looks at the leases while all locks are held, logs, decides, writes back and unlocks.
func (s *session) Commit() error {
	err := s.PlanUpdates(func(a *access) uint64 { return a.seq }, false)
	if err == nil {
		err = s.Validate()
	}
	if err == nil {
		err = s.SendLog(r2.Mode{Outstanding: true, Doorbell: true}, false)
	}
	return s.End(err, false, func() error { return s.unlock(true) }, s.Abandon)
}

// unlock ends the locks, behind what is written if the attempt commits: requests of a list take effect in order.
func (s *session) unlock(committed bool) error {
	s.Tx.Enter(txn.Commit, r2.Mode{Outstanding: true, Doorbell: true})
	for _, a := range s.Set {
		if !a.locked {
			continue
		}
		a.locked = false
		l := s.C.List(a.Loc.Loc, true)
		if row := a.Loc.Loc; committed && a.Out != nil {
			row.Addr += r2.Addr(s.p.H.Stamp)
			l.Write(row, a.Out)
		}
		l.Write(a.Loc.Loc, make([]byte, 8))
		l.Post()
	}
	return s.C.Wait()
}

// Abandon ends an attempt that fails.
func (s *session) Abandon() {
	if err := s.unlock(false); err != nil {
		s.C.Fail(fmt.Errorf("leased: abort: %w", err))
	}
}
