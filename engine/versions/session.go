package versions

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// session runs the read-only transactions of a coroutine: each reads at one point, locks nothing and validates nothing.
type session struct {
	s  *Store
	tx *txn.Tx
	c  *r2.Co

	point   timestamp.Point
	running bool

	set   []*access
	pool  txn.Pool[access]
	local waiter
	items []byte // see awaitLocalWriters
}

// access is one record of the transaction.
type access struct {
	txn.Access
	fetched
	at     spot // where it is, of the own machine, and of one that is READ
	rep    *r2.Reply
	served bool // claimed, or asked for, in this round
	passed bool // its writers are not waited for
}

// Snapshot is the session of a coroutine; nil: there is no store, and records have one version.
func (s *Store) Snapshot(tx *txn.Tx) txn.Session {
	if s == nil {
		return nil
	}
	s.Prepare()
	c := tx.Co()
	x := &session{s: s, tx: tx, c: c}
	list := &s.machines[c.Machine()].sessions[c.Thread()]
	for len(*list) <= c.Index() {
		*list = append(*list, nil)
	}
	(*list)[c.Index()] = x
	return x
}

// Begin is START: the point at which everything is read. It is no lower than what the machine has announced.
func (x *session) Begin(bool) {
	x.set = x.set[:0]
	s := x.s
	if s.traits.Oracle {
		x.tx.Enter(txn.Timestamp, r2.Mode{})
	}
	if err := s.scheme.Point(x.c, x.tx.Session(), x.tx.Freshness(), &x.point); err != nil {
		x.tx.Fail(err)
		return
	}
	x.point.Words = highest(x.point.Words, s.machines[x.c.Machine()].floor)
	x.running = true
	x.tx.ReadsAt(x.point.Words)
}

// Claim is where the snapshot reads indexes.
func (x *session) Claim() store.Claim {
	return store.Claim{Point: x.point.Words, Raise: x.s.traits.Claims}
}

// Add is a new member of the set.
func (x *session) Add() *txn.Access {
	a := x.pool.At(len(x.set))
	*a = access{}
	x.set = append(x.set, a)
	return &a.Access
}

// Eager says that all that is announced is fetched together: no read depends on when it happens.
func (x *session) Eager(bool) bool { return true }

// Start leaves the newest record to the next Fetch, with others.
func (x *session) Start(*txn.Access) {}

// Write refuses: a transaction that writes needs the session of the host.
func (x *session) Write(a *txn.Access) error {
	return fmt.Errorf("write of key %d of table %s in a snapshot: run it as read-write", a.Key, a.Table.Name)
}

// Validate holds: a snapshot is of one moment.
func (x *session) Validate() error { return nil }

// Commit ends the transaction.
func (x *session) Commit() error {
	x.running = false
	x.tx.Decided(nil)
	x.tx.Done()
	return nil
}

// Abandon ends one that its body gives up.
func (x *session) Abandon() { x.running = false }

// Fetch reads the records of the set from index first on: one request per machine, more if they do not fit. Those of the own machine
// are claimed before and read behind.
func (x *session) Fetch(first int, _ bool) error {
	if x.tx.Failed() != nil {
		return x.tx.Failed()
	}
	x.tx.Enter(txn.RORead, r2.Mode{Outstanding: true, Doorbell: true})
	x.c.Compute(x.s.costs.Fetch)
	for left := true; left; {
		x.claimLocal(first)
		x.readRemote(first)
		for i := first; i < len(x.set); i++ {
			if a := x.set[i]; a.State == txn.Wanted && !a.served {
				x.ask(i)
			}
		}
		if err := x.c.Wait(); err != nil {
			return x.tx.Fail(err)
		}
		if x.s.writerWaiter != nil {
			x.awaitLocalWriters(first)
		}
		x.awaitLocal()
		left = false
		for _, a := range x.set[first:] {
			if a.State == txn.Wanted || a.State == txn.Asked {
				x.accept(a)
				left = left || !a.Arrived()
			}
		}
		if x.tx.Failed() != nil {
			return x.tx.Failed()
		}
	}
	return nil
}

