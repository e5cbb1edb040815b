package r2

import (
	"encoding/binary"

	"drtmx/engine/fabric/host"
)

const lineBytes = 64

// sync brings the core's event to its local time: what follows meets the
// RNIC's accesses in their true order.
func (c *Co) sync() {
	w := c.w
	if w.local <= w.cl.sim.Now() {
		return
	}
	if t := w.region; t != nil && t.state == inBody {
		c.outside("a wait for local time")
	}
	w.current = c
	w.schedule(w.local)
	c.spoil()
	c.proc.Park()
}

// Load returns a view of n bytes of the machine's own memory as they are at
// this instant. The view changes when others write: copy what must last.
func (c *Co) Load(a Addr, n int) []byte {
	c.sync()
	mem := c.w.mc.mem
	mem.CoreTouches(a, n, false)
	b := mem.Bytes(a, n)
	c.noted(a, n, false)
	c.access(a, n, host.Load)
	return b
}

// Load64 reads a word.
func (c *Co) Load64(a Addr) uint64 {
	return binary.LittleEndian.Uint64(c.Load(a, 8))
}

// Again64 reads a word of a line that this core has loaded or changed just before. The line is in the core's first cache, where a load is
// of the instructions that other costs cover; Load64 would take the time of the LLC once more.
func (c *Co) Again64(a Addr) uint64 {
	c.sync()
	mem := c.w.mc.mem
	mem.CoreTouches(a, 8, false)
	c.noted(a, 8, false)
	return binary.LittleEndian.Uint64(mem.Bytes(a, 8))
}

// Peek is Load without waiting for the core's local time, and Poke is Store
// without: for bytes that no RNIC touches while they are used, and where the
// order among the machine's own threads makes no difference.
func (c *Co) Peek(a Addr, n int) []byte {
	c.noted(a, n, false)
	c.access(a, n, host.Load)
	mem := c.w.mc.mem
	mem.CoreTouches(a, n, false)
	return mem.Bytes(a, n)
}

// Poke writes b; see Peek.
func (c *Co) Poke(a Addr, b []byte) {
	mem := c.w.mc.mem
	mem.CoreTouches(a, len(b), true)
	mem.Change(a, len(b))
	copy(mem.Bytes(a, len(b)), b)
	c.wrote(a, len(b))
}

// Store writes b to the machine's own memory. If an RNIC access to these
// bytes is under way, the lines become visible one after the other.
func (c *Co) Store(a Addr, b []byte) {
	c.sync()
	mem := c.w.mc.mem
	mem.CoreTouches(a, len(b), true)
	mem.Change(a, len(b))
	first := int(lineBytes - a%lineBytes)
	if len(b) <= first {
		copy(mem.Bytes(a, len(b)), b)
		c.wrote(a, len(b))
		return
	}
	if !mem.BeginAccess(a, len(b), true) {
		copy(mem.Bytes(a, len(b)), b)
		c.wrote(a, len(b))
		mem.EndAccess(a, len(b), true)
		return
	}
	for done, n := 0, first; done < len(b); done, n = done+n, min(lineBytes, len(b)-done-n) {
		mem.CoreTouches(a+Addr(done), n, true)
		copy(mem.Bytes(a+Addr(done), n), b[done:done+n])
		c.wrote(a+Addr(done), n)
		c.sync()
	}
	mem.EndAccess(a, len(b), true)
}

// Store64 writes a word.
func (c *Co) Store64(a Addr, v uint64) {
	c.sync()
	mem := c.w.mc.mem
	mem.CoreTouches(a, 8, true)
	mem.Change(a, 8)
	binary.LittleEndian.PutUint64(mem.Bytes(a, 8), v)
	c.wrote(a, 8)
}

// LocalCAS is the CPU's compare-and-swap: atomic among CPUs, not with RNIC
// atomics (thesis §4.3.2). If another core has the line, it comes from there, and those
// that want it at the same time get it one after the other; that holds for loads and stores
// of such lines as well.
func (c *Co) LocalCAS(a Addr, old, new uint64) (prev uint64) {
	c.sync()
	mem := c.w.mc.mem
	mem.CoreTouches(a, 8, true)
	b := mem.Bytes(a, 8)
	prev = binary.LittleEndian.Uint64(b)
	if prev == old {
		mem.Change(a, 8)
		binary.LittleEndian.PutUint64(b, new)
	}
	c.locked(a)
	return prev
}

// LocalFAA is the CPU's fetch-and-add; see LocalCAS.
func (c *Co) LocalFAA(a Addr, delta uint64) (prev uint64) {
	c.sync()
	mem := c.w.mc.mem
	mem.CoreTouches(a, 8, true)
	mem.Change(a, 8)
	b := mem.Bytes(a, 8)
	prev = binary.LittleEndian.Uint64(b)
	binary.LittleEndian.PutUint64(b, prev+delta)
	c.locked(a)
	return prev
}

// locked charges a locked instruction.
func (c *Co) locked(a Addr) {
	c.noted(a, 8, true)
	w := c.w
	d := w.hw.Atomic(w.core, max(w.local, w.cl.sim.Now()), a)
	if !c.flat {
		w.charge(d)
	}
}

// Touch charges an access to n bytes at a without reading them: private
// structures whose bytes the simulator keeps elsewhere.
func (c *Co) Touch(a Addr, n int) {
	c.noted(a, n, true) // or not: nobody knows
	c.access(a, n, host.Load)
}

