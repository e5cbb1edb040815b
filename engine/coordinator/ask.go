package coordinator

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Requests for records to the machines that have them, and the answers to those that ask for locks.

const (
	// LockItem is what a request for locks has of a record: table 8 bits | WantsWrite | key 55 bits.
	LockItem   = 8
	WantsWrite = 1 << 55
	LockKey    = WantsWrite - 1

	// LockStatus is in front of the answer: LocksGranted, or the number of the record whose lock was refused, shifted by one. All of a
	// request are granted, or none.
	LockStatus   = 8
	LocksGranted = 1

	// Found is a bit beside the location of a record that is there.
	Found = 1 << 63
)

// Message is a request for records to the machine that has them: as many as fit, and as the answers to them do.
type Message struct {
	To     int16
	req    []byte
	answer int // bytes of the answer
	room   int // of both
	items  []*Access
}

// Begin begins it with what is in front of the items and of the answer.
func (m *Message) Begin(to int16, head []byte, answer, room int) {
	m.To, m.req, m.answer, m.room, m.items = to, head, answer, room, m.items[:0]
}

// Empty says that no record has fitted yet.
func (m *Message) Empty() bool { return len(m.items) == 0 }

// Take adds a record with its word, and says whether it has room for that and for the answer.
func (m *Message) Take(a *Access, word uint64, answer int) bool {
	if len(m.req)+8 > m.room || m.answer+answer > m.room {
		return false
	}
	m.req = wire.Add64(m.req, word)
	m.answer += answer
	m.items = append(m.items, a)
	return true
}

// AskAll asks for the records of the set from index first on that are unasked, by an RPC to each machine with all of its records, by more if
// they do not fit into one. head makes what is in front of the records in a message, answer is how much that is in the answer. item is what
// both have of a record. next says what would help where no message has room for one.
func (s *Session[A, P]) AskAll(first int, rpc uint8, head func() []byte, answer int, unasked func(P) bool, item func(P) (word uint64, answer int), next string) {
	for i := first; i < len(s.Set); i++ {
		if !unasked(s.Set[i]) {
			continue
		}
		m := &s.msg
		m.Begin(s.Set[i].Common().Machine, head(), answer, s.on.MaxPayload)
		if !s.fill(m, i, unasked, item, next) {
			continue
		}
		rep := s.C.Call(int(m.To), rpc, m.req)
		for _, a := range m.items {
			a.Rep = rep
		}
	}
}

// fill takes records of the message's machine, until one has no room. It fails the attempt if that is the first one.
func (s *Session[A, P]) fill(m *Message, from int, unasked func(P) bool, item func(P) (word uint64, answer int), next string) bool {
	for _, p := range s.Set[from:] {
		a := p.Common()
		if a.Machine != m.To || !unasked(p) {
			continue
		}
		if word, answer := item(p); !m.Take(a, word, answer) {
			if m.Empty() {
				s.Tx.Fail(fmt.Errorf("record of table %s: a reply with it has %d bytes, a message carries %d; %s", a.Table.Name, m.answer+answer, s.on.MaxPayload, next))
				a.State = txn.Missing
			}
			break
		}
	}
	return !m.Empty()
}

// Collect waits for the answers about records of the set from index first on, and for those to the requests that follow from them. accept takes
// what has come for one, and says that it has posted another request.
func (s *Session[A, P]) Collect(first int, accept func(P) (more bool)) error {
	for more := true; more; {
		if err := s.C.Wait(); err != nil {
			return s.Tx.Fail(err)
		}
		more = false
		for _, p := range s.Set[first:] {
			if accept(p) {
				more = true
			}
		}
	}
	return nil
}

// TakeLocks takes the answer to a request for locks. got takes what it has of a record and returns what follows; a record whose lock was
// refused ends the attempt.
func (s *Session[A, P]) TakeLocks(rep *r2.Reply, got func(p P, b []byte) (rest []byte)) {
	if len(rep.B) < LockStatus {
		s.Tx.Fail(fmt.Errorf("answer to a lock request of %d bytes", len(rep.B)))
		rep.B = make([]byte, LockStatus)
	}
	b, status, n := rep.B[LockStatus:], wire.Get64(rep.B), uint64(0)
	for _, p := range s.Set {
		a := p.Common()
		if a.State != txn.Asked || a.Rep != rep {
			continue
		}
		a.Rep, a.State = nil, txn.Wanted
		switch {
		case status&LocksGranted != 0:
			b = got(p, b)
		case n == status>>1 && s.Tx.Failed() == nil:
			s.Conflict(a)
		}
		n++
	}
}