// claimLocal is pass 1 of the records of the own machine.
func (x *session) claimLocal(first int) {
	s, m := x.s, x.s.machines[x.c.Machine()]
	x.local = waiter{co: x.c}
	for _, a := range x.set[first:] {
		if a.State != txn.Wanted || int(a.Machine) != x.c.Machine() {
			continue
		}
		x.c.Compute(s.costs.Record)
		loc, ok := s.look(x.c, a.Table, a.Key)
		a.at.loc, a.at.ok = s.claim(x.c, m, a.Table, a.Key, loc, ok, x.point.Words, &x.local)
		a.served, a.passed = true, x.local.passed
	}
}

// awaitLocal waits for the holders of the own machine's locks.
func (x *session) awaitLocal() {
	for x.local.left > 0 {
		x.local.asleep = true
		x.c.Suspend()
	}
}

// ask sends a request for the record at an index and all later ones of its machine, as many as fit.
func (x *session) ask(from int) {
	s, m := x.s, x.set[from].Machine
	req, back := binary.LittleEndian.AppendUint64(x.c.Request(), uint64(len(x.point.Words))), 0
	for _, w := range x.point.Words {
		req = binary.LittleEndian.AppendUint64(req, w)
	}
	last := from
	for i := from; i < len(x.set); i++ {
		a := x.set[i]
		if a.State != txn.Wanted || a.served || a.Machine != m {
			continue
		}
		answer := replyHead + wire.Padded(a.Table.ValueBytes())
		if len(req)+readItem > s.cl.MaxPayload() || back+answer > s.cl.MaxReply() {
			if i == from {
				x.tx.Fail(fmt.Errorf("record of table %s: a reply with it has %d bytes, a message carries %d", a.Table.Name, answer, s.cl.MaxReply()))
				a.served = true
				return
			}
			break
		}
		x.c.Compute(s.costs.Record)
		req = binary.LittleEndian.AppendUint64(req, uint64(a.Table.ID)<<56|a.Key&txn.MaxKey)
		back += answer
		last = i
	}
	rep := x.c.Call(int(m), s.rpcRead, req)
	for _, a := range x.set[from : last+1] {
		if a.State == txn.Wanted && !a.served && a.Machine == m {
			a.rep, a.served, a.State = rep, true, txn.Asked
		}
	}
}

// accept takes what came back for one record. If its row was taken from it meanwhile it is wanted again.
func (x *session) accept(a *access) {
	a.served = false
	if a.row != nil {
		x.acceptRow(a)
		return
	}
	if a.rep == nil {
		if int(a.Machine) == x.c.Machine() {
			x.readLocal(a)
		}
		return
	}
	rep := a.rep
	a.rep, a.State = nil, txn.Wanted
	if len(rep.B) < replyHead {
		x.tx.Fail(fmt.Errorf("snapshot: the reply of machine %d ends early", a.Machine))
		a.State = txn.Missing
		return
	}
	head := wire.Get64(rep.B)
	rep.B = rep.B[replyHead:]
	state := head >> stateAt
	if state != itemAgain {
		a.Version, _ = rep.Note()
	}
	switch state {
	case itemFound:
		n := a.Table.ValueBytes()
		x.tx.Got(&a.Access, rep.B[:n:n], a.Version)
		rep.B = rep.B[wire.Padded(n):]
		x.learn(a, store.Ref(head&refMask))
	case itemAgain:
	default:
		a.State = txn.Missing
	}
}

// readLocal is pass 2 of a record of the own machine.
func (x *session) readLocal(a *access) {
	value := x.tx.Alloc(a.Table.ValueBytes())
	v, state := x.s.readSpot(x.c, a.Table, a.Key, &a.at, x.point.Words, value)
	if state == itemAgain {
		return
	}
	a.Version = auditVersion(x.c, a.Table, a.Key, a.at.loc.Ref, v)
	if a.State = txn.Missing; state == itemFound {
		x.tx.Got(&a.Access, value, a.Version)
	}
}
