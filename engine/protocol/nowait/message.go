package nowait

import (
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// What the coordinator sends in the two-sided phases, and what it makes of the answers. handler.go
// has the other end.

// unasked says that a record waits for an RPC that is not sent yet.
func (a *access) unasked() bool { return a.State == txn.Asked && a.by == byRPC && a.Rep == nil }

// askAll sends one RPC per machine with all records that are asked of it, more
// if they do not fit into one message.
func (s *session) askAll(first int) {
	for i := first; i < len(s.Set); i++ {
		if s.Set[i].unasked() && !s.stops() {
			s.ask(i)
		}
	}
}

func (s *session) ask(from int) {
	m := s.Message(s.Set[from].Machine, s.C.Request(), lockStatus)
	for _, a := range s.Set[from:] {
		if !a.unasked() || a.Machine != m.To {
			continue
		}
		item, answer := a.Name(), lockHead+wire.Padded(a.Table.ValueBytes())
		if a.want == exclusive {
			item |= wantsWrite
		}
		if !m.Take(&a.Access, item, answer) {
			if m.Empty() {
				s.TooLarge(&a.Access, lockStatus+answer, "use the one-sided primitive")
				return
			}
			break
		}
	}
	s.Send(m, s.p.rpc.lock)
}

// acceptReply takes the records of an RPC's reply, or none: the participant has locked all or
// none.
func (s *session) acceptReply(rep *r2.Reply) {
	b, n := rep.B, uint64(0)
	if len(b) < lockStatus {
		s.Tx.Fail(fmt.Errorf("reply to a lock request of %d bytes", len(b)))
		b = zero
	}
	status := wire.Get64(b)
	b = b[lockStatus:]
	for _, a := range s.Set {
		if a.State != txn.Asked || a.Rep != rep {
			continue
		}
		a.Rep, a.State = nil, txn.Wanted
		switch {
		case status&granted == 0:
			if n == status>>1 && s.Tx.Failed() == nil {
				s.Conflict(&a.Access)
			}
		case wire.Get64(b)&foundBit == 0:
			s.lacks(a, store.Location{Loc: a.Table.Store.Gap(a.Key), Ref: store.Ref(wire.Get64(b))})
			b = b[lockHead:]
		default:
			s.locate(a, a.Table.Store.Location(a.Key, store.Ref(wire.Get64(b)&^foundBit)))
			value := b[lockHead : lockHead+a.Table.ValueBytes()]
			b = b[lockHead+wire.Padded(len(value)):]
			s.got(a, value)
		}
		n++
	}
}

// sendAll sends what ends the locks of the attempt, one RPC per participant with all of them, more
// if they do not fit into one message. The own machine's are ended by the CPU.
func (s *session) sendAll(rpc uint8) {
	s.ends = s.ends[:0]
	for _, h := range s.holding() {
		if s.IsOwn(h.at.Machine) {
			s.endLocal(h, rpc == s.p.rpc.commit)
		} else {
			s.ends = coordinator.Group(s.ends, h.at.Machine, h)
		}
	}
	for _, p := range s.ends {
		for left := p.Items; len(left) > 0; {
			var req []byte
			req, left = s.endItems(left, rpc == s.p.rpc.commit)
			s.p.End(s.C, p.Machine, rpc, req)
		}
	}
}

// endItems builds the request of commit and release: of as many of the locks as a message carries. left are the others.
func (s *session) endItems(list []*heldLock, commit bool) (req []byte, left []*heldLock) {
	req = s.C.Request()
	for i, h := range list {
		value := h.written(commit)
		if len(req)+commitItem+wire.Padded(len(value)) > s.p.MaxPayload {
			return req, list[i:]
		}
		word := uint64(h.at.Addr) | uint64(len(value))<<addrBits
		if h.held == shared {
			word |= sharedHolder
		}
		req = wire.AddPadded(wire.Add64(req, word), value)
		h.held = none
	}
	return req, nil
}

// written is what a commit writes under a lock.
func (h *heldLock) written(commit bool) []byte {
	if commit {
		return h.out
	}
	return nil
}

// endLocal writes a record of the own machine back and releases its lock by the CPU.
func (s *session) endLocal(h *heldLock, commit bool) {
	held := h.held
	h.held = none
	if value := h.written(commit); value != nil {
		s.p.storeLocal(s.C, h.at.Addr, value)
		return
	}
	s.p.unlockLocal(s.C, h.at.Addr, held)
}
