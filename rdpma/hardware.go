package rdpma

import (
	"drtmx/engine/fabric/host"
)

// poolAlloc asks for memory: on NVM over all DIMMs or on one, or in DRAM.
func poolAlloc(name string, bytes uint64, socket, dimm int, nvm bool) host.Alloc {
	return host.Alloc{Name: name, Bytes: bytes, Socket: socket, NVM: nvm, DIMM: dimm}
}

// cacheIsVolatile says whether what the RNIC writes to a pointer's memory would
// stay in a cache that a crash loses: with DDIO, unless the cache belongs to the
// persistent domain (§2.4).
func (m *Memory) cacheIsVolatile(p Ptr) bool {
	hw := m.cl.Fabric().Machine(p.Machine())
	if hw.CachePersistent() {
		return false
	}
	for k := range hw.Type.Sockets.Int() { // the switch is at the RNIC that writes
		if hw.DDIO(k) {
			return true
		}
	}
	return false
}
