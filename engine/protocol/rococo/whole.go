package rococo

import (
	"fmt"

	"drtmx/engine/r2"
	records "drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/txn/audit"
	"drtmx/engine/versions"
	"drtmx/engine/wire"
)

// A transaction whose records are all on one server, and which are known only as it goes, is one piece, of a body that runs
// there. It begins when nothing that has started is in its way, and so it needs no place in a graph: whatever it follows has
// been executed. It looks first and then claims all its records at one instant. A transaction that starts afterwards comes after it.

// wholeBody is what a session knows of such a transaction.
type wholeBody struct {
	on   *r2.Co // the coroutine of the server while the body runs
	body func() error
	ran  bool
	err  error
}

// Whole runs a body on a server.
func (s *session) Whole(m, inputBytes int, body func() error) error {
	switch {
	case s.Tx.ReadOnly():
		return s.Tx.Fail(fmt.Errorf("a body for one server in a read-only transaction: read the records"))
	case len(s.pieces) > 0 || s.whole.ran:
		return s.Tx.Fail(fmt.Errorf("a body for one server in a transaction that has other pieces: it has to be the only one"))
	}
	s.count++
	s.id = numberOf(s.C.ID(), s.count)
	s.whole.body = body
	s.Tx.Enter(txn.Execution, r2.Mode{})
	req := wire.Add64(s.C.Request(), uint64(s.id))
	req = append(req, make([]byte, wire.Padded(inputBytes))...)
	s.C.Call(m, s.p.rpc.whole, req)
	if err := s.C.Wait(); err != nil {
		return s.Tx.Fail(err)
	}
	s.whole.ran = true
	return s.whole.err
}

// serveWhole runs the body of a session.
func (s *server) serveWhole(c *r2.Co, x *session, rep []byte) int {
	c.Compute(s.p.cost.request)
	x.whole.on = c
	err := x.Tx.RunAt(c, func() error {
		for {
			x.Forget()
			x.Tx.ResetSet()
			if err := x.whole.body(); err != nil || x.Tx.Failed() != nil || len(x.Set) == 0 {
				return err
			}
			c.Compute(len(x.Set) * s.p.cost.node)
			for _, a := range x.Set {
				s.touchRecord(c, a.Table.ID, a.Key)
			}
			c.Load64(s.first(x)) // the core comes to its own time: from here to the claims is one instant
			n, changed := s.against(c, x)
			switch {
			case n != nil:
				s.await(c, n)
			case !changed:
				return s.install(c, x)
			}
		}
	})
	x.whole.on, x.whole.err = nil, err
	wire.Put64(rep, 0)
	return word
}

// first is an address that a body has looked at, or will: that of the gap of what it inserts without a look.
func (s *server) first(x *session) r2.Addr {
	a := x.Set[0]
	if a.Blind {
		return a.Table.Store.Gap(a.Key).Addr
	}
	return a.Loc.Addr
}

// against is a transaction that has started on a record of a body and is in its way, or tells that another one has been
// executed since the body read it. It takes no time.
func (s *server) against(c *r2.Co, x *session) (n *node, changed bool) {
	for _, a := range x.Set {
		if a.Table.Constant {
			continue
		}
		if n := s.claimed.look(a.Table, a.Key).against(a.Out != nil); n != nil {
			return n, false
		}
		if a.State == txn.Missing && !a.Tomb {
			_, there := a.Table.Store.Find(a.Key)
			if there && a.Blind { // or a tombstone is: the body looks, the next time
				x.Tx.InsertMetRecord()
			}
			changed = changed || there
		} else {
			changed = changed || wire.Get64(c.Peek(a.Loc.Addr+r2.Addr(s.p.H.Stamp), word)) != a.stamp
		}
	}
	return nil, changed
}

// install claims what a body has read and written, and writes it.
func (s *server) install(c *r2.Co, x *session) error {
	n := s.graph.node(x.id, s.machine)
	n.complete(nil)
	n.status = executing
	for _, a := range x.Set {
		if !a.Table.Constant {
			s.claimed.on(a.Table, a.Key).claim(n, s.machine, a.Out != nil, nil)
		}
	}
	err := error(nil)
	if s.p.MV != nil {
		err = s.stampWhole(c, x, n)
	}
	for _, a := range x.Set {
		if err == nil {
			err = s.write(c, n, a)
		}
	}
	for _, a := range x.Set {
		if !a.Table.Constant {
			s.claimed.drop(a.Table, a.Key, n)
		}
	}
	s.graph.retire(n)
	s.wake(c, n)
	if err != nil {
		c.Fail(fmt.Errorf("rococo: %w", err))
	}
	return err
}

