package rococo

import (
	"errors"
	"fmt"
	"slices"

	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// session runs the transactions of a coroutine.
type session struct {
	coordinator.Session[access, *access]
	coordinator.Stamped
	p     *protocol
	count uint64 // transactions in pieces so far

	// Of a transaction in pieces.
	id        txnID
	pieces    []asked
	started   int   // of them, in steps before
	parts     []int // servers
	edges     []edge
	stamp     uint64 // that servers have found
	immediate bool   // there was an immediate piece
	whole     wholeBody
	written   []byte // by a piece, for the history

	// Of a read-only transaction, see readonly.go.
	last  []stamped // of the round before
	calls []call
}

// asked is a piece, as its transaction has it.
type asked struct {
	table  *txn.Table
	key    uint64
	op     *txn.Op
	input  []byte
	output []byte
	server int
}

// access is a record that an attempt has read, or written as a whole.
type access struct {
	coordinator.Access // Loc is of a body that runs on the server
	seen
	rep int // number of the call that is to bring it
}

// call is a request that is under way.
type call struct {
	server  int
	rep     *r2.Reply
	missing int // edges of a start for which the reply had no room

	effectAt uint64 // the next effect beside the reply
	has      bool   // one
}

// Begin begins an attempt.
func (s *session) Begin(first bool) {
	s.Reset(replication.Background)
	s.pieces, s.parts, s.edges, s.started = s.pieces[:0], s.parts[:0], s.edges[:0], 0
	s.immediate, s.whole, s.stamp = false, wholeBody{}, 0
	if !s.Tx.ReadOnly() {
		s.BeginStamp()
	}
	if first {
		s.last = s.last[:0]
	}
	s.C.Compute(s.p.cost.begin)
}

// Eager says that announced records are read together.
func (s *session) Eager(bool) bool { return true }

// Start leaves a record to the next Fetch.
func (s *session) Start(*txn.Access) {}

// Validate has nothing to look at: a body that fails has read what is constant, or its rounds decide.
func (s *session) Validate() error { return nil }

// Write is for bodies that run whole on a server.
func (s *session) Write(a *txn.Access) error {
	if s.whole.on == nil {
		return fmt.Errorf("write of key %d of table %s outside of a piece: under this protocol a read-write transaction says what it does by Tx.Apply or Tx.Whole", a.Key, a.Table.Name)
	}
	return nil
}

// Apply adds a piece to the next step.
func (s *session) Apply(table uint8, key uint64, op *txn.Op, input, output []byte) error {
	switch {
	case s.Tx.ReadOnly():
		return s.Tx.Fail(fmt.Errorf("piece %s in a read-only transaction: read the record", op.Name))
	case s.whole.ran:
		return s.Tx.Fail(fmt.Errorf("piece %s of a transaction that ran as a whole: that is its only one", op.Name))
	case op.Immediate && s.immediate:
		// Immediate pieces run in the order in which they come. Two of a transaction could make a cycle of which no server
		// can change the order any more.
		return s.Tx.Fail(fmt.Errorf("piece %s is the second immediate one of its transaction: there may be one", op.Name))
	}
	s.immediate = s.immediate || op.Immediate
	s.C.Compute(s.p.cost.piece)
	t := s.p.DB.TableOf(table)
	kept := s.Tx.Alloc(len(input))
	copy(kept, input)
	s.pieces = append(s.pieces, asked{t, key, op, kept, output, t.Store.Primary(key)})
	return nil
}

// Step is a round of the start phase: the pieces that were added go to their servers, one message to each, and the answers
// say what the transaction comes after.
func (s *session) Step() error {
	list := s.pieces[s.started:]
	if len(list) == 0 {
		return nil
	}
	if s.started == 0 {
		s.count++
		s.id = numberOf(s.C.ID(), s.count)
	}
	s.Tx.Enter(txn.Execution, r2.Mode{Outstanding: true, Doorbell: true})
	s.calls = s.calls[:0]
	for i := range list {
		if m := list[i].server; !slices.ContainsFunc(list[:i], func(x asked) bool { return x.server == m }) {
			if err := s.start(list, m); err != nil {
				return s.Tx.Fail(err)
			}
		}
	}
	s.started = len(s.pieces)
	if err := s.C.Wait(); err != nil {
		return s.Tx.Fail(fmt.Errorf("start: %w", err))
	}
	for i := range s.calls {
		s.startedAt(&s.calls[i], list)
	}
	return s.moreEdges()
}

// start asks a server to start pieces.
func (s *session) start(list []asked, m int) error {
	if !slices.Contains(s.parts, m) {
		s.parts = append(s.parts, m)
	}
	req := wire.Add64(s.C.Request(), uint64(s.id))
	for i := range list {
		x := &list[i]
		if x.server != m {
			continue
		}
		if x.op.Changes() {
			s.p.DB.Locking(s.C.Machine(), m == s.C.Machine())
		}
		req = wire.Add64(wire.Add64(req, item(x.table.ID, x.key)), uint64(x.op.Number())|uint64(len(x.input))<<16)
		req = wire.AddPadded(req, x.input)
	}
	if most := s.p.Cl.MaxPayload(); len(req) > most {
		return fmt.Errorf("pieces of %d bytes for machine %d, a message carries %d: use more steps", len(req), m, most)
	}
	if n, most := s.outputs(m), s.p.Cl.MaxReply(); n > most {
		return fmt.Errorf("pieces that give back %d bytes from machine %d, a reply carries %d: ask for less", n, m, most)
	}
	s.calls = append(s.calls, call{server: m, rep: s.C.Call(m, s.p.rpc.start, req)})
	return nil
}

// outputs are the bytes of what a server gives back in the end.
func (s *session) outputs(m int) (n int) {
	n = word
	for i := range s.pieces {
		if x := &s.pieces[i]; x.server == m {
			n += wire.Padded(len(x.output))
		}
	}
	return n
}

// startedAt takes what a server says of pieces that have started.
func (s *session) startedAt(x *call, list []asked) {
	b, edges := x.rep.B[s.p.headBytes():], int(wire.Get64(x.rep.B))
	if s.p.MV != nil {
		s.p.MV.Scheme().Over(&s.X, timestamp.Stamp(wire.Get64(x.rep.B[word:])), 0)
	}
	for i := range list {
		if p := &list[i]; p.server == x.server && p.op.Immediate {
			copy(p.output, b)
			b = b[wire.Padded(len(p.output)):]
		}
	}
	s.edges, x.missing = edgesOf(b, s.edges), edges-len(b)/word
}

// moreEdges asks for the edges for which replies had no room.
func (s *session) moreEdges() error {
	for {
		s.calls = slices.DeleteFunc(s.calls, func(x call) bool { return x.missing == 0 })
		if len(s.calls) == 0 {
			return nil
		}
		for i := range s.calls {
			x := &s.calls[i]
			x.rep = s.C.Call(x.server, s.p.rpc.more, wire.Add64(s.C.Request(), uint64(s.id)))
		}
		if err := s.C.Wait(); err != nil {
			return s.Tx.Fail(fmt.Errorf("start: %w", err))
		}
		for i := range s.calls {
			x := &s.calls[i]
			s.edges, x.missing = edgesOf(x.rep.B, s.edges), x.missing-len(x.rep.B)/word
		}
	}
}

// Commit ends an attempt whose body has ended well.
func (s *session) Commit() error {
	if s.Tx.ReadOnly() {
		return s.finishRounds()
	}
	err := s.Step()
	if err == nil && len(s.pieces) > 0 {
		err = s.commit()
	}
	if err == nil && s.p.MV != nil {
		err = s.stampIt()
	}
	if err != nil {
		// Some servers may have run its pieces, and they are not undone: a machine is gone, and there is no recovery.
		s.C.Fail(fmt.Errorf("rococo: commit: %w", err))
	}
	return s.End(err, false, func() error { return nil }, func() {}) // all of it is in place, or the run has failed
}

// commit is the commit phase: nothing can stop the transaction any more. Servers answer when its pieces have run.
func (s *session) commit() error {
	s.Tx.Enter(txn.Commit, r2.Mode{Outstanding: true, Doorbell: true})
	if err := s.Tx.AddEntries(func() error { return s.Tx.Fail(errors.New("an entry that is there already")) }); err != nil {
		return err
	}
	s.edges = distinct(s.edges)
	req := wire.Add64(nil, uint64(s.id))
	if s.p.MV != nil {
		if err := s.p.MV.Scheme().Draw(s.C, &s.X); err != nil {
			return s.Tx.Fail(err)
		}
		req = wire.Add64(req, uint64(s.X.TS))
	}
	list := s.edges
	for most := s.p.Cl.MaxPayload()/word - 1; len(list) > most-1; { // a commit has two words before them
		first := min(len(list), most)
		if err := s.callAll(s.p.rpc.before, addEdges(wire.Add64(nil, uint64(s.id)), list[:first])); err != nil {
			return err
		}
		list = list[first:]
	}
	if err := s.callAll(s.p.rpc.commit, addEdges(req, list)); err != nil {
		return err
	}
	s.effectsBeside()
	for _, x := range s.calls {
		b := x.rep.B
		if s.p.MV != nil {
			s.final(wire.Get64(b), x.server)
			b = b[word:]
		}
		for i := range s.pieces {
			if p := &s.pieces[i]; p.server == x.server && !p.op.Immediate {
				copy(p.output, b)
				b = b[wire.Padded(len(p.output)):]
			}
		}
	}
	return nil
}

// callAll sends a request to all servers of the transaction, and waits for the replies.
func (s *session) callAll(rpc uint8, req []byte) error {
	s.calls = s.calls[:0]
	for _, m := range s.parts {
		s.calls = append(s.calls, call{server: m, rep: s.C.Call(m, rpc, req)})
	}
	if err := s.C.Wait(); err != nil {
		return s.Tx.Fail(err)
	}
	return nil
}

// stampIt tells the scheme and the history of the timestamp.
func (s *session) stampIt() error {
	if s.stamp == 0 { // it has touched nothing
		return nil
	}
	s.X.TS = timestamp.Stamp(s.stamp)
	s.Tx.CommitsAt(s.X.TS)
	s.p.MV.Scheme().Done(s.C, &s.X, s.Tx.Session())
	return nil
}

// Abandon ends an attempt that fails before Commit: nothing of it may have started.
func (s *session) Abandon() {
	if s.started == 0 {
		return
	}
	why := "" // nothing failed in a body that returns an error of its own
	if err := s.Tx.Failed(); err != nil {
		why = " (" + err.Error() + ")"
	}
	s.C.Fail(fmt.Errorf("rococo: a transaction of machine %d gives up%s after its pieces have started: let it decide that before", s.C.Machine(), why))
}
