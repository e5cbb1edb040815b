package twopl

import (
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// The end of an attempt, on the coordinator: one message to each server that may hold locks for it, with what is to be
// installed there if it has committed. The server knows what it holds.

// releaseMode is what the messages are posted with.
func (s *session) releaseMode() r2.Mode {
	mode := s.cfg.mode(txn.Commit)
	if s.p.MV != nil && s.p.MV.Traits().Acked {
		mode.Passive = false
	}
	return mode
}

// end sends them, and waits for the answers unless the phase is passive. An attempt that has taken out records again
// or that aborts waits: its coroutine begins the next one at once.
func (s *session) end(committed bool) error {
	if len(s.asked) == 0 {
		return nil
	}
	mode := s.releaseMode()
	s.Tx.Enter(txn.Commit, mode)
	s.calls = s.calls[:0]
	for _, m := range s.asked {
		s.endAt(m, committed)
	}
	if mode.Passive {
		return nil
	}
	err := s.C.Wait()
	if err == nil && s.p.MV != nil {
		for _, rep := range s.calls {
			s.p.MV.After(&s.X, rep.B[min(commitBack, len(rep.B)):])
		}
	}
	return err
}

// endAt ends the attempt at one server, by as many messages as it takes.
func (s *session) endAt(m int, committed bool) {
	s.bounds = append(s.bounds[:0], 0)
	head := commitHead
	if s.p.MV != nil {
		head += stampBytes
	}
	size := head
	for i, a := range s.Set {
		if n := a.commitBytes(m, committed); size+n > s.p.MaxPayload {
			s.bounds = append(s.bounds, i)
			size = head + n
		} else {
			size += n
		}
	}
	s.bounds = append(s.bounds, len(s.Set))
	parts := len(s.bounds) - 1
	flag := uint64(0)
	if committed {
		flag = 1
	}
	for i := range parts {
		req := wire.Add64(wire.Add64(s.C.Request(), s.attempt), uint64(parts)<<1|flag)
		if s.p.MV != nil {
			req = wire.Add64(req, uint64(s.X.TS))
		}
		records := 1
		for _, a := range s.Set[s.bounds[i]:s.bounds[i+1]] {
			if a.commitBytes(m, committed) > 0 {
				req = s.installItem(req, a)
				records++
			}
		}
		s.C.Compute(s.p.Program.CommitRecord * records)
		s.calls = append(s.calls, s.p.End(s.C, m, s.p.rpc.commit, req))
	}
}

// commitBytes is what a record takes in a message that ends the attempt at a server.
func (a *access) commitBytes(m int, committed bool) int {
	switch {
	case !committed || a.Out == nil || int(a.Machine) != m:
		return 0
	case a.Delete:
		return commitItem
	}
	return commitItem + wire.Padded(len(a.OutValue()))
}

// installItem adds what a server installs.
func (s *session) installItem(req []byte, a *access) []byte {
	req = wire.Add64(req, a.Name())
	if a.Delete {
		return wire.Add64(wire.Add64(req, uint64(a.Loc.Ref)|deletedBit), wire.Get64(a.Out))
	}
	value := a.OutValue()
	return wire.AddPadded(wire.Add64(wire.Add64(req, uint64(a.Loc.Ref)|uint64(len(value))<<bytesAt), wire.Get64(a.Out)), value)
}