// stampWhole gives a body its timestamp: nothing that has started is in its way.
func (s *server) stampWhole(c *r2.Co, x *session, n *node) error {
	scheme := s.p.MV.Scheme()
	for _, a := range x.Set {
		switch {
		case a.Table.Constant:
		case a.State == txn.Missing && !a.Tomb:
			if a.Out != nil {
				scheme.Over(&x.X, timestamp.Stamp(s.p.MV.Guard(c, a.Table, a.Key)), 0)
			}
		default:
			tuple, version := s.p.MV.Under(c, a.Loc.Addr)
			if scheme.Saw(&x.X, timestamp.Stamp(version)); a.Out != nil {
				scheme.Over(&x.X, timestamp.Stamp(tuple), timestamp.Stamp(version))
			}
		}
		if a.Out != nil {
			s.reserve(c, a.Table)
		}
	}
	if err := scheme.Draw(c, &x.X); err != nil {
		return err
	}
	n.stamp, n.top, n.stamped, x.stamp = uint64(x.X.TS), uint64(x.X.TS), true, uint64(x.X.TS)
	return nil
}

// write puts a record of a body in place, or says that it was read.
func (s *server) write(c *r2.Co, n *node, a *access) error {
	t := a.Table
	if a.Out == nil {
		switch {
		case s.p.MV == nil || t.Constant || !s.p.MV.RaisesReads():
		case a.State == txn.Missing && !a.Tomb:
			s.p.MV.ClaimGap(c, t, a.Key, n.stamp)
		case a.Tomb: // it may be taken out just now
			s.p.MV.ClaimGap(c, t, a.Key, n.stamp)
			fallthrough
		default:
			s.p.MV.Raise(c, a.Loc.Addr, n.stamp)
		}
		return nil
	}
	t.Audit.Touch(c.Machine(), a.Key)
	s.p.DB.Locking(c.Machine(), true)
	switch {
	case a.NewRow:
		return s.insertRecord(c, n, a)
	case a.Delete && s.p.MV != nil:
		next := records.Entomb(a.stamp)
		a.Next = audit.UpdatedVersion(a.Version, next)
		s.p.MV.Install(c, t, a.Key, a.Loc.Addr, versions.Version{TS: n.stamp, Seq: next})
	case a.Delete:
		a.Next = audit.DeletedVersion(a.Version)
		x, err := t.Store.Remove(c, a.Key, a.Loc.Ref)
		if err != nil {
			return fmt.Errorf("key %d of table %s cannot be taken out: %w", a.Key, t.Name, err)
		}
		t.Audit.NoteDeletion(c.Machine(), a.Key, x)
		t.Store.Free(c, a.Key, a.Loc.Ref)
	default:
		next := s.p.next(a.stamp)
		a.Next = audit.UpdatedVersion(a.Version, next)
		s.put(c, n, t, a.Key, a.Loc, next, a.OutValue())
	}
	return nil
}

// insertRecord inserts a record of a body.
func (s *server) insertRecord(c *r2.Co, n *node, a *access) error {
	t := a.Table
	b, err := s.insertRow(c, t, a.Key)
	if err != nil {
		return err
	}
	if a.Blind {
		a.Version = b.before
	}
	a.Next = b.next(a.Version)
	if s.p.MV != nil && !b.tomb {
		s.p.MV.Cancel(c, t) // nothing was there
	}
	s.put(c, n, t, a.Key, b.loc, b.seq, a.OutValue())
	s.born(c, &b)
	return nil
}

// fetchLocal reads records of the server that a body runs on.
func (s *session) fetchLocal(first int) error {
	c := s.whole.on
	for _, a := range s.Set[first:] {
		switch {
		case a.Arrived():
			continue
		case int(a.Machine) != c.Machine() && !a.Table.Constant:
			return s.Tx.Fail(fmt.Errorf("key %d of table %s is on machine %d, and the body runs on machine %d: use pieces", a.Key, a.Table.Name, a.Machine, c.Machine()))
		}
		c.Compute(s.p.cost.read)
		loc, ok, err := a.Table.Store.LookupLocal(c, a.Key)
		if err != nil {
			return s.Tx.Fail(err)
		}
		a.Loc = loc
		value := s.Tx.Alloc(a.Table.ValueBytes())
		if ok {
			row := c.Load(loc.Addr, a.Table.RowBytes)
			h := s.p.H
			if a.stamp = h.StampOf(row); h.Tomb(a.stamp) && !loc.Stale(a.stamp) {
				a.Tomb = true
				s.Tx.LacksAt(&a.Access.Access, a.Table.Audit.Version(c.Machine(), a.Key, loc.Ref, a.stamp))
				continue
			}
			if records.Live(a.stamp) && !loc.Stale(a.stamp) {
				copy(value, h.Value(row))
				s.Tx.Got(&a.Access.Access, value, a.Table.Audit.Version(c.Machine(), a.Key, loc.Ref, a.stamp))
				continue
			}
			a.Loc = store.Location{Loc: a.Table.Store.Gap(a.Key)}
		}
		s.Tx.Lacks(&a.Access.Access, uint32(c.Load64(a.Loc.Addr)))
	}
	return nil
}
