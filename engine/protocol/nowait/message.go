package nowait

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// What the coordinator sends in the two-sided phases, and what it makes of the answers. handler.go
// has the other end.

// unasked says that a record waits for an RPC that is not sent yet.
func (a *access) unasked() bool { return a.State == txn.Asked && a.by == byRPC && a.Rep == nil }

// askAll asks other machines for the locks of records.
func (s *session) askAll(first int) {
	s.AskAll(first, s.p.rpc.lock, s.C.Request, coordinator.LockStatus, func(a *access) bool { return a.unasked() && !s.stops() }, lockItemOf, "use the one-sided primitive")
}

func lockItemOf(a *access) (word uint64, answer int) {
	if word = a.Name(); a.want == exclusive {
		word |= coordinator.WantsWrite
	}
	return word, lockHead + wire.Padded(a.Table.ValueBytes())
}

// answered takes a record of an RPC's reply, and returns what follows it.
func (s *session) answered(a *access, b []byte) (rest []byte) {
	head := wire.Get64(b)
	if head&coordinator.Found == 0 {
		s.lacks(a, store.Location{Loc: a.Table.Store.Gap(a.Key), Ref: store.Ref(head)})
		return b[lockHead:]
	}
	s.locate(a, a.Table.Store.Location(a.Key, store.Ref(head&^coordinator.Found)))
	value := b[lockHead : lockHead+a.Table.ValueBytes()]
	s.got(a, value)
	return b[lockHead+wire.Padded(len(value)):]
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
