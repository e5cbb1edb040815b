package core

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

// HTMOptions say how a region is tried, and on which cache. The zero value is what HTM does.
type HTMOptions struct {
	// Retries is how many conflicts a region has before it falls back. 0: 10, max_abort_conflict of the RTM scope in the repository
	// SJTU-IPADS/xstore. Where that tries once more after a lack of room, we do not. Fewer than 0: the first conflict is the last.
	Retries int
	// Lines is how many lines it can write. 0: 512, a first-level data cache of 32 KB.
	Lines int
	// Ways is how many written lines of one set of that cache fit: 8 on the thesis's processors. 0: as many as there are Lines, wherever
	// they lie.
	Ways int
}

// htmConflicts is HTMOptions.Retries unless told.
const htmConflicts = 10

// htmRefusals bounds how often in a row a body ends itself.
const htmRefusals = 1 << 20

func (o HTMOptions) retries() int {
	if o.Retries == 0 {
		return htmConflicts
	}
	return max(o.Retries, 1)
}

// Region is a run of a body: as a hardware transaction, or under the fallback lock.
// It is valid in the body only.
type Region struct {
	p     *Program
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
func (p *Program) HTM(l *HTMLock, body func(t *Region)) { p.TryHTM(HTMOptions{}, l, body) }

// TryHTM is HTM with options. Without a lock (nil) nothing is fallen back to: after so many conflicts, or more stores than fit, it
// returns false, and nothing has happened; what to do then is the caller's. With a lock it returns true.
func (p *Program) TryHTM(o HTMOptions, l *HTMLock, body func(t *Region)) (done bool) {
	w, retries := p.w, o.retries()
	t := w.region
	if t == nil {
		t = Watch(w, nil)
	}
	Outside(p, "a region")
	t.p = p
	t.s.Limit(o.Lines, o.Ways)
	for conflicts, refusals := 0, 0; ; {
		if conflicts < retries {
			t.try(l, body)
		} else if l == nil {
			t.state = noRegion
			return false
		} else if t.fallBack(l, body); t.given {
			conflicts = 0
		}
		switch {
		case t.given:
			if refusals++; refusals == htmRefusals {
				panic(fmt.Sprintf("r2: %s at %d ps: a region has ended itself %d times in a row; what it waits for does not happen", p.Name(), w.Local, refusals))
			}
			t.letOthers()
		case t.full:
			conflicts = retries
		case t.state == hit:
			conflicts++
			p.backOff(conflicts)
		default:
			t.state = noRegion
			return true
		}
	}
}

// Watch makes a core's region. heeds says which accesses of others end it: all if it is nil, others where tests plant a fault.
func Watch(w *Core, heeds func(by host.Intruder) bool) *Region {
	t := &Region{}
	t.s = w.HW.NewSpeculation(w.Number, func(by host.Intruder) {
		if heeds == nil || heeds(by) {
			t.touched(by)
		}
	})
	w.region = t
	return t
}

// backOff is a random time after a conflict, on average as long as an abort takes, and twice as long after each that
// follows. Two regions that begin again at once end each other in step until both take the lock, and the one that takes it ends all.
// Assumed: the thesis does not say how its regions are tried again.
func (p *Program) backOff(conflicts int) {
	most := 2 * p.w.CPU.HTMAbort << (min(conflicts, longestBackOff) - 1)
	p.w.Charge(Time(p.rand.Uint64n(uint64(most) + 1)))
}

// longestBackOff is the conflict after which it no longer grows: 4 us on average, several regions.
const longestBackOff = 7

// try runs the body as a hardware transaction. All that it does happens at the instant at
// which it begins: then its lines are watched for as long as what it did takes the core,
// and its stores are made at the end of that.
func (t *Region) try(l *HTMLock, body func(t *Region)) {
	p, w := t.p, t.p.w
	counts := &w.machine.htm
	for {
		w.Charge(w.CPU.HTMBegin)
		p.sync()
		counts.Regions++
		t.begin(inBody)
		t.s.Begin()
		if l == nil || t.Load64(l.Addr) == 0 {
			break
		}
		counts.LockTaken++
		t.stop(w.Local)
		p.awaitFree(l)
	}
	body(t)
	switch {
	case t.given, t.full:
		w.Charge(t.ended - w.Local)
	default:
		w.Charge(w.CPU.HTMCommit)
	}
	t.state = live
	p.sync()
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
		w.Charge(w.CPU.HTMAbort)
	case t.given:
		counts.Explicit++
		t.stop(w.Local)
	case t.full:
		counts.Capacity++
		t.stop(w.Local)
	default:
		if w.sys.Explored != nil {
			t.s.Each(func(line Addr, written bool) { p.noted(line, lineBytes, written) })
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
	w := t.p.w
	t.state = noRegion
	t.s.End()
	w.Charge(at + w.CPU.HTMAbort - w.Local)
}

// touched is called when another one has touched a line of the transaction: it is over at
// once, and the core does not do what the body would still have taken.
func (t *Region) touched(by host.Intruder) {
	w := t.p.w
	if t.state != live {
		panic(fmt.Sprintf("r2: %s at %d ps: the body of a region accesses memory past the Region", t.p.Name(), w.Clock.Now()))
	}
	t.state, t.by = hit, by
	t.s.End()
	if left := w.Local - w.Clock.Now(); left > 0 {
		w.Charge(-left)
		w.Schedule(w.Local)
	}
}

// fallBack runs the body under the lock.
func (t *Region) fallBack(l *HTMLock, body func(t *Region)) {
	p, counts := t.p, &t.p.w.machine.htm
	for p.LocalCAS(l.Addr, 0, uint64(p.id)+1) != 0 {
		p.awaitFree(l)
	}
	counts.Fallbacks++
	t.begin(locked)
	body(t)
	if t.given {
		counts.Explicit++
	}
	t.state = noRegion
	p.Store64(l.Addr, 0)
}

// awaitFree spins until the lock is free: the core sees that when it has the lock's line
// again. A thread that shares its core does so for as long as the shortest sleep takes, and then
// sleeps: it may have taken the core from the very thread that has the lock, and would spin for its
// whole slice.
func (p *Program) awaitFree(l *HTMLock) {
	t, from := ThreadOf(p), p.Now()
	for p.Load64(l.Addr) != 0 {
		if t != nil && p.Now()-from > lockNap {
			t.Sleep(lockNap)
			continue
		}
		p.w.Charge(p.w.CPU.LineTransfer)
	}
}

// lockNap is the shortest sleep of a thread: Linux lets timers be late by 50 us (the default of timer_slack_ns).
const lockNap = 50_000_000

// letOthers is the time after a region that has ended itself. A handler runs to completion:
// the other programs of its thread have no turn.
func (t *Region) letOthers() {
	t.state = noRegion
	t.p.w.sys.above.Yield(t.p.id)
}

// drop ends what a crash has interrupted.
func (t *Region) drop() {
	if t.s.Active() {
		t.s.End()
	}
	t.state = noRegion
}

// Outside holds that the thread is in no region.
func Outside(p *Program, what string) {
	if t := p.w.region; t != nil && t.state != noRegion {
		inside(p, what)
	}
}

func inside(p *Program, what string) {
	panic(fmt.Sprintf("r2: %s at %d ps: %s inside a region", p.Name(), p.w.Local, what))
}

// Load returns a view of n bytes, the region's own stores among them. It is valid until
// the region's next Store.
func (t *Region) Load(a Addr, n int) []byte {
	if t.state == locked {
		return t.p.Load(a, n)
	}
	b := t.s.Load(a, n)
	t.p.access(a, n, host.Load)
	return b
}

// Load64 reads a word.
func (t *Region) Load64(a Addr) uint64 { return binary.LittleEndian.Uint64(t.Load(a, 8)) }

// Store writes b. It is invisible to others before the region commits.
func (t *Region) Store(a Addr, b []byte) {
	if t.given {
		panic(fmt.Sprintf("r2: %s at %d ps: a region stores after its Abort", t.p.Name(), t.p.w.Local))
	}
	t.wrote = true
	if t.state == locked {
		t.p.Store(a, b)
		return
	}
	room := t.s.Store(a, b)
	t.p.stored(a, len(b))
	if !room && !t.full {
		t.full, t.ended = true, t.p.w.Local
	}
}

// Store64 writes a word.
func (t *Region) Store64(a Addr, v uint64) {
	binary.LittleEndian.PutUint64(t.word[:], v)
	t.Store(a, t.word[:])
}

// LocalCAS is a compare-and-swap among the region's loads and stores. One that finds another value only reads.
func (t *Region) LocalCAS(a Addr, old, new uint64) (prev uint64) {
	if prev = t.Load64(a); prev == old {
		t.Store64(a, new)
	}
	return prev
}

// Compute charges cycles of the core.
func (t *Region) Compute(cycles int) { t.p.Compute(cycles) }

// Abort has the body run again after others had their turn. The body returns at once
// after calling it. It must come before the first Store: under the fallback lock nothing
// takes stores back.
func (t *Region) Abort() {
	if t.wrote {
		panic(fmt.Sprintf("r2: %s at %d ps: a region aborts after a Store, which cannot be taken back under the fallback lock", t.p.Name(), t.p.w.Local))
	}
	t.given, t.ended = true, t.p.w.Local
}

// ChargeRegion charges a region of hardware transactional memory that computes so many cycles and that no conflict ends: of a private
// structure, whose accesses Touch charges. As an access, it takes no time where ChargeHandler's cycles have it.
func (p *Program) ChargeRegion(cycles int) {
	if !p.flat {
		w := p.w
		p.Compute(cycles)
		w.Charge(w.CPU.HTMBegin + w.CPU.HTMCommit)
	}
}

// HTMCounts are totals of all regions since time 0.
func (sys *System) HTMCounts() (all HTMCounts) {
	for _, mc := range sys.machines {
		all.add(&mc.htm)
	}
	return all
}

func (c *HTMCounts) add(o *HTMCounts) {
	c.Regions += o.Regions
	c.Commits += o.Commits
	c.DMA += o.DMA
	c.Core += o.Core
	c.Capacity += o.Capacity
	c.Switch += o.Switch
	c.Explicit += o.Explicit
	c.LockTaken += o.LockTaken
	c.Fallbacks += o.Fallbacks
}
