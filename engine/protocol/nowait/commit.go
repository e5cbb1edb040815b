package nowait

import (
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// The commit phase: write the records back and release all locks. The transaction is decided
// before, when the backups have the log.

// writeBack installs the write set at the primaries and releases the rest.
func (s *session) writeBack() error {
	mode := s.cfg.Posts(txn.Commit, s.cfg.Commit)
	s.Tx.Enter(txn.Commit, mode)
	s.C.Compute(s.p.Program.CommitRecord * len(s.holding()))
	s.remove(toDelete, true)
	if s.cfg.Commit == TwoSided {
		s.sendAll(s.p.rpc.commit)
		if mode.Passive {
			return nil
		}
		return s.C.Wait()
	}
	for _, a := range s.Set {
		if a.Out != nil && !a.Delete {
			a.held = none
			s.postWriteBack(a)
		}
	}
	return s.releaseByRNIC()
}

// holding lists the locks.
func (s *session) holding() []*heldLock {
	s.list = s.list[:0]
	for _, a := range s.Set {
		if a.held != none {
			s.list = append(s.list, &a.heldLock)
		}
	}
	for i := range s.gaps {
		if h := &s.gaps[i]; h.held != none {
			s.list = append(s.list, h)
		}
	}
	return s.list
}

// postWriteBack posts {WRITE value, WRITE free to the lock word}. They execute in order, so a transaction that
// finds the lock free finds the new value too.
func (s *session) postWriteBack(a *access) {
	wire.Put64(a.Out, a.free)
	if s.cfg.AsPublished {
		s.write(a, a.at, a.Out)
		return
	}
	l := s.C.List(a.at, true)
	l.Write(valueOf(a.Loc), a.OutValue())
	l.Write(a.at, a.Out[:a.Table.OutHeaderBytes])
	l.Post()
}

// releaseAll gives all locks back that an attempt holds, without writing.
func (s *session) releaseAll() error {
	n := len(s.holding())
	if n == 0 {
		return nil
	}
	mode := s.cfg.Posts(txn.Commit, s.cfg.Commit)
	s.Tx.Enter(txn.Commit, mode)
	s.C.Compute(s.p.Program.CommitRecord * n)
	if s.cfg.Commit == OneSided {
		return s.releaseByRNIC()
	}
	s.sendAll(s.p.rpc.release)
	if mode.Passive {
		return nil
	}
	return s.C.Wait()
}

// releaseByRNIC releases the locks of what is not written: exclusive ones by a CAS, shared
// ones by a READ of the word and a CAS, which is repeated with what it found while others come
// between. It waits for the answers, and if the phase is not passive for the write-backs before.
func (s *session) releaseByRNIC() error {
	list := s.holding()
	mode := s.cfg.Posts(txn.Commit, OneSided)
	if mode.Passive {
		if len(list) == 0 {
			return nil
		}
		mode.Passive = false
		s.Tx.Enter(txn.Commit, mode)
	}
	for _, h := range list {
		if h.held == exclusive {
			h.expect = h.free | exclusiveBit
			s.postRelease(h, h.free)
		} else {
			l := s.C.List(h.at, true)
			b := l.Read(h.at, 8)
			h.found, h.buf = b.B, b.Addr
			l.Post()
		}
	}
	if err := s.C.Wait(); err != nil {
		return err
	}
	for _, h := range list {
		if h.held == exclusive {
			s.released(h)
			h.held = none
		} else {
			s.C.TouchDMA(h.buf, len(h.found))
			h.expect = wire.Get64(h.found)
		}
	}
	return s.releaseShared()
}

func (s *session) postRelease(h *heldLock, to uint64) {
	b := s.C.CAS(h.at, h.expect, to)
	h.found, h.buf = b.B, b.Addr
}

// released looks at the answer to a release.
func (s *session) released(h *heldLock) (ok bool) {
	s.C.TouchDMA(h.buf, len(h.found))
	found := wire.Get64(h.found)
	if ok = found == h.expect; !ok && h.held == exclusive {
		s.p.lost(s.C, h.at.Machine, h.held, found)
	}
	return ok
}

// releaseShared releases the shared locks whose words are known.
func (s *session) releaseShared() error {
	for try := 0; ; try++ {
		list := s.holding()
		for _, h := range list {
			if try == unlockTries {
				return errLatched(h.at.Machine)
			}
			if h.expect&stateMask < oneHolder {
				s.p.lost(s.C, h.at.Machine, h.held, h.expect)
				h.held = none
				continue
			}
			s.postRelease(h, h.expect-oneHolder)
		}
		if len(list) == 0 {
			return nil
		}
		if err := s.C.Wait(); err != nil {
			return err
		}
		for _, h := range list {
			if h.held == none {
				continue
			}
			if s.released(h) {
				h.held = none
			}
			h.expect = wire.Get64(h.found)
		}
	}
}

// write posts one WRITE to a row.
func (s *session) write(a *access, to r2.Loc, b []byte) {
	l := s.C.List(a.at, true)
	l.Write(to, b)
	l.Post()
}