// noted tells whoever explores orders of an access. It is small enough to be inlined.
func (c *Co) noted(a Addr, n int, write bool) {
	if c.w.cl.explored != nil {
		c.note(a, n, write)
	}
}

func (c *Co) note(a Addr, n int, write bool) {
	c.w.cl.explored.Accessed(c.w.mc.mem, a, n, write, c.actor())
}

// actor is whose access it is: a handler's is that of the thread which has called.
func (c *Co) actor() uint64 {
	if c.index < 0 {
		from := c.w.job.from
		return 1<<62 | uint64(from.Machine)<<32 | uint64(from.Thread)<<16 | uint64(from.Coroutine)
	}
	return uint64(c.id)
}

// TouchDMA charges looking at n bytes at a that an RNIC has brought. From the LLC that is
// part of what a completion takes, for poll_cqe is fitted to messages that are looked at;
// without DDIO they come from memory (§2.3.4.1).
func (c *Co) TouchDMA(a Addr, n int) { c.w.touchDMA(a, n) }

func (w *Worker) touchDMA(a Addr, n int) {
	if !w.hw.DDIO(w.hw.CoreSocket(w.core)) {
		w.charge(w.hw.Access(w.core, max(w.local, w.cl.sim.Now()), a, n, host.Load))
	}
}

// TouchAll is Touch of n bytes at each of several addresses none of which depends on
// what another holds: the core's loads overlap.
func (c *Co) TouchAll(at []Addr, n int) {
	w := c.w
	for _, a := range at {
		c.noted(a, n, true)
	}
	d := w.hw.Gather(w.core, max(w.local, w.cl.sim.Now()), at, n)
	if !c.flat {
		w.charge(d)
	}
}

// wrote charges a store. In DRAM it is charged as a load, in which the cost of
// everything that a protocol does to a line is contained (thesis Table 4-2); NVM
// has to know what will leave the cache again.
func (c *Co) wrote(a Addr, n int) {
	c.noted(a, n, true)
	c.stored(a, n)
}

// stored is wrote of a store that is noted otherwise.
func (c *Co) stored(a Addr, n int) {
	k := host.Modify
	if c.w.mc.mem.OnNVM(a) {
		k = host.Store
	}
	c.access(a, n, k)
}

// access charges an access of any kind.
func (c *Co) access(a Addr, n int, k host.Kind) {
	w := c.w
	d := w.hw.Access(w.core, max(w.local, w.cl.sim.Now()), a, n, k)
	if !c.flat {
		w.charge(d)
	}
}

// StoreNT writes b past the caches, with non-temporal stores (thesis §2.3.4.2, H4
// and H7). It returns when all lines are in the core's write-combining buffers;
// Fence waits until they are persistent.
func (c *Co) StoreNT(a Addr, b []byte) {
	c.sync()
	mem := c.w.mc.mem
	mem.Change(a, len(b))
	overlapped := mem.BeginAccess(a, len(b), true)
	for done, n := 0, 0; done < len(b); done += n {
		if n = len(b) - done; overlapped {
			n = min(n, lineBytes-int((a+Addr(done))%lineBytes))
		}
		mem.CoreTouches(a+Addr(done), n, true)
		copy(mem.Bytes(a+Addr(done), n), b[done:done+n])
		c.noted(a+Addr(done), n, true)
		c.access(a+Addr(done), n, host.StoreNT)
		if overlapped {
			c.sync()
		}
	}
	mem.EndAccess(a, len(b), true)
	c.await(false)
}

// Flush writes n bytes at a back from the cache and keeps them there (clwb). Fence
// waits until they are persistent.
func (c *Co) Flush(a Addr, n int) {
	c.sync()
	c.access(a, n, host.Flush)
	c.await(false)
}

// Fence waits until everything that StoreNT and Flush have written on this core is
// in the persistent domain (sfence).
func (c *Co) Fence() {
	c.sync()
	c.await(true)
}

// fenceStreams is the sfence in front of a doorbell that is rung at once; see
// Worker.fence.
func (c *Co) fenceStreams() {
	if c.w.hw.Streaming(c.w.core) {
		c.Fence()
	}
}

// await stalls the core until its write-combining buffers have taken everything,
// or, drained, until they are empty. Nothing else runs on it meanwhile.
func (c *Co) await(drained bool) {
	w := c.w
	c.alone("a non-temporal store, flush or fence")
	if w.hw.Await(w.core, drained, w.cl.kWork, uint32(w.id)|(w.gen+1)<<16) {
		return
	}
	w.idle = false
	w.gen++
	w.current, w.stalled = c, true
	c.spoil()
	c.proc.Park()
	w.goOn()
}

// ChargeHandler charges cycles that were measured with all their memory accesses
// (thesis Table 4-2): until ChargeHandler(0) or the end of the handler, accesses
// move caches and wait for the core's local time but take no time themselves.
func (c *Co) ChargeHandler(cycles int) {
	c.Compute(cycles)
	c.flat = cycles > 0
}

// Beyond begins accesses that are not in ChargeHandler's cycles: they take their time until Back, which is given what Beyond has
// returned.
func (c *Co) Beyond() (before bool) {
	before, c.flat = c.flat, false
	return before
}

// Back ends what Beyond has begun.
func (c *Co) Back(before bool) { c.flat = before }
