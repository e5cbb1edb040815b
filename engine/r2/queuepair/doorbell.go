package queuepair

import (
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/r2/sendq"
)

// Append adds a work request to a send queue, where it waits for its doorbell. co is the number of the coroutine that waits for it, and
// scarce says that few send buffers are left; see sendq.Pairs.
func (s *Set) Append(q *sendq.Pair, wr *fabric.SendWR, e sendq.Entry, co uint32, scarce bool) {
	s.sys.All.Append(q, wr, e, co, scarce)
	s.core.Charge(s.core.CPU.PostWQE)
}

// Post has what was appended go out: batched with the next flush, else at once with a doorbell for each work request.
func (s *Set) Post(q *sendq.Pair, batched bool) {
	if batched {
		s.MarkDirty(q)
	} else {
		s.ring(q, true)
	}
}

// MarkDirty has the next flush ring the doorbell of a queue pair.
func (s *Set) MarkDirty(q *sendq.Pair) {
	if !q.Dirty {
		q.Dirty = true
		s.dirty = append(s.dirty, q)
	}
}

// Dirty says that work requests wait for the next flush.
func (s *Set) Dirty() bool { return len(s.dirty) > 0 }

// Flush rings one doorbell for each queue pair with work requests that wait for it.
func (s *Set) Flush() {
	n := len(s.dirty)
	for _, q := range s.dirty[:n] {
		q.Dirty = false
		s.ring(q, false)
	}
	// Those that had no room are dirty again, behind the first n.
	s.dirty = s.dirty[:copy(s.dirty, s.dirty[n:])]
	s.Full = len(s.dirty) > 0
}

// ring rings the doorbell for what waits, as far as the send queue has
// room; each: one doorbell for each work request.
func (s *Set) ring(q *sendq.Pair, each bool) {
	p := q.Pend
	if p == nil {
		return
	}
	for len(p.WRs) > 0 {
		n := min(len(p.WRs), int(q.Depth)-int(q.Posted-q.Head))
		if n <= 0 {
			break
		}
		if each {
			n = 1
		}
		s.doorbell(q)
		if err := q.QP.PostSend(s.core.Local, p.WRs[:n]); err != nil {
			s.core.Clock.Fail(fmt.Errorf("r2: post on machine %d thread %d: %w", s.machine, s.thread, err))
			return
		}
		q.Posted += uint32(n)
		p.WRs = p.WRs[:copy(p.WRs, p.WRs[n:])]
	}
	if len(p.WRs) > 0 {
		s.MarkDirty(q)
		return
	}
	s.sys.All.Rung(q)
}

// doorbell is the MMIO of a post. A thread with a context of its own has its
// buffers to itself: their lock, if there is one, is always free and its line in
// the core's cache, which is part of what an MMIO costs.
func (s *Set) doorbell(q *sendq.Pair) {
	c := s.core
	c.Charge(max(0, c.HW.StoresBy(c.Number)-c.Local))
	if s.sys.Contexts == nil {
		c.Charge(c.CPU.MMIO)
		return
	}
	x := s.sys.Contexts[s.home]
	if q.Buffer == 0 {
		q.Buffer = x.AllocBuffer()
	}
	at := max(c.Local, c.Clock.Now())
	c.Charge(x.Ring(q.Buffer, c.Number, at, c.CPU.MMIO) - c.Local)
}

// Retire leaves a queue pair, whose other end has crashed, to its last completions. It appends a marker if there is anything whose
// completion is not known, and says so: what was done before the crash, unsignaled, is confirmed by it. The doorbell buffer is the
// next queue pair's.
func (s *Set) Retire(q *sendq.Pair) (marked bool) {
	if s.sys.Contexts != nil {
		s.sys.Contexts[s.home].FreeBuffer(q.Buffer)
	}
	if q.Head == q.Tail {
		return false
	}
	s.Append(q, &fabric.SendWR{Op: fabric.Write, Signaled: true}, sendq.Entry{Buffer: -1}, 0, false)
	s.MarkDirty(q)
	return true
}

// Stop forgets what waits for a doorbell, when the thread's machine crashes.
func (s *Set) Stop() {
	s.dirty, s.Full = s.dirty[:0], false
}
