package occ

import (
	"slices"

	"drtmx/engine/coordinator"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// The second half of the validation phase (§4.3.2): check the versions of the
// records that were only read. It must not begin before all locks are held.

// validate checks that the records that were only read have kept their version
// and they are not locked. Read committed does without.
func (s *session) validate(phase metrics.Phase, prim Prim) error {
	if s.cfg.ReadCommitted {
		return nil
	}
	n := s.Count(readOnlySet)
	if n == 0 {
		return nil
	}
	s.Tx.Enter(phase, s.cfg.Posts(phase, prim))
	s.C.Compute(s.p.Program.Validation + s.p.Program.ValidationRecord*n)
	if prim == TwoSided {
		return s.validateByRPC()
	}
	for _, a := range s.Set {
		switch {
		case !readOnlySet(a):
		case int(a.Machine) == s.C.Machine():
			a.head = s.Tx.Alloc(s.p.off.head)
			copy(a.head, s.C.Load(a.Loc.Addr, s.p.off.head))
		default:
			b := s.C.Read(a.Loc.Loc, s.p.off.head)
			a.head, a.buf = b.B, b.Addr
		}
	}
	if err := s.C.Wait(); err != nil {
		return s.Tx.Fail(err)
	}
	for _, a := range s.Set {
		if !readOnlySet(a) {
			continue
		}
		if int(a.Machine) != s.C.Machine() {
			s.C.TouchDMA(a.buf, len(a.head))
		}
		if s.outdated(a, a.head) {
			s.Tx.Met(&a.Access.Access, 0)
			return s.conflict()
		}
	}
	return nil
}

// outdated says whether what is at a.Loc now is not what was read: another version of the record, or of its gap.
func (s *session) outdated(a *access, head []byte) bool {
	if a.State == txn.Missing {
		return wire.Get32(head) != s.gaps.expect(a.Loc.Loc, a.gap)
	}
	s.forgetStale(a, s.p.H.StampOf(head))
	return s.p.isChanged(head, a.seq)
}

// isChanged says of the header of a row that it is locked, or that its version is not the one that was read.
func (p *protocol) isChanged(head []byte, read uint64) bool {
	return p.H.LockOf(head) != 0 || p.H.StampOf(head) != read
}

// validateByRPC has participants compare, and where records have versions first raise the timestamps of what was only read to the
// attempt's stamp.
func (s *session) validateByRPC() error {
	most, calls := s.p.MaxPayload/verifyItem, s.calls[:0]
	if s.p.MV != nil {
		most = (s.p.MaxPayload - 8) / readItem
	}
	for _, p := range s.Participants(readOnlySet) {
		for left := p.Items; len(left) > 0; {
			var items []*access
			items, left = coordinator.Cut(left, most)
			p.Items, p.Rep = items, s.C.Call(p.Machine, s.p.rpc.validate, s.checkItems(items))
			calls = append(calls, p)
		}
	}
	s.calls = calls
	return s.allYes(calls)
}

// checkItems is a request to compare what was read at a machine: rows with their sequences, and gaps with their versions. Where records have
// versions it has the stamp to which their timestamps are raised first, and the stamp of each version.
func (s *session) checkItems(items []*access) []byte {
	req := s.C.Request()
	if s.p.MV != nil {
		req = wire.Add64(req, uint64(s.X.TS))
	}
	for _, a := range items {
		if a.State == txn.Missing && !a.Tomb {
			req = wire.Add64(wire.Add64(req, uint64(a.Loc.Addr)|gapBit), uint64(s.gaps.expect(a.Loc.Loc, a.gap)))
		} else {
			req = wire.Add64(wire.Add64(req, uint64(a.Loc.Addr)), a.seq)
		}
		if s.p.MV != nil {
			req = wire.Add64(req, a.version) // of a gap it says nothing
		}
	}
	return padded(req, s.p.costs.Payload.Validation)
}

// allYes waits for the votes of participants, and ends the attempt if one is no.
func (s *session) allYes(calls []coordinator.Part[*access]) error {
	if err := s.C.Wait(); err != nil {
		return s.Tx.Fail(err)
	}
	yes := true
	for _, p := range calls {
		s.auditConflicts(p)
		yes = yes && coordinator.SaysYes(p.Rep)
	}
	if !yes {
		return s.conflict()
	}
	return nil
}

// auditConflicts is Tx.Met at the records at which a participant's handler has met other transactions.
func (s *session) auditConflicts(p coordinator.Part[*access]) {
	for row, ok := p.Rep.Note(); ok; row, ok = p.Rep.Note() {
		if i := slices.IndexFunc(p.Items, func(a *access) bool { return a.Loc.Addr == r2.Addr(row) }); i >= 0 {
			s.Tx.Met(&p.Items[i].Access.Access, 0)
		}
	}
}

// alreadyConsistent reports whether a transaction without writes saw one
// moment without validation: when it read one record, in one piece (§4.3.5), or that
// one record is missing.
func (s *session) alreadyConsistent() bool {
	n := 0
	for _, a := range s.Set {
		if readOnlySet(a) {
			n++
			if !a.direct {
				return false
			}
		}
	}
	return n <= 1
}

// What happens to a record. What was announced with Tx.Inserts alone is only read.
func toLock(a *access) bool   { return a.Out != nil && !a.Insert && (!a.NewRow || a.Tomb) }
func inserted(a *access) bool { return a.Out != nil && (a.Insert || a.ownMachine) } // by the own CPU
func needsRow(a *access) bool { return a.Out != nil && a.NewRow && !a.Tomb }
func toStore(a *access) bool  { return a.Out != nil && !a.Insert && !a.ownMachine && !a.Delete }
func toDelete(a *access) bool { return a.Out != nil && a.Delete }

// readOnlySet is what has to stay as it was read. What is missing in a fixed table stays so.
func readOnlySet(a *access) bool {
	if a.Out != nil || a.Table.Constant {
		return false
	}
	return a.State == txn.Fetched || a.State == txn.Missing && !a.Table.Fixed && !a.Blind
}

// unpadded is the items of a request that begin with an address: no record has address 0.
func unpadded(req []byte, item int) []byte {
	n := 0
	for n+item <= len(req) && wire.Get64(req[n:]) != 0 {
		n += item
	}
	return req[:n]
}

// serveValidate compares versions.
func (p *protocol) serveValidate(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	chargeHandler(c, p.costs.Validation)
	if rep[0] = coordinator.ReplyNo; p.checkAll(c, unpadded(req, verifyItem), verifyItem) {
		rep[0] = coordinator.ReplyYes
	}
	return 1
}

// checkAll looks whether gaps have the version that was seen, and rows the sequence; where records have versions also the stamp, for a READ of
// a row in two lines may have brought that of the version before.
func (p *protocol) checkAll(c *r2.Co, items []byte, item int) bool {
	head := p.off.head
	if p.MV != nil {
		head = p.H.Bytes
	}
	for ; len(items) > 0; items = items[item:] {
		word, read := wire.Get64(items), wire.Get64(items[8:])
		at, no := r2.Addr(word&^gapBit), false
		if word&gapBit != 0 {
			no = wire.Get32(c.Load(at, gapBytes)) != uint32(read)
		} else {
			b := c.Load(at, head)
			no = p.isChanged(b, read) || p.MV != nil && p.H.VersionOf(b) != wire.Get64(items[16:])
		}
		if no {
			auditConflict(c, at)
			return false
		}
	}
	return true
}
