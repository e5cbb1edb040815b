// Package prepared is a concurrency control with two-phase commit over RPC: a transaction reads without locks, and at its end asks each
// machine whose records it has touched to prepare. A participant locks all of its records and compares what was read, or refuses and locks
// none. When all have voted yes the transaction has its log at the backups, is committed, and tells the participants, which write and
// unlock. Nothing is one-sided, so it runs over TCP too.
//
// Left out: inserts and deletes; several messages to a participant that prepares; what handlers take beyond their memory accesses; what a
// participant does that has voted yes when the coordinator is gone, for there is no recovery.
package prepared

import (
	"cmp"
	"fmt"

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
	Name:  "prepared",
	Doc:   "two-phase commit: participants lock and compare when they prepare",
	Claim: history.StrictSerializable,
	Rows:  func(testbed.LoadOf) []knob.Row { return nil },
	Has:   []txn.Feature{txn.HasLog, txn.HasAborts, txn.HasTwoSided},
	Logs:  []string{"redo", "none"},
	Rules: []func(knob.Values, *testbed.Load) error{txn.ValidReplicas, txn.ValidBackoff},
	Config: func(v knob.Values, _ *testbed.Load, _ txn.Seen) txn.Config {
		return Config{txn.SettingsOf(v).WithDefaults()}
	},
}

// Config says how transactions run.
type Config struct{ txn.Settings }

// protocol is the protocol on one database.
type protocol struct {
	coordinator.Protocol
	coordinator.Configured[Config, Config]
	fetch, prepare, end uint8
}

// Open opens the log and makes the handlers.
func (c Config) Open(db *txn.DB) (txn.Protocol, error) {
	p := &protocol{Protocol: coordinator.Open(db, record.LockSeq)}
	p.fetch = p.Cl.Handle("prepared.fetch", p.serveFetch)
	p.prepare = p.Cl.Handle("prepared.prepare", p.servePrepare)
	p.end = p.Cl.Handle("prepared.end", p.serveEnd)
	var err error
	if p.Configured, err = coordinator.Configure(c, p.fill); err == nil {
		err = p.OpenLog(c.Replicas)
	}
	return p, err
}

// fill checks what all protocols have.
func (p *protocol) fill(c Config) (*Config, error) { return &c, p.KeepReplicas(&c.Settings) }

// session runs the transactions of a coroutine.
type session struct {
	coordinator.Session[access, *access]
	coordinator.UpdatesOnly
	p *protocol
}

type access struct {
	coordinator.Access
	seq    uint64 // of what was read
	locked bool   // its participant has voted yes
}

func (p *protocol) Session(tx *txn.Tx) txn.Session {
	return &session{Session: coordinator.OpenSession[access](&p.Protocol, tx), p: p}
}

func (s *session) Begin(bool)        { s.Reset(s.p.Cfg.Reclaim) }
func (s *session) Eager(bool) bool   { return true }
func (s *session) Start(*txn.Access) {}
func (s *session) Abandon()          {} // nothing is locked

// Fetch reads records at their machines.
func (s *session) Fetch(first int, _ bool) error {
	for _, a := range s.Set[first:] {
		if a.State == txn.Wanted {
			a.Rep = s.C.Call(int(a.Machine), s.p.fetch, wire.Add64(s.C.Request(), a.Name()))
		}
	}
	if err := s.C.Wait(); err != nil {
		return s.Tx.Fail(err)
	}
	h := &s.p.H
	for _, a := range s.Set[first:] {
		if a.State != txn.Wanted {
			continue
		}
		switch b := a.Rep.B; {
		case len(b) == 0:
			a.State = txn.Missing
		case h.LockOf(b[8:]) != 0 || !record.Stable(h.StampOf(b[8:])):
			return s.Conflict(&a.Access)
		default:
			a.Loc = a.Table.Store.Location(a.Key, store.Ref(wire.Get64(b)))
			a.seq = h.StampOf(b[8:])
			s.Tx.Got(&a.Access.Access, h.Value(b[8:]), a.Table.Audit.Version(s.C.Machine(), a.Key, a.Loc.Ref, a.seq))
		}
	}
	return nil
}

// serveFetch answers with where a record is and its row; with nothing if there is none.
func (p *protocol) serveFetch(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	t, key := p.Named(wire.Get64(req))
	at, found, err := t.Store.LookupLocal(c, key)
	if err != nil {
		c.Fail(err)
	}
	if !found {
		return 0
	}
	wire.Put64(rep, uint64(at.Ref))
	return 8 + copy(rep[8:], c.Load(at.Addr, t.RowBytes))
}

