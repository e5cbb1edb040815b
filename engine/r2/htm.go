package r2

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/fabric/host"
)

// HTMLock is the fallback lock of some regions: a word in the machine's memory, 0 when it
// is free. It should be alone on its line: every store to that line ends all regions.
type HTMLock struct{ Addr Addr }

// HTMCounts says what became of regions.
type HTMCounts struct {
	Regions   uint64 // begun, those that run again included
	Commits   uint64
	DMA       uint64 // ended by an RNIC's access
	Core      uint64 // ended by another core's, the taking of the fallback lock included
	Capacity  uint64 // wrote more lines than fit
	Switch    uint64 // ended because another thread got the core
	Explicit  uint64 // ended themselves
	LockTaken uint64 // found the fallback lock taken
	Fallbacks uint64 // bodies run under the fallback lock
}

const (
	// htmConflicts is how many conflicts a region has before its body runs under the lock: max_abort_conflict
	// of the RTM scope in the repository SJTU-IPADS/xstore. Where it tries once more after a lack of room, we do not.
	htmConflicts = 10

	// htmRefusals bounds how often in a row a body ends itself.
	htmRefusals = 1 << 20
)

// Region is a run of a body: as a hardware transaction, or under the fallback lock.
// It is valid in the body only.
type Region struct {
	c     *Co
	s     *host.Speculation
	state regionState
	by    host.Intruder
	full  bool // wrote more than there is room for
	given bool // the body has called Abort
	wrote bool // the body has stored something
	ended Time // local time at which it was full or given up
	word  [8]byte
}

// regionState is what a worker's region is doing.
type regionState uint8

// The states.
const (
	noRegion regionState = iota
	inBody               // the body runs, at one instant
	live                 // the body's time passes
	hit                  // another one has touched a line meanwhile
	locked               // the body runs under the fallback lock
)

// bySwitch ends a region when the operating system gives its core to another thread.
const bySwitch = host.ByCore + 1

// HTM runs body as a region of restricted transactional memory (Intel RTM, thesis
// §3.4.3): its stores become visible at one instant, and what it loaded is as loaded at
// that instant. When another core or an RNIC touches a line of it in a way that
// conflicts, its stores are dropped and body runs again; after several conflicts, or at once if
// it writes more than 32 KB, it runs under the lock, and its stores are visible as they
// are made.
//
// body must be a function of what it loads, and must reset what it sets outside: it may run
// several times. It may use nothing but the Region: it cannot post, wait or sleep.
func (c *Co) HTM(l *HTMLock, body func(t *Region)) {
	w := c.w
	t := w.region
	if t == nil {
		t = &Region{}
		t.s = w.hw.NewSpeculation(w.core, t.touched)
		w.region = t
	}
	c.outside("a region")
	t.c = c
	for conflicts, refusals := 0, 0; ; {
		if conflicts < htmConflicts {
			t.try(l, body)
		} else if t.fallBack(l, body); t.given {
			conflicts = 0
		}
		switch {
		case t.given:
			if refusals++; refusals == htmRefusals {
				panic(fmt.Sprintf("r2: %s at %d ps: a region has ended itself %d times in a row; what it waits for does not happen", c.name, w.local, refusals))
			}
			t.letOthers()
		case t.full:
			conflicts = htmConflicts
		case t.state == hit:
			conflicts++
			c.backOff(conflicts)
		default:
			t.state = noRegion
			return
		}
	}
}

// backOff is a random time after a conflict, on average as long as an abort takes, and twice as long after each that
// follows. Two regions that begin again at once end each other in step until both take the lock, and whoever takes it ends all.
// Assumed: the thesis does not say how its regions are tried again.
func (c *Co) backOff(conflicts int) {
	most := 2 * c.w.cpu.HTMAbort << (min(conflicts, longestBackOff) - 1)
	c.w.charge(Time(c.rand.Uint64n(uint64(most) + 1)))
}

// longestBackOff is the conflict after which it no longer grows: 4 us on average, several regions.
const longestBackOff = 7

// try runs the body as a hardware transaction. All that it does happens at the instant at
// which it begins: then its lines are watched for as long as what it did takes the core,
// and its stores are made at the end of that.
func (t *Region) try(l *HTMLock, body func(t *Region)) {
	c, w := t.c, t.c.w
	counts := &w.cl.htm
	for {
		w.charge(w.cpu.HTMBegin)
		c.sync()
		counts.Regions++
		t.begin(inBody)
		t.s.Begin()
		if t.Load64(l.Addr) == 0 {
			break
		}
		counts.LockTaken++
		t.stop(w.local)
		c.awaitFree(l)
	}
	body(t)
	switch {
	case t.given, t.full:
		w.charge(t.ended - w.local)
	default:
		w.charge(w.cpu.HTMCommit)
	}
	t.state = live
	c.sync()
	switch {
	case t.state == hit:
		t.full, t.given = false, false
		switch t.by {
		case host.ByDevice:
			counts.DMA++
		case host.ByCore:
			counts.Core++
		default:
			counts.Switch++
		}
		w.charge(w.cpu.HTMAbort)
	case t.given:
		counts.Explicit++
		t.stop(w.local)
	case t.full:
		counts.Capacity++
		t.stop(w.local)
	default:
		if w.cl.explored != nil {
			t.s.Each(func(line Addr, written bool) { c.noted(line, lineBytes, written) })
		}
		t.s.Commit()
		counts.Commits++
	}
}

