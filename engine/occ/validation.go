package occ

import (
	"slices"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
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
	n := s.count(readOnlySet)
	if n == 0 {
		return nil
	}
	s.tx.Enter(phase, s.cfg.mode(phase, prim))
	s.c.Compute(s.p.program.validation + s.p.program.validationRec*n)
	if prim == TwoSided {
		return s.validateByRPC()
	}
	for _, a := range s.set {
		switch {
		case !readOnlySet(a):
		case int(a.Machine) == s.c.Machine():
			a.head = (*[header]byte)(s.tx.Alloc(header))
			copy(a.head[:], s.c.Load(a.loc.Addr, header))
		default:
			b := s.c.Read(a.loc.Loc, header)
			a.head, a.buf = (*[header]byte)(b.B), b.Addr
		}
	}
	if err := s.c.Wait(); err != nil {
		return s.tx.Fail(err)
	}
	for _, a := range s.set {
		if !readOnlySet(a) {
			continue
		}
		if int(a.Machine) != s.c.Machine() {
			s.c.TouchDMA(a.buf, header)
		}
		if s.outdated(a, a.head[:]) {
			s.tx.Met(&a.Access, 0)
			return s.conflict()
		}
	}
	return nil
}

// outdated says whether what is at a.loc now is not what was read: another version of the record, or of its gap.
func (s *session) outdated(a *access, head []byte) bool {
	if a.State == txn.Missing {
		return wire.Get32(head) != s.gaps.expect(a.loc.Loc, a.gap)
	}
	s.forgetStale(a, record.Seq(head))
	return changed(head, a.seq)
}

// changed says of the header of a row that it is locked, or that its version is not the one that was read.
func changed(head []byte, read uint64) bool {
	return record.Lock(head) != 0 || record.Seq(head) != read
}

func (s *session) validateByRPC() error {
	s.participants(readOnlySet)
	calls := s.calls[:0]
	for _, m := range s.parts {
		for next := 0; next < len(s.set); {
			var items []byte
			if items, next = s.verifyItems(m, readOnlySet, next); len(items) > 0 {
				calls = append(calls, s.c.Call(m, s.p.rpc.validate, items))
			}
		}
	}
	s.calls = calls
	if err := s.c.Wait(); err != nil {
		return s.tx.Fail(err)
	}
	for _, rep := range calls {
		if !saysYes(rep) {
			return s.conflict()
		}
	}
	return nil
}

// alreadyConsistent reports whether a transaction without writes saw one
// moment without validation: when it read one record, in one piece (§4.3.5), or that
// one record is missing.
func (s *session) alreadyConsistent() bool {
	n := 0
	for _, a := range s.set {
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
func toLock(a *access) bool   { return a.Out != nil && !a.Insert && (!a.NewRow || a.tomb) }
func inserted(a *access) bool { return a.Out != nil && (a.Insert || a.ownMachine) } // by the own CPU
func needsRow(a *access) bool { return a.Out != nil && a.NewRow && !a.tomb }
func toStore(a *access) bool  { return a.Out != nil && !a.Insert && !a.ownMachine && !a.Delete }
func toDelete(a *access) bool { return a.Out != nil && a.Delete }

// readOnlySet is what has to stay as it was read. What is missing in a fixed table stays so.
func readOnlySet(a *access) bool {
	if a.Out != nil || a.Table.Constant {
		return false
	}
	return a.State == txn.Fetched || a.State == txn.Missing && !a.Table.Fixed && !a.Blind
}

func (s *session) count(of func(*access) bool) (n int) {
	for _, a := range s.set {
		if of(a) {
			n++
		}
	}
	return n
}

// participants lists the primaries of some of the records, each once, in the
// order of the set.
func (s *session) participants(of func(*access) bool) {
	s.parts = s.parts[:0]
	for _, a := range s.set {
		if m := int(a.Machine); of(a) && !slices.Contains(s.parts, m) {
			s.parts = append(s.parts, m)
		}
	}
	for len(s.calls) < len(s.parts) {
		s.calls = append(s.calls, nil)
	}
}

// verifyItems builds the request of lock and validate: of the records of the set
// from index from on, as many as a message carries. next is where it ended.
func (s *session) verifyItems(m int, of func(*access) bool, from int) (req []byte, next int) {
	req = s.c.Request()
	for next = from; next < len(s.set) && len(req)+verifyItem <= s.p.maxPayload; next++ {
		if a := s.set[next]; int(a.Machine) == m && of(a) {
			req = s.verifyItem(req, a)
		}
	}
	if len(req) > 0 {
		req = padded(req, s.p.costs.Payload.Validation)
	}
	return req, next
}

// verifyItem appends an item: a row and its sequence, or a gap and its version.
func (s *session) verifyItem(req []byte, a *access) []byte {
	if a.State == txn.Missing {
		return wire.Add64(wire.Add64(req, uint64(a.loc.Addr)|gapBit), uint64(s.gaps.expect(a.loc.Loc, a.gap)))
	}
	return wire.Add64(wire.Add64(req, uint64(a.loc.Addr)), a.seq)
}

// unpadded is the items of such a request: no record has address 0.
func unpadded(req []byte) []byte {
	n := 0
	for n+verifyItem <= len(req) && wire.Get64(req[n:]) != 0 {
		n += verifyItem
	}
	return req[:n]
}

// serveValidate compares versions.
func (p *protocol) serveValidate(c *r2.Co, from r2.Peer, req, rep []byte) int {
	chargeHandler(c, p.costs.Validation)
	rep[0] = replyYes
	for req = unpadded(req); len(req) > 0; req = req[verifyItem:] {
		word, read := wire.Get64(req), wire.Get64(req[8:])
		at, no := r2.Addr(word&^gapBit), false
		if word&gapBit != 0 {
			no = wire.Get32(c.Load(at, gapBytes)) != uint32(read)
		} else {
			no = changed(c.Load(at, header), read)
		}
		if no {
			rep[0] = replyNo
			p.auditConflict(from, c.Machine(), at)
			break
		}
	}
	return 1
}
