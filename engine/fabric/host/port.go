package host

import "drtmx/engine/fabric/space"

// Port is where an RNIC reaches the memory of its host: a PCIe slot of a socket.
type Port struct {
	host    *Machine
	Number  uint16 // of the RNIC in the fabric
	socket  int
	Posted  *posted // writes that memory has not taken; nil on machines without NVM
	Traffic Traffic // but what concerns the LLC
}

// Attach connects an RNIC to a socket.
func (m *Machine) Attach(n *Port, number uint16, socket int) {
	*n = Port{host: m, Number: number, socket: socket}
	if m.Mem.nvm.any() {
		n.Posted = newPosted(n, m.hosts.profile.NVM.PostedWrites.Int())
	}
}

// Socket is the socket it is attached to.
func (n *Port) Socket() int { return n.socket }

// Claim counts a write that is given to PCIe.
func (n *Port) Claim(why Cause, a space.Addr, bytes uint32) {
	n.Traffic.Write(why, a, bytes)
	if n.Posted != nil && bytes > 0 {
		first, last := space.Lines(a, int(bytes))
		n.Posted.Open += int(last-first) + 1
	}
}

// root is the socket at which the RNIC is attached.
func (n *Port) root() *nvmSocket { return n.host.Processors[n.socket].NVM }
