package core

import (
	"encoding/binary"

	"drtmx/engine/fabric/host"
)

// Sync brings a program's core to its local time.
func Sync(p *Program) { p.sync() }

// sync brings the core's event to its local time: what follows meets the
// RNIC's accesses in their true order.
func (p *Program) sync() {
	w := p.w
	if w.Local <= w.Clock.Now() {
		return
	}
	if t := w.region; t != nil && t.state == inBody {
		Outside(p, "a wait for local time")
	}
	w.Current = p
	w.Schedule(w.Local)
	Spoil(p)
	p.proc.Park()
}

// Load returns a view of n bytes of the machine's own memory as they are at
// this instant. The view changes when others write: copy what must last.
func (p *Program) Load(a Addr, n int) []byte {
	p.sync()
	mem := p.w.Mem
	mem.CoreTouches(a, n, false)
	b := mem.Bytes(a, n)
	p.noted(a, n, false)
	p.access(a, n, host.Load)
	return b
}

// Load64 reads a word.
func (p *Program) Load64(a Addr) uint64 {
	return binary.LittleEndian.Uint64(p.Load(a, 8))
}

// Again64 reads a word of a line that this core has loaded or changed just before. The line is in the core's first cache, where a load is
// of the instructions that other costs cover; Load64 would take the time of the LLC once more.
func (p *Program) Again64(a Addr) uint64 {
	p.sync()
	mem := p.w.Mem
	mem.CoreTouches(a, 8, false)
	p.noted(a, 8, false)
	return binary.LittleEndian.Uint64(mem.Bytes(a, 8))
}

// Peek is Load without waiting for the core's local time, and Poke is Store
// without: for bytes that no RNIC touches while they are used, and where the
// order among the machine's own threads makes no difference.
func (p *Program) Peek(a Addr, n int) []byte {
	p.noted(a, n, false)
	p.access(a, n, host.Load)
	mem := p.w.Mem
	mem.CoreTouches(a, n, false)
	return mem.Bytes(a, n)
}

// Poke writes b; see Peek.
func (p *Program) Poke(a Addr, b []byte) {
	mem := p.w.Mem
	mem.CoreTouches(a, len(b), true)
	mem.Change(a, len(b))
	copy(mem.Bytes(a, len(b)), b)
	p.wrote(a, len(b))
}

// Store writes b to the machine's own memory. If an RNIC access to these
// bytes is under way, the lines become visible one after the other.
func (p *Program) Store(a Addr, b []byte) {
	p.sync()
	mem := p.w.Mem
	mem.CoreTouches(a, len(b), true)
	mem.Change(a, len(b))
	first := int(lineBytes - a%lineBytes)
	if len(b) <= first {
		copy(mem.Bytes(a, len(b)), b)
		p.wrote(a, len(b))
		return
	}
	if !mem.BeginAccess(a, len(b), true) {
		copy(mem.Bytes(a, len(b)), b)
		p.wrote(a, len(b))
		mem.EndAccess(a, len(b), true)
		return
	}
	for done, n := 0, first; done < len(b); done, n = done+n, min(lineBytes, len(b)-done-n) {
		mem.CoreTouches(a+Addr(done), n, true)
		copy(mem.Bytes(a+Addr(done), n), b[done:done+n])
		p.wrote(a+Addr(done), n)
		p.sync()
	}
	mem.EndAccess(a, len(b), true)
}

// Store64 writes a word.
func (p *Program) Store64(a Addr, v uint64) {
	p.sync()
	mem := p.w.Mem
	mem.CoreTouches(a, 8, true)
	mem.Change(a, 8)
	binary.LittleEndian.PutUint64(mem.Bytes(a, 8), v)
	p.wrote(a, 8)
}

// LocalCAS is the CPU's compare-and-swap: atomic among CPUs, not with RNIC
// atomics (thesis §4.3.2). If another core has the line, it comes from there, and those
// that want it at the same time get it one after the other; that holds for loads and stores
// of such lines as well.
func (p *Program) LocalCAS(a Addr, old, new uint64) (prev uint64) {
	p.sync()
	mem := p.w.Mem
	mem.CoreTouches(a, 8, true)
	b := mem.Bytes(a, 8)
	prev = binary.LittleEndian.Uint64(b)
	if prev == old {
		mem.Change(a, 8)
		binary.LittleEndian.PutUint64(b, new)
	}
	p.locked(a)
	return prev
}

// LocalFAA is the CPU's fetch-and-add; see LocalCAS.
func (p *Program) LocalFAA(a Addr, delta uint64) (prev uint64) {
	p.sync()
	mem := p.w.Mem
	mem.CoreTouches(a, 8, true)
	mem.Change(a, 8)
	b := mem.Bytes(a, 8)
	prev = binary.LittleEndian.Uint64(b)
	binary.LittleEndian.PutUint64(b, prev+delta)
	p.locked(a)
	return prev
}

// locked charges a locked instruction.
func (p *Program) locked(a Addr) {
	p.noted(a, 8, true)
	w := p.w
	d := w.HW.Atomic(w.Number, max(w.Local, w.Clock.Now()), a)
	if !p.flat {
		w.Charge(d)
	}
}

// Touch charges an access to n bytes at a without reading them: private
// structures whose bytes the simulator keeps elsewhere.
func (p *Program) Touch(a Addr, n int) {
	p.noted(a, n, true) // or not: unknown
	p.access(a, n, host.Load)
}

// noted reports an access to the exploration of orders. It is small enough to be inlined.
func (p *Program) noted(a Addr, n int, write bool) {
	if p.w.sys.Explored != nil {
		p.note(a, n, write)
	}
}

