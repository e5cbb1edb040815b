package r2

import "encoding/binary"

const lineBytes = 64

// sync brings the core's event to its local time: what follows meets the
// RNIC's accesses in their true order.
func (c *Co) sync() {
	w := c.w
	if w.local <= w.cl.sim.Now() {
		return
	}
	w.current = c
	w.schedule(w.local)
	c.proc.Park()
}

// Load returns a view of n bytes of the machine's own memory as they are at
// this instant. The view changes when others write: copy what must last.
func (c *Co) Load(a Addr, n int) []byte {
	c.sync()
	b := c.w.mc.mem.Bytes(a, n)
	c.Touch(a, n)
	return b
}

// Load64 reads a word.
func (c *Co) Load64(a Addr) uint64 {
	return binary.LittleEndian.Uint64(c.Load(a, 8))
}

// Peek is Load without waiting for the core's local time, and Poke is Store
// without: for bytes that no RNIC touches while they are used, and where the
// order among the machine's own threads makes no difference.
func (c *Co) Peek(a Addr, n int) []byte {
	c.Touch(a, n)
	return c.w.mc.mem.Bytes(a, n)
}

// Poke writes b; see Peek.
func (c *Co) Poke(a Addr, b []byte) {
	copy(c.w.mc.mem.Bytes(a, len(b)), b)
	c.Touch(a, len(b))
}

// Store writes b to the machine's own memory. If an RNIC access to these
// bytes is under way, the lines become visible one after the other.
func (c *Co) Store(a Addr, b []byte) {
	c.sync()
	mem := c.w.mc.mem
	first := int(lineBytes - a%lineBytes)
	if len(b) <= first {
		copy(mem.Bytes(a, len(b)), b)
		c.Touch(a, len(b))
		return
	}
	if !mem.BeginAccess(a, len(b), true) {
		copy(mem.Bytes(a, len(b)), b)
		c.Touch(a, len(b))
		mem.EndAccess(a, len(b), true)
		return
	}
	for done, n := 0, first; done < len(b); done, n = done+n, min(lineBytes, len(b)-done-n) {
		copy(mem.Bytes(a+Addr(done), n), b[done:done+n])
		c.Touch(a+Addr(done), n)
		c.sync()
	}
	mem.EndAccess(a, len(b), true)
}

// Store64 writes a word.
func (c *Co) Store64(a Addr, v uint64) {
	c.sync()
	binary.LittleEndian.PutUint64(c.w.mc.mem.Bytes(a, 8), v)
	c.Touch(a, 8)
}

// LocalCAS is the CPU's compare-and-swap: atomic among CPUs, not with RNIC
// atomics (thesis §4.3.2).
func (c *Co) LocalCAS(a Addr, old, new uint64) (prev uint64) {
	c.sync()
	b := c.w.mc.mem.Bytes(a, 8)
	prev = binary.LittleEndian.Uint64(b)
	if prev == old {
		binary.LittleEndian.PutUint64(b, new)
	}
	c.Touch(a, 8)
	if !c.covered {
		c.w.charge(c.w.cpu.Atomic)
	}
	return prev
}

// Touch charges an access to n bytes at a without reading them: private
// structures whose bytes the simulator keeps elsewhere.
func (c *Co) Touch(a Addr, n int) {
	w := c.w
	d := w.hw.Access(w.core, max(w.local, w.cl.sim.Now()), a, n, false)
	if !c.covered {
		w.charge(d)
	}
}

// Covered charges cycles that were measured with all their memory accesses
// (thesis Table 4-2): until Covered(0) or the end of the handler, accesses
// move caches and wait for the core's local time but take no time themselves.
func (c *Co) Covered(cycles int) {
	c.Compute(cycles)
	c.covered = cycles > 0
}