// begin is the state before a run of the body.
func (t *Region) begin(s regionState) {
	t.state, t.full, t.given, t.wrote = s, false, false, false
}

// stop ends a transaction of which nothing stays.
func (t *Region) stop(at Time) {
	w := t.c.w
	t.state = noRegion
	t.s.End()
	w.charge(at + w.cpu.HTMAbort - w.local)
}

// touched is called when another one has touched a line of the transaction: it is over at
// once, and the core does not do what the body would still have taken.
func (t *Region) touched(by host.Intruder) {
	w := t.c.w
	if t.state != live {
		panic(fmt.Sprintf("r2: %s at %d ps: the body of a region accesses memory past the Region", t.c.name, w.cl.sim.Now()))
	}
	t.state, t.by = hit, by
	t.s.End()
	if left := w.local - w.cl.sim.Now(); left > 0 {
		w.charge(-left)
		w.schedule(w.local)
	}
}

// fallBack runs the body under the lock.
func (t *Region) fallBack(l *HTMLock, body func(t *Region)) {
	c, counts := t.c, &t.c.w.cl.htm
	for c.LocalCAS(l.Addr, 0, uint64(c.id)+1) != 0 {
		c.awaitFree(l)
	}
	counts.Fallbacks++
	t.begin(locked)
	body(t)
	if t.given {
		counts.Explicit++
	}
	t.state = noRegion
	c.Store64(l.Addr, 0)
}

// awaitFree spins until the lock is free: the core sees that when it has the lock's line
// again. A thread that shares its core does so for as long as the shortest sleep takes, and then
// sleeps: it may have taken the core from the very thread that has the lock, and would spin for its
// whole slice.
func (c *Co) awaitFree(l *HTMLock) {
	t, from := c.sharedThread(), c.Now()
	for c.Load64(l.Addr) != 0 {
		if t != nil && c.Now()-from > lockNap {
			t.sleep(lockNap)
			continue
		}
		c.w.charge(c.w.cpu.LineTransfer)
	}
}

// lockNap is the shortest sleep of a thread: Linux lets timers be late by 50 us (the default of timer_slack_ns).
const lockNap = 50_000_000

// letOthers is the time after a region that has ended itself. A handler runs to completion:
// the other coroutines of its thread have no turn.
func (t *Region) letOthers() {
	if t.state = noRegion; t.c.index >= 0 && !t.c.serves {
		t.c.Yield()
	}
}

// drop ends what a crash has interrupted.
func (t *Region) drop() {
	if t.s.Active() {
		t.s.End()
	}
	t.state = noRegion
}

// outside holds that the thread is in no region.
func (c *Co) outside(what string) {
	if t := c.w.region; t != nil && t.state != noRegion {
		panic(fmt.Sprintf("r2: %s at %d ps: %s inside a region", c.name, c.w.local, what))
	}
}

// Load returns a view of n bytes, the region's own stores among them. It is valid until
// the region's next Store.
func (t *Region) Load(a Addr, n int) []byte {
	if t.state == locked {
		return t.c.Load(a, n)
	}
	b := t.s.Load(a, n)
	t.c.access(a, n, host.Load)
	return b
}

// Load64 reads a word.
func (t *Region) Load64(a Addr) uint64 { return binary.LittleEndian.Uint64(t.Load(a, 8)) }

// Store writes b. Nobody else sees it before the region commits.
func (t *Region) Store(a Addr, b []byte) {
	if t.given {
		panic(fmt.Sprintf("r2: %s at %d ps: a region stores after its Abort", t.c.name, t.c.w.local))
	}
	t.wrote = true
	if t.state == locked {
		t.c.Store(a, b)
		return
	}
	room := t.s.Store(a, b)
	t.c.stored(a, len(b))
	if !room && !t.full {
		t.full, t.ended = true, t.c.w.local
	}
}

// Store64 writes a word.
func (t *Region) Store64(a Addr, v uint64) {
	binary.LittleEndian.PutUint64(t.word[:], v)
	t.Store(a, t.word[:])
}

// Compute charges cycles of the core.
func (t *Region) Compute(cycles int) { t.c.Compute(cycles) }

// Abort has the body run again after others had their turn. The body returns at once
// after calling it. It must come before the first Store: under the fallback lock nothing
// takes stores back.
func (t *Region) Abort() {
	if t.wrote {
		panic(fmt.Sprintf("r2: %s at %d ps: a region aborts after a Store, which cannot be taken back under the fallback lock", t.c.name, t.c.w.local))
	}
	t.given, t.ended = true, t.c.w.local
}

// ChargeRegion charges a region of hardware transactional memory that computes so many cycles and that nobody ends: of a private
// structure, whose accesses Touch charges. As an access, it takes no time where ChargeHandler's cycles have it.
func (c *Co) ChargeRegion(cycles int) {
	if !c.flat {
		w := c.w
		c.Compute(cycles)
		w.charge(w.cpu.HTMBegin + w.cpu.HTMCommit)
	}
}

// HTMCounts are totals of all regions since time 0.
func (cl *Cluster) HTMCounts() HTMCounts { return cl.htm }
