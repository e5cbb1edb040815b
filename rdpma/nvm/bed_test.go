package nvm

import (
	"testing"

	"drtmx/engine/sim"
)

// optane is a socket with the numbers of thesis §2.1 and of the public
// descriptions of the first generation: 320 Gbps of reads and 52 M XLines/s of
// writes over six DIMMs, 16 KB of buffer and 16 MB of translations in each.
func optane() Config {
	return Config{
		DIMMs: 6, InterleaveBytes: 4096,
		XLineBytes: 256, XBufferXLines: 64, WritebackQueue: 4, WriteQueue: 4, ReadQueue: 64,
		ControllerReadPS: 3000, ControllerWritePS: 3000,
		ReadHitPS: 100_000, MediaReadPS: 75_000, TranslationMissPS: 40_000,
		TranslationPages: 4096, TranslationPageBytes: 4096,
		MediaReadBytesPerSec: 40_000_000_000 / 6, MediaWriteBytesPerSec: 52_000_000 * 256 / 6,
		WearWrites: 896, WearBlockXLines: 256, WearCounters: 4096, WearPS: 202_500,
	}
}

// oneDIMM is a single DIMM, where line numbers are those of the DIMM.
func oneDIMM() Config {
	c := optane()
	c.DIMMs = 1
	return c
}

func newDevice(t testing.TB, c Config) *Device {
	t.Helper()
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func stream(name string, id uint64) *sim.Rand { return sim.New(sim.Options{Seed: 7}).Stream(name, id) }

// flow is a source of writes in order, of which a number may wait outside of the
// write pending queues.
type flow struct {
	d       *Device
	now     sim.Time
	waiting []sim.Time // until when, in a ring
	next    int
}

func newFlow(d *Device, outstanding int) *flow {
	return &flow{d: d, waiting: make([]sim.Time, outstanding)}
}

// write writes a line as soon as one may, not before at.
func (f *flow) write(at sim.Time, line uint64) {
	f.now = max(f.now, at, f.waiting[f.next])
	f.waiting[f.next] = f.d.Write(f.now, line)
	f.next = (f.next + 1) % len(f.waiting)
}

// rate writes n lines as fast as possible, the first half of them to fill the
// buffers. It returns the rate of the second half, in bits and in lines.
func (f *flow) rate(n int, line func(i int) uint64) (gbit, million float64) {
	for i := range n / 2 {
		f.write(0, line(i))
	}
	began := f.now
	f.d.ResetStats()
	for i := n / 2; i < n; i++ {
		f.write(0, line(i))
	}
	return gbps(n-n/2, f.now-began), mps(n-n/2, f.now-began)
}

// gbps is a rate of lines, in bits.
func gbps(lines int, took sim.Time) float64 {
	return float64(lines) * LineBytes * 8 * 1000 / float64(took)
}

// mps is a rate in millions per second.
func mps(n int, took sim.Time) float64 { return float64(n) * 1e6 / float64(took) }

// cores are threads that copy payloads to NVM with non-temporal stores. Each has
// some write-combining buffers: a line stays in one until the memory controller
// accepts it, and meanwhile the core fills the others. The way to the controller
// keeps no order: when there is room, any of the waiting lines may be next.
type cores struct {
	s       *sim.Sim
	d       *Device
	rand    *sim.Rand
	waiting []coreLine
	threads []coreThread
	armed   bool
	grant   sim.Kind
	done    int // lines accepted
	inOrder bool
	payload int // lines of a request
	regions uint64
}

type coreLine struct {
	line   uint64
	thread int
}

type coreThread struct {
	rand *sim.Rand
	base uint64
	sent int
}

// run lets threads write payload lines at random places of the first DIMM for a
// time, and returns how many lines were accepted in its second half.
func (c *cores) run(threads, buffers int, during sim.Time) int {
	c.grant = c.s.Register("grant", func(uint32) { c.serve() })
	c.regions = 4096
	for i := range threads {
		c.threads = append(c.threads, coreThread{rand: c.s.Stream("thread", uint64(i))})
		for range buffers {
			c.issue(i)
		}
	}
	c.arm()
	if err := c.s.Run(during / 2); err != nil {
		panic(err)
	}
	before := c.done
	c.d.ResetStats()
	if err := c.s.Run(during); err != nil {
		panic(err)
	}
	return c.done - before
}

// issue puts the next line of a thread into one of its buffers.
func (c *cores) issue(i int) {
	t := &c.threads[i]
	if t.sent%c.payload == 0 {
		unit := uint64(c.d.config.InterleaveBytes / LineBytes)
		perUnit := unit / uint64(c.payload)
		r := t.rand.Uint64n(c.regions * perUnit)
		t.base = r/perUnit*unit*uint64(c.d.config.DIMMs) + r%perUnit*uint64(c.payload)
	}
	c.waiting = append(c.waiting, coreLine{t.base + uint64(t.sent%c.payload), i})
	t.sent++
}

func (c *cores) arm() {
	if !c.armed && len(c.waiting) > 0 {
		c.armed = true
		c.s.At(max(c.s.Now(), c.d.Room(0)), c.grant, 0)
	}
}

func (c *cores) serve() {
	c.armed = false
	k := 0
	if !c.inOrder {
		k = c.rand.Intn(len(c.waiting))
	}
	l := c.waiting[k]
	c.waiting = append(c.waiting[:k], c.waiting[k+1:]...)
	if c.d.Write(c.s.Now(), l.line) != c.s.Now() {
		panic("a write waits although there was room")
	}
	c.done++
	c.issue(l.thread)
	c.arm()
}

// ntstore measures cores that write 2,048 bytes at a time to one DIMM.
func ntstore(t testing.TB, cfg Config, threads int, inOrder bool, buffers int) (gbit float64, s Stats) {
	t.Helper()
	d := newDevice(t, cfg)
	s0 := sim.New(sim.Options{Seed: 3})
	defer s0.Close()
	c := &cores{s: s0, d: d, rand: s0.Stream("arbiter", 0), payload: 2048 / LineBytes, inOrder: inOrder}
	const during = 2 * sim.Millisecond
	n := c.run(threads, buffers, during)
	if n, worst := d.OutOfOrder(); n > 0 {
		t.Errorf("%d calls out of order, by up to %d ps", n, worst)
	}
	return gbps(n, during/2), d.DIMMStats(0)
}
