package fabric

import "drtmx/engine/fabric/space"

// Port is where an RNIC reaches the memory of its host: a PCIe slot of a socket.
type Port struct {
	host    *Host
	number  uint16 // of the RNIC in the fabric
	socket  int
	posted  *posted // writes that memory has not taken; nil on machines without NVM
	traffic Traffic // but what concerns the LLC
}

// attach connects an RNIC to a socket.
func (m *Host) attach(n *Port, number uint16, socket int) {
	*n = Port{host: m, number: number, socket: socket}
	if m.Mem.nvm.any() {
		n.posted = newPosted(n, m.hosts.profile.NVM.PostedWrites.Int())
	}
}

// Socket is the socket it is attached to.
func (n *Port) Socket() int { return n.socket }

// claim counts a write that is given to PCIe.
func (n *Port) claim(why Cause, a space.Addr, bytes uint32) {
	n.traffic.write(why, a, bytes)
	if n.posted != nil && bytes > 0 {
		first, last := space.Lines(a, int(bytes))
		n.posted.open += int(last-first) + 1
	}
}

// root is the socket at which the RNIC is attached.
func (n *Port) root() *nvmSocket { return n.host.sockets[n.socket].nvm }
