package rdpma

import (
	"drtmx/engine/r2"
	"fmt"
	"strings"
)

// What only tests of this package use.

// ParseHints reads "none", "all", or hints by name with commas between them;
// H1-H8 is a range.
func ParseHints(text string) (Hints, error) {
	var h Hints
	switch text {
	case "none", "":
		return h, nil
	case "all":
		return AllHints(), nil
	}
	for _, part := range strings.Split(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, to := hintNumber(first), hintNumber(last)
		if from == 0 || to < from {
			return Hints{}, fmt.Errorf("rdpma: hints %q: %q is not a hint: use H1 to H9, a range such as H1-H8, all or none", text, part)
		}
		for i := from; i <= to; i++ {
			*h.fields()[i-1] = true
		}
	}
	return h, nil
}

// Counts are totals since Open.
func (m *Memory) Counts() (all Counts) {
	for _, x := range m.own.All() {
		c := &x.counts
		all.Writes, all.Reads, all.Padded, all.PadBytes = all.Writes+c.Writes, all.Reads+c.Reads, all.Padded+c.Padded, all.PadBytes+c.PadBytes
		all.Unpadded, all.Rerouted, all.CrossSocket, all.FlushReads = all.Unpadded+c.Unpadded, all.Rerouted+c.Rerouted, all.CrossSocket+c.CrossSocket, all.FlushReads+c.FlushReads
	}
	return all
}

// AllocFor takes n bytes on a server that a coroutine and those of its thread
// will use most: with H1 on the socket that its requests reach, with H2 on the
// DIMM of its thread if they fit into one unit of the interleaving.
func (m *Memory) AllocFor(c *r2.Co, machine, n int) (Ptr, error) {
	s, err := m.server(machine)
	if err != nil {
		return Ptr{}, err
	}
	k := s.nextSocket()
	if m.hints.H1 {
		k = c.Home() % len(s.spread)
	}
	p := s.spread[k]
	if m.hints.H2 && !m.cfg.DRAM && n <= interleaveBytes {
		if p, err = m.dimmPool(s, k, c.Thread()/len(s.spread)%m.cfg.DIMMs); err != nil {
			return Ptr{}, err
		}
	}
	return m.alloc(s, p, n, false)
}

// AllocOnDIMM takes n bytes on one DIMM of a socket, from 0: for experiments
// that want them all there (figure 2-14).
func (m *Memory) AllocOnDIMM(machine, socket, dimm, n int) (Ptr, error) {
	s, err := m.server(machine)
	if err != nil {
		return Ptr{}, err
	}
	if socket < 0 || socket >= len(s.spread) || dimm < 0 || dimm >= m.cfg.DIMMs || m.cfg.DRAM {
		return Ptr{}, fmt.Errorf("rdpma: DIMM %d of socket %d: machine %d has NVM pools on %d sockets with %d DIMMs each", dimm, socket, machine, len(s.spread), m.cfg.DIMMs)
	}
	p, err := m.dimmPool(s, socket, dimm)
	if err != nil {
		return Ptr{}, err
	}
	return m.alloc(s, p, n, false)
}

// AllocAtomic takes words of 8 bytes for CompareSwap and FetchAdd on a server,
// cleared: in DRAM with H8, else in NVM.
func (m *Memory) AllocAtomic(machine, words int) (Ptr, error) {
	s, err := m.server(machine)
	if err != nil {
		return Ptr{}, err
	}
	k := s.nextSocket()
	from := s.spread[k]
	if m.hints.H8 {
		from = s.dram[k]
	}
	p, err := m.alloc(s, from, words*wordBytes, true)
	if err == nil {
		clear(m.cl.Mem(machine).Bytes(p.addr, int(p.size)))
	}
	return p, err
}

// hintNumber is 1 to 9, or 0 for what is not the name of a hint.
func hintNumber(s string) int {
	s = strings.TrimSpace(s)
	if len(s) == 2 && (s[0] == 'H' || s[0] == 'h') && '1' <= s[1] && s[1] <= '9' {
		return int(s[1] - '0')
	}
	return 0
}

// dimmPool is the part of a socket's memory that is on one DIMM, made when it is
// first asked for.
func (m *Memory) dimmPool(s *server, socket, dimm int) (*pool, error) {
	if p := s.single[socket][dimm]; p != nil {
		return p, nil
	}
	p, err := m.newPool(s.machine, socket, dimm+1, m.cfg.PoolBytes/uint64(m.cfg.DIMMs)&^(XLineBytes-1), true)
	if err != nil {
		return nil, err
	}
	s.single[socket][dimm] = p
	return p, nil
}

// interleaveBytes in a row are on one DIMM (§2.3.4.1, H2).
const interleaveBytes = 4096