// Validate has what was read compared, and locks no longer.
func (s *session) Validate() error { return cmp.Or(s.askAll(), s.tellAll(false)) }

// Commit asks all participants, decides, and tells them.
func (s *session) Commit() error {
	err := s.PlanUpdates(func(a *access) uint64 { return a.seq }, true)
	if err == nil {
		err = s.askAll()
	}
	if err == nil {
		err = s.SendLog(r2.Mode{Outstanding: true, Doorbell: true}, true)
	}
	return s.End(err, false, s.commit, s.abort)
}

func (s *session) commit() error { return s.tellAll(true) }

func (s *session) abort() {
	if err := s.tellAll(false); err != nil {
		s.C.Fail(fmt.Errorf("prepared: abort: %w", err))
	}
}

const askItem = 8 + 8 // address, sequence

// askAll is the first phase: participants vote.
func (s *session) askAll() error {
	s.Tx.Enter(coordinator.Validation, r2.Mode{Outstanding: true, Doorbell: true})
	parts := s.Participants(func(a *access) bool { return a.State == txn.Fetched && !a.Table.Constant })
	for i := range parts {
		req := s.C.Request()
		for _, a := range parts[i].Items {
			req = wire.Add64(wire.Add64(req, uint64(a.Loc.Addr)), a.seq)
		}
		parts[i].Rep = s.C.Call(parts[i].Machine, s.p.prepare, req)
	}
	lost := s.C.Wait()
	s.LockedAt = s.C.Now()
	for _, p := range parts {
		for _, a := range p.Items {
			a.locked = coordinator.SaysYes(p.Rep)
		}
	}
	switch coordinator.StandsAfter(parts, lost) {
	case coordinator.Prepared:
		return nil
	case coordinator.InDoubt:
		return s.Tx.Fail(fmt.Errorf("a participant is gone before it has voted: %w", lost))
	}
	return s.Aborts()
}

// servePrepare locks all records that a message names if they are as they were read, or none.
func (p *protocol) servePrepare(c *r2.Co, from r2.Peer, req, rep []byte) int {
	word := record.OwnerOf(from.Machine, from.Thread, from.Coroutine).LockWord()
	rep[0] = coordinator.ReplyYes
	n := 0 // bytes of the items that are locked
	for ; n < len(req) && rep[0] == coordinator.ReplyYes; n += askItem {
		row := r2.Addr(wire.Get64(req[n:]))
		if c.LocalCAS(row+r2.Addr(p.H.Lock), 0, word) != 0 {
			rep[0] = coordinator.ReplyNo
			break
		}
		if c.Load64(row+r2.Addr(p.H.Stamp)) != wire.Get64(req[n+8:]) {
			rep[0] = coordinator.ReplyNo
		}
	}
	for ; n > 0 && rep[0] == coordinator.ReplyNo; n -= askItem {
		c.Store64(r2.Addr(wire.Get64(req[n-askItem:]))+r2.Addr(p.H.Lock), 0)
	}
	return 1
}

// tellAll is the second phase: those that have voted yes hear of the decision, and of what to write, in a message for each record.
func (s *session) tellAll(committed bool) error {
	s.Tx.Enter(txn.Commit, r2.Mode{Outstanding: true, Doorbell: true})
	for _, a := range s.Set {
		if !a.locked {
			continue
		}
		a.locked = false
		req := wire.Add64(s.C.Request(), uint64(a.Loc.Addr))
		if committed {
			req = append(req, a.Out...)
		}
		s.p.End(s.C, int(a.Machine), s.p.end, req)
	}
	return s.C.Wait()
}

// serveEnd writes what a message brings of a record, and unlocks it. Its sequence is odd while it is written.
func (p *protocol) serveEnd(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	row := r2.Addr(wire.Get64(req))
	if out := req[8:]; len(out) > 0 {
		seq := wire.Get64(out)
		c.Store64(row+r2.Addr(p.H.Stamp), record.Writing(seq-2))
		c.Store(row+r2.Addr(p.H.Bytes), out[8:])
		c.Store64(row+r2.Addr(p.H.Stamp), seq)
	}
	c.Store64(row+r2.Addr(p.H.Lock), 0)
	return p.Ended(c, rep)
}
