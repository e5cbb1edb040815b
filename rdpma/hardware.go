package rdpma

import (
	"drtmx/engine/fabric"
	"drtmx/engine/r2"
)

func poolAlloc(name string, bytes uint64, socket, dimm int, nvm bool) fabric.Alloc {
	return fabric.Alloc{Name: name, Bytes: bytes, Socket: socket}
}

func setDDIO(hw *fabric.Machine, socket int, on bool) {}

func storeNT(c *r2.Co, a r2.Addr, b []byte) { c.Store(a, b) }
func flushLines(c *r2.Co, a r2.Addr, n int) {}
func fence(c *r2.Co)                        {}

// cacheIsVolatile says whether what the RNIC writes to a pointer's memory would
// stay in a cache that a crash loses.
func (m *Memory) cacheIsVolatile(p Ptr) bool { return m.cfg.KeepDDIO || !m.hints.H3 }
