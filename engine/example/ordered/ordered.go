// Package ordered is a concurrency control without aborts for workloads that declare what their transactions touch. A transaction locks all its
// records before its body runs, in the order of their tables and keys, and waits where another one is in its way: as all lock in that order, no
// two ever wait for each other. Readers share a record, a writer has it alone.
//
// Every request is one-sided. Left out: queues, so that a writer may wait long while readers come and go, and inserts and deletes.
package ordered

import (
	"cmp"
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
	Name:  "ordered",
	Doc:   "locks declared records in one order, and aborts nothing",
	Claim: history.StrictSerializable,
	Rows: func(testbed.LoadOf) []knob.Row {
		return []knob.Row{{Knob: knob.Knob{Name: "ordered.poll_ns", Kind: knob.Duration, Default: 2_000, Min: 100, Max: 100_000, Unit: "ns", Label: "Pause between two looks at a lock", Group: knob.Phases, Live: true,
			Doc: "How long a transaction waits before it tries a lock again that another one holds."}}}
	},
	Has:       []txn.Feature{txn.HasLog},
	Logs:      []string{"redo", "none"},
	NeedsSets: true,
	Rules:     []func(knob.Values, *testbed.Load) error{txn.ValidReplicas},
	Config: func(v knob.Values, _ *testbed.Load, _ txn.Seen) txn.Config {
		return Config{txn.SettingsOf(v).WithDefaults(), int64(v.Int("ordered.poll_ns"))}
	},
}

// Config says how transactions run.
type Config struct {
	txn.Settings
	PollNS int64 // between two looks at a lock
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

// word is the state of a record: bit 0 says that a writer has it, the others count the readers that have it.
type word uint64

const (
	writer word = 1
	reader word = 2
)

func wordOf(row []byte) word { return word(wire.Get64(row)) }

// with is the word when another transaction has the lock too; ok is false where that cannot be.
func (w word) with(write bool) (to word, ok bool) {
	if write {
		return writer, w == 0
	}
	return w + reader, w&writer == 0
}

// Locked says whether a row is locked: by whom, its word does not tell.
func (p *protocol) Locked(row []byte) (string, bool) {
	w := wordOf(row)
	return fmt.Sprintf("a writer or readers (word %#x)", uint64(w)), w != 0
}

// session runs the transactions of a coroutine.
type session struct {
	coordinator.Session[access, *access]
	coordinator.UpdatesOnly
	p     *protocol
	order []*access // in which they are locked
}

type access struct {
	coordinator.Access
	locked bool
	row    r2.Buf
}

func (p *protocol) Session(tx *txn.Tx) txn.Session {
	return &session{Session: coordinator.OpenSession[access](&p.Protocol, tx), p: p}
}

// Begin begins an attempt.
func (s *session) Begin(bool) {
	s.Reset(s.p.Cfg.Reclaim)
	s.order = s.order[:0]
}

// Declared locks all records, and then reads them.
func (s *session) Declared() error {
	s.order = append(s.order, s.Set...)
	slices.SortFunc(s.order, func(a, b *access) int {
		return cmp.Or(cmp.Compare(a.Table.ID, b.Table.ID), cmp.Compare(a.Key, b.Key))
	})
	for _, a := range s.order {
		at, found, err := store.Locate(s.C, a.Table.Store, a.Key)
		if err != nil {
			return s.Tx.Fail(err)
		}
		if a.Loc, a.Located = at, found; !found {
			a.State = txn.Missing
		} else if err := s.lock(a); err != nil {
			return s.Tx.Fail(err)
		}
	}
	return s.read()
}

// mostLooks bounds how often a lock is tried: a transaction that takes so long is a fault.
const mostLooks = 100_000

// lock waits for a record.
func (s *session) lock(a *access) error {
	if a.Table.Constant {
		return nil
	}
	from, mark := word(0), s.C.Mark() // as it probably is
	for range mostLooks {
		to, ok := from.with(a.ToWrite)
		if !ok {
			pause := r2.Time(s.p.Cfg.PollNS) * r2.Nanosecond
			s.Tx.Met(&a.Access.Access, pause)
			s.Tx.Paused(pause)
			s.C.Sleep(pause)
			from = 0
			continue
		}
		b := s.C.CAS(a.Loc.Loc, uint64(from), uint64(to))
		if err := s.C.Wait(); err != nil {
			return err
		}
		found := wordOf(b.B)
		s.C.Release(mark)
		if found == from {
			a.locked, s.LockedAt = true, cmp.Or(s.LockedAt, s.C.Now())
			return nil
		}
		from = found
	}
	return fmt.Errorf("key %d of table %s is locked all the time", a.Key, a.Table.Name)
}

// read reads the records.
func (s *session) read() error {
	before := s.C.Using(r2.Mode{Outstanding: true, Doorbell: true})
	for _, a := range s.Set {
		if a.Located {
			a.row = s.C.Read(a.Loc.Loc, a.Table.RowBytes)
		}
	}
	err := s.C.Wait()
	if s.C.Using(before); err != nil {
		return s.Tx.Fail(err)
	}
	for _, a := range s.Set {
		if a.Located {
			s.Tx.Got(&a.Access.Access, s.p.H.Value(a.row.B), a.Table.Audit.Version(s.C.Machine(), a.Key, a.Loc.Ref, s.p.H.StampOf(a.row.B)))
		}
	}
	return nil
}

func (s *session) Eager(bool) bool       { return false }
func (s *session) Start(*txn.Access)     {}
func (s *session) Fetch(int, bool) error { return nil } // all that there is was declared
func (s *session) Validate() error       { return nil } // all that was read is locked

// Commit logs, decides, writes back and unlocks.
func (s *session) Commit() error {
	err := s.PlanUpdates(func(a *access) uint64 { return s.p.H.StampOf(a.row.B) }, false)
	if err == nil {
		err = s.SendLog(r2.Mode{Outstanding: true, Doorbell: true}, false)
	}
	return s.End(err, false, func() error { return s.unlock(true) }, s.Abandon)
}

// unlock ends the locks, behind what is written if the attempt commits: requests of a list take effect in order.
func (s *session) unlock(committed bool) error {
	s.Tx.Enter(txn.Commit, r2.Mode{Outstanding: true, Doorbell: true})
	for _, a := range s.order {
		if !a.locked {
			continue
		}
		a.locked = false
		l := s.C.List(a.Loc.Loc, true)
		if row := a.Loc.Loc; committed && a.Out != nil {
			row.Addr += r2.Addr(s.p.H.Stamp)
			l.Write(row, a.Out)
		}
		if a.ToWrite {
			l.Write(a.Loc.Loc, make([]byte, 8))
		} else {
			l.FAA(a.Loc.Loc, ^uint64(reader-1)) // minus a reader
		}
		l.Post()
	}
	return s.C.Wait()
}

// Abandon ends an attempt that fails: nothing but its own code, or the hardware, makes one fail.
func (s *session) Abandon() {
	if err := s.unlock(false); err != nil {
		s.C.Fail(fmt.Errorf("ordered: abort: %w", err))
	}
}
