package host

import (
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"fmt"
	"math/bits"
)

// onNVM marks a page's socket when the page lies in the socket's NVM.
const onNVM = 0x80

// nvmSpace says where on the devices the machine's NVM pages lie.
type nvmSpace struct {
	sockets   []nvmRows
	pages     []nvmPage // by page of 2 MB
	dimms     uint64
	unitShift uint // lines of an interleaving unit
}

// nvmRows are the rows of a socket: an interleaving unit on each DIMM.
type nvmRows struct {
	there bool
	next  uint64
}

// nvmPage is where the first line of a page is.
type nvmPage struct {
	base   uint64 // device line, or of a pinned page its row
	pinned uint32 // DIMM, from 1; 0 is interleaved
}

func newNVMSpace(p *profile.NVMNumbers, sockets int) nvmSpace {
	return nvmSpace{sockets: make([]nvmRows, sockets), dimms: uint64(p.DIMMs.Int()),
		unitShift: uint(bits.TrailingZeros(uint(p.Interleave.Int() / space.LineBytes)))}
}

func (x *nvmSpace) any() bool {
	for i := range x.sockets {
		if x.sockets[i].there {
			return true
		}
	}
	return false
}

// check refuses an allocation that has no place.
func (x *nvmSpace) check(machine int, a Alloc) error {
	switch {
	case a.NVM && a.Interleaved:
		return fmt.Errorf("memory of machine %d: %s is to lie in NVM and to be interleaved over sockets: each socket's NVM is a region of its own", machine, a.Name)
	case !a.NVM && a.DIMM == 0:
		return nil
	case !a.NVM:
		return fmt.Errorf("memory of machine %d: %s is to lie on DIMM %d, but not in NVM", machine, a.Name, a.DIMM)
	case a.Socket >= len(x.sockets) || !x.sockets[a.Socket].there:
		return fmt.Errorf("memory of machine %d: %s is to lie in NVM, and socket %d has none", machine, a.Name, a.Socket)
	case a.DIMM < 0 || a.DIMM > int(x.dimms):
		return fmt.Errorf("memory of machine %d: %s is to lie on DIMM %d of %d", machine, a.Name, a.DIMM, x.dimms)
	}
	return nil
}

// interleave gives an allocation its lines of the device: those of the DIMMs in turn,
// or of one alone, where it takes as many rows as it has interleaving units. Rows
// cost nothing.
func (m *Memory) interleave(from space.Addr, a Alloc) {
	x := &m.nvm
	if n := int(m.top >> space.HugeShift); n > len(x.pages) {
		x.pages = append(x.pages, make([]nvmPage, n-len(x.pages))...)
	}
	s := &x.sockets[a.Socket]
	const pageLines = 1 << (space.HugeShift - space.LineShift)
	base := s.next * x.dimms << x.unitShift
	for p := from >> space.HugeShift; p < m.top>>space.HugeShift; p++ {
		m.home[p] |= onNVM
		if a.DIMM > 0 {
			x.pages[p] = nvmPage{s.next, uint32(a.DIMM)}
			s.next += pageLines >> x.unitShift
			continue
		}
		x.pages[p] = nvmPage{base: base}
		base += pageLines
	}
	if a.DIMM == 0 {
		row := x.dimms << x.unitShift
		s.next = (base + row - 1) / row
	}
}

// OnNVM says whether an address lies in NVM.
func (m *Memory) OnNVM(a space.Addr) bool { return m.onNVM(a) }

func (m *Memory) onNVM(a space.Addr) bool {
	p := a >> space.HugeShift
	return p < space.Addr(len(m.home)) && m.home[p]&onNVM != 0
}

// DeviceLine is the line of a socket's device on which a line of NVM lies.
func (m *Memory) DeviceLine(line space.Addr) uint64 {
	x := &m.nvm
	p := x.pages[line>>(space.HugeShift-space.LineShift)]
	l := line & (1<<(space.HugeShift-space.LineShift) - 1)
	if p.pinned == 0 {
		return p.base + l
	}
	unit := (p.base+l>>x.unitShift)*x.dimms + uint64(p.pinned-1)
	return unit<<x.unitShift | l&(1<<x.unitShift-1)
}
