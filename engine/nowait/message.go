package nowait

import (
	"fmt"
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// What the coordinator sends in the two-sided phases, and what it makes of the answers. handler.go
// has the other end.

// unasked says that a record waits for an RPC that is not sent yet.
func (a *access) unasked() bool { return a.State == txn.Asked && a.by == byRPC && a.rep == nil }

// askAll sends one RPC per machine with all records that are asked of it, more
// if they do not fit into one message.
func (s *session) askAll(first int) {
	for i := first; i < len(s.set); i++ {
		if s.set[i].unasked() && !s.stops() {
			s.ask(i)
		}
	}
}

func (s *session) ask(from int) {
	m, room := s.set[from].Machine, s.p.maxPayload
	req, replyBytes, last := s.c.Request(), lockStatus, from
	for i := from; i < len(s.set); i++ {
		a := s.set[i]
		if !a.unasked() || a.Machine != m {
			continue
		}
		answer := lockHead + wire.Padded(a.Table.ValueBytes())
		if len(req)+lockItem > room || replyBytes+answer > room {
			if len(req) == 0 {
				s.tx.Fail(fmt.Errorf("record of table %s: a reply with it has %d bytes, a message carries %d; use the one-sided primitive", a.Table.Name, lockStatus+answer, room))
				a.State = txn.Missing
				return
			}
			break
		}
		item := uint64(a.Table.ID)<<56 | a.Key
		if a.want == exclusive {
			item |= wantsWrite
		}
		req = wire.Add64(req, item)
		replyBytes += answer
		last = i
	}
	rep := s.c.Call(int(m), s.p.rpc.lock, req)
	for _, a := range s.set[from : last+1] {
		if a.unasked() && a.Machine == m {
			a.rep = rep
		}
	}
}

// acceptReply takes the records of an RPC's reply, or none: the participant has locked all or
// none.
func (s *session) acceptReply(rep *r2.Reply) {
	b, n := rep.B, uint64(0)
	if len(b) < lockStatus {
		s.tx.Fail(fmt.Errorf("reply to a lock request of %d bytes", len(b)))
		b = zero
	}
	status := wire.Get64(b)
	b = b[lockStatus:]
	for _, a := range s.set {
		if a.State != txn.Asked || a.rep != rep {
			continue
		}
		a.rep, a.State = nil, txn.Wanted
		switch {
		case status&granted == 0:
			if n == status>>1 && s.tx.Failed() == nil {
				s.conflict(a)
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
	list := s.holding()
	s.parts = s.parts[:0]
	for _, h := range list {
		if h.at.Machine == s.c.Machine() {
			s.endLocal(h, rpc == s.p.rpc.commit)
		} else if m := h.at.Machine; !slices.Contains(s.parts, m) {
			s.parts = append(s.parts, m)
		}
	}
	for _, m := range s.parts {
		for next := 0; next < len(list); {
			var req []byte
			if req, next = s.ends(m, next, rpc == s.p.rpc.commit); len(req) > 0 {
				s.send(m, rpc, req)
			}
		}
	}
}

// send sends a request that ends something: a drain waits for it.
func (s *session) send(m int, rpc uint8, req []byte) {
	s.p.commitsOpen++
	s.c.Call(m, rpc, req)
}

// ends builds the request of commit and release: of the locks in the list from index from on, as
// many as a message carries. next is where it ended.
func (s *session) ends(m, from int, commit bool) (req []byte, next int) {
	req = s.c.Request()
	for next = from; next < len(s.list); next++ {
		h := s.list[next]
		if h.held == none || h.at.Machine != m {
			continue
		}
		value := h.written(commit)
		if len(req)+commitItem+wire.Padded(len(value)) > s.p.maxPayload {
			break
		}
		word := uint64(h.at.Addr) | uint64(len(value))<<addrBits
		if h.held == shared {
			word |= sharedHolder
		}
		req = wire.AddPadded(wire.Add64(req, word), value)
		h.held = none
	}
	return req, next
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
		s.p.storeLocal(s.c, h.at.Addr, value)
		return
	}
	s.p.unlockLocal(s.c, h.at.Addr, held)
}