// Noted is noted of an access that the framework makes.
func Noted(p *Program, a Addr, n int, write bool) { p.noted(a, n, write) }

func (p *Program) note(a Addr, n int, write bool) {
	p.w.sys.Explored.Accessed(p.w.Mem, a, n, write, p.w.sys.above.Actor(p.id))
}

// TouchDMA charges looking at n bytes at a that an RNIC has brought. From the LLC that is
// part of what a completion takes, for poll_cqe is fitted to messages that are looked at;
// without DDIO they come from memory (§2.3.4.1).
func (p *Program) TouchDMA(a Addr, n int) { p.w.TouchDMA(a, n) }

// TouchDMA is that of whatever runs on the core.
func (w *Core) TouchDMA(a Addr, n int) {
	if !w.HW.DDIO(w.HW.CoreSocket(w.Number)) {
		w.Charge(w.HW.Access(w.Number, max(w.Local, w.Clock.Now()), a, n, host.Load))
	}
}

// TouchAll is Touch of n bytes at each of several addresses none of which depends on
// what another holds: the core's loads overlap.
func (p *Program) TouchAll(at []Addr, n int) {
	w := p.w
	for _, a := range at {
		p.noted(a, n, true)
	}
	d := w.HW.Gather(w.Number, max(w.Local, w.Clock.Now()), at, n)
	if !p.flat {
		w.Charge(d)
	}
}

// wrote charges a store. In DRAM it is charged as a load, in which the cost of
// everything that a protocol does to a line is contained (thesis Table 4-2); NVM
// has to know what will leave the cache again.
func (p *Program) wrote(a Addr, n int) {
	p.noted(a, n, true)
	p.stored(a, n)
}

// stored is wrote of a store that is noted otherwise.
func (p *Program) stored(a Addr, n int) {
	k := host.Modify
	if p.w.Mem.OnNVM(a) {
		k = host.Store
	}
	p.access(a, n, k)
}

// access charges an access of any kind.
func (p *Program) access(a Addr, n int, k host.Kind) {
	w := p.w
	d := w.HW.Access(w.Number, max(w.Local, w.Clock.Now()), a, n, k)
	if !p.flat {
		w.Charge(d)
	}
}

// StoreNT writes b past the caches, with non-temporal stores (thesis §2.3.4.2, H4
// and H7). It returns when all lines are in the core's write-combining buffers;
// Fence waits until they are persistent.
func (p *Program) StoreNT(a Addr, b []byte) {
	p.sync()
	mem := p.w.Mem
	mem.Change(a, len(b))
	overlapped := mem.BeginAccess(a, len(b), true)
	for done, n := 0, 0; done < len(b); done += n {
		if n = len(b) - done; overlapped {
			n = min(n, lineBytes-int((a+Addr(done))%lineBytes))
		}
		mem.CoreTouches(a+Addr(done), n, true)
		copy(mem.Bytes(a+Addr(done), n), b[done:done+n])
		p.noted(a+Addr(done), n, true)
		p.access(a+Addr(done), n, host.StoreNT)
		if overlapped {
			p.sync()
		}
	}
	mem.EndAccess(a, len(b), true)
	p.await(false)
}

// Flush writes n bytes at a back from the cache and keeps them there (clwb). Fence
// waits until they are persistent.
func (p *Program) Flush(a Addr, n int) {
	p.sync()
	p.access(a, n, host.Flush)
	p.await(false)
}

// Fence waits until everything that StoreNT and Flush have written on this core is
// in the persistent domain (sfence).
func (p *Program) Fence() {
	p.sync()
	p.await(true)
}

// FenceStreams is the sfence in front of a doorbell that is rung at once.
func FenceStreams(p *Program) {
	if p.w.HW.Streaming(p.w.Number) {
		p.Fence()
	}
}

// await stalls the core until its write-combining buffers have taken everything,
// or, drained, until they are empty. Nothing else runs on it meanwhile.
func (p *Program) await(drained bool) {
	w := p.w
	Alone(p, "a non-temporal store, flush or fence")
	if w.HW.Await(w.Number, drained, w.kind, w.Next()) {
		return
	}
	w.Idle = false
	w.Gen++
	w.Current, w.Stalled = p, true
	Spoil(p)
	p.proc.Park()
	w.EndStall()
}

// ChargeHandler charges cycles that were measured with all their memory accesses
// (thesis Table 4-2): until ChargeHandler(0) or the end of the handler, accesses
// move caches and wait for the core's local time but take no time themselves.
func (p *Program) ChargeHandler(cycles int) {
	p.Compute(cycles)
	p.flat = cycles > 0
}

// Beyond begins accesses that are not in ChargeHandler's cycles: they take their time until Back, which is given what Beyond has
// returned.
func (p *Program) Beyond() (before bool) {
	before, p.flat = p.flat, false
	return before
}

// Back ends what Beyond has begun.
func (p *Program) Back(before bool) { p.flat = before }

// Memory is memory as a program sees it: a coroutine's own loads and stores, or those of a region of hardware transactional memory. So
// code that searches or changes a structure in it, an index say, need not know whether it runs inside a region.
type Memory interface {
	// Load is a view of n bytes: as long as another one does not write, or until the region's next store.
	Load(a Addr, n int) []byte
	Load64(a Addr) uint64
	Store(a Addr, b []byte)
	Store64(a Addr, v uint64)
	// LocalCAS is atomic among CPUs, not with RNIC atomics.
	LocalCAS(a Addr, old, new uint64) (prev uint64)
	// Compute charges cycles of the core.
	Compute(cycles int)
}

var (
	_ Memory = (*Program)(nil)
	_ Memory = (*Region)(nil)
)
