package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/knob"
	"drtmx/engine/membership"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/timestamp"
)

// model is what a perfect observer knows of the transactions of a test.
type model struct {
	*bed
	s         timestamp.Scheme
	all       []*modelTx
	last      []timestamp.Stamp // versions of a few records, and who reads them depends on them
	bad       []string
	committed int
	snapshots int
	retries   int
	lows      [][]uint64 // by machine
	epoch     int        // stamps of another one mean nothing
}

type modelTx struct {
	ts      timestamp.Stamp
	deps    []timestamp.Stamp
	settled bool // its versions are in place, or it has failed
}

// check holds a point against what is known: whatever it shows is in place, and so is all that this depends on.
func (m *model) check(machine int, p []uint64, what string) {
	for _, x := range m.all {
		if x.ts == 0 || !timestamp.Visible(x.ts, p) {
			continue
		}
		if !x.settled {
			m.bad = append(m.bad, fmt.Sprintf("%s %v shows %v, which is not in place", what, p, x.ts))
		}
		for _, d := range x.deps {
			if !timestamp.Visible(d, p) {
				m.bad = append(m.bad, fmt.Sprintf("%s %v shows %v without %v, which it depends on", what, p, x.ts, d))
			}
		}
	}
	if low := m.lows[machine]; !leq(low, p) {
		m.bad = append(m.bad, fmt.Sprintf("%s %v is below the low point %v of machine %d", what, p, low, machine))
	}
}

func leq(a, b []uint64) bool {
	for i := range a {
		if a[i] > b[i] {
			return false
		}
	}
	return true
}

// transaction is one that commits or fails, with random records and times.
func (m *model) transaction(c *r2.Co, session *timestamp.Session, x *timestamp.Txn) {
	r := c.Rand()
	m.s.Begin(c, x)
	at := r.Uint64n(uint64(len(m.last)))
	known := &modelTx{}
	for range r.Uint64n(3) {
		if v := m.last[r.Uint64n(uint64(len(m.last)))]; v != 0 {
			m.s.Saw(x, v)
			known.deps = append(known.deps, v)
		}
	}
	if v := m.last[at]; v != 0 {
		m.s.Over(x, 0, v)
		known.deps = append(known.deps, v)
	}
	m.all = append(m.all, known)
	if err := m.s.Draw(c, x); err == timestamp.ErrRetry {
		m.retries++
		return
	} else if err != nil {
		m.Error(err)
		return
	}
	known.ts = x.TS
	if r.Uint64n(50) == 0 {
		c.Sleep(r2.Time(r.Uint64n(50)) * sim.Microsecond) // a slow one
	} else {
		c.Sleep(r2.Time(r.Uint64n(3000)) * sim.Nanosecond)
	}
	known.settled = true
	if r.Uint64n(10) == 0 {
		m.s.Void(c, x)
		return
	}
	m.last[at] = x.TS
	m.s.Done(c, x, session)
	m.committed++
}

func (m *model) snapshot(c *r2.Co, session *timestamp.Session, p *timestamp.Point, before []uint64) []uint64 {
	f := timestamp.BySession
	if m.s.Traits().Words == 1 && m.values.Bool("ts.stable") && c.Rand().Uint64n(4) == 0 {
		f = timestamp.Strict
	}
	var ended []timestamp.Stamp
	if f == timestamp.Strict {
		for _, x := range m.all {
			if x.settled {
				ended = append(ended, x.ts)
			}
		}
	}
	if err := m.s.Point(c, session, f, p); err != nil {
		m.Error(err)
		return before
	}
	m.check(c.Machine(), p.Words, "a snapshot at")
	if !timestamp.Visible(session.Seen, p.Words) || !leq(before, p.Words) {
		m.bad = append(m.bad, fmt.Sprintf("a session that has seen %v and %v reads at %v", session.Seen, before, p.Words))
	}
	for _, ts := range ended {
		if !timestamp.Visible(ts, p.Words) {
			m.bad = append(m.bad, fmt.Sprintf("a strict snapshot at %v lacks %v, which had ended", p.Words, ts))
		}
	}
	m.snapshots++
	return slices.Clone(p.Words)
}

// play runs transactions and snapshots on all coroutines for some time, again behind each change, which is made at rest, and then
// lets them end.
func (m *model) play(us int64, changes ...func()) {
	m.Helper()
	stop := false
	for _, machine := range m.env.Members.Of(membership.Client) {
		for t := range m.cl.Threads(machine) {
			for range 4 {
				m.cl.Spawn(machine, t, func(c *r2.Co) { m.client(c, &stop) })
			}
		}
		m.cl.SpawnBackground(machine, 0, "low", func(c *r2.Co) { m.watchLow(c, &stop) })
	}
	m.run(us)
	for _, change := range changes {
		m.cl.ShutGate()
		for range 10_000 {
			if m.run(10); m.cl.Quiet() {
				break
			}
		}
		if text := m.s.(interface{ Stuck() string }).Stuck(); text != "" || !m.cl.Quiet() {
			m.Fatalf("it does not come to rest: %s %v", text, m.cl.Waiting(5))
		}
		change()
		m.s.(timestamp.Switched).Switch(true)
		m.epoch++
		clear(m.last)
		clear(m.lows)
		m.all = nil
		m.cl.OpenGate()
		m.run(us)
	}
	stop = true
	m.run(20_000)
}

// client runs transactions and snapshots until it is told to stop.
func (m *model) client(c *r2.Co, stop *bool) {
	var session timestamp.Session
	var x timestamp.Txn
	var p timestamp.Point
	var before []uint64
	epoch := 0
	for !*stop {
		c.Gate()
		if *stop {
			return
		}
		if epoch != m.epoch {
			session, before, epoch = timestamp.Session{}, nil, m.epoch
		}
		c.Reset()
		if c.Rand().Uint64n(3) == 0 {
			before = m.snapshot(c, &session, &p, before)
		} else {
			m.transaction(c, &session, &x)
		}
		c.Yield()
	}
}

// watchLow asks for a machine's low point again and again.
func (m *model) watchLow(c *r2.Co, stop *bool) {
	var p timestamp.Point
	for !*stop {
		c.Reset()
		epoch := m.epoch
		m.s.Low(c, &p)
		if epoch == m.epoch {
			if !leq(m.lows[c.Machine()], p.Words) {
				m.bad = append(m.bad, fmt.Sprintf("the low point of machine %d goes from %v to %v", c.Machine(), m.lows[c.Machine()], p.Words))
			}
			m.lows[c.Machine()] = slices.Clone(p.Words)
		}
		c.Sleep(7 * sim.Microsecond)
	}
}

func newModel(b *bed, s timestamp.Scheme) *model {
	return &model{bed: b, s: s, last: make([]timestamp.Stamp, 12), lows: make([][]uint64, b.cl.Machines())}
}

// Every combination of the switches, with and without losses, shows only what is in place and closed under dependencies, keeps sessions in
// order, and has everything stable in the end.
func TestPointsAreConsistent(t *testing.T) {
	for _, scheme := range []string{"gts", "vts"} {
		for bits := range 16 {
			set := knob.Values{"ts.batching": bits&1 > 0, "ts.fetch_thread": bits&2 > 0, "ts.stable": bits&4 == 0, "ts.compression": bits&8 > 0}
			if scheme == "gts" && bits&8 > 0 {
				continue
			}
			for _, loss := range []uint32{0, 20_000} {
				t.Run(fmt.Sprintf("%s %v loss %d", scheme, set, loss), func(t *testing.T) {
					b := newBed(t, 3, 2, fabric.Config{LossPPM: loss}, set)
					s := map[string]func() timestamp.Scheme{"gts": func() timestamp.Scheme { return b.gts() }, "vts": func() timestamp.Scheme { return b.vts() }}[scheme]()
					m := newModel(b, s)
					m.play(2_000)
					m.judgeUnstable(scheme, set.Bool("ts.stable"))
					m.judge(scheme == "gts" && !set.Bool("ts.stable"))
				})
			}
		}
	}
}

// judge has what is wrong, of which a snapshot that waits for writers may show numbers that are not in place yet.
func (m *model) judge(waits bool) {
	m.Helper()
	bad := slices.DeleteFunc(m.bad, func(s string) bool {
		return waits && (strings.Contains(s, "is not in place") || strings.Contains(s, "depends on"))
	})
	if len(bad) > 0 {
		m.Errorf("%d faults, the first: %s", len(bad), bad[0])
	}
	if text := m.s.(interface{ Stuck() string }).Stuck(); text != "" && !waits {
		m.Error(text)
	}
	if m.committed < 100 || m.snapshots < 50 {
		m.Errorf("%d commits and %d snapshots: too few to say anything", m.committed, m.snapshots)
	}
}

// judgeUnstable has what becomes of those who need what is not in place: with stable timestamps nobody does, without them a snapshot under GTS reads
// beyond it, so that it has to wait for writers, and a transaction under VTS is tried again.
func (m *model) judgeUnstable(scheme string, stable bool) {
	m.Helper()
	beyond := slices.ContainsFunc(m.bad, func(s string) bool { return strings.Contains(s, "is not in place") })
	if beyond != (scheme == "gts" && !stable) || (m.retries > 0) != (scheme == "vts" && !stable) {
		m.Errorf("stable %v: a snapshot reads beyond what is in place: %v; %d transactions were tried again", stable, beyond, m.retries)
	}
}

// The switches may change at rest, each to its other value and back.
func TestSwitchesChangeAtRest(t *testing.T) {
	for _, scheme := range []string{"gts", "vts"} {
		b := newBed(t, 3, 2, fabric.Config{LossPPM: 5_000}, nil)
		s := map[string]func() timestamp.Scheme{"gts": func() timestamp.Scheme { return b.gts() }, "vts": func() timestamp.Scheme { return b.vts() }}[scheme]()
		m := newModel(b, s)
		var changes []func()
		for _, name := range []string{"ts.stable", "ts.compression", "ts.fetch_thread", "ts.batching", "ts.stable", "ts.stable", "ts.compression", "ts.fetch_thread", "ts.stable"} {
			changes = append(changes, func() { b.values[name] = !b.values.Bool(name) })
		}
		m.play(500, changes...)
		m.judge(scheme == "gts")
		if text := s.(interface{ Stuck() string }).Stuck(); text != "" {
			t.Error(text)
		}
	}
}

// While a message is out a worker's requests gather, so that there are fewer messages for as many numbers: those that GTS draws, those that
// VTS installs, and points of either.
func TestBatchingSavesMessages(t *testing.T) {
	for _, x := range []struct {
		name string
		of   func(b *bed) (timestamp.Scheme, *service)
	}{
		{"numbers of GTS", func(b *bed) (timestamp.Scheme, *service) { s := b.gts(); return s, s.draws }},
		{"numbers of GTS to install", func(b *bed) (timestamp.Scheme, *service) { s := b.gts(); return s, s.installs }},
		{"numbers of VTS to install", func(b *bed) (timestamp.Scheme, *service) { s := b.vts(); return s, s.installs }},
		{"points of VTS", func(b *bed) (timestamp.Scheme, *service) { s := b.vts(); return s, s.reading }},
	} {
		per := func(batching bool) float64 {
			b := newBed(t, 3, 2, fabric.Config{}, knob.Values{"ts.batching": batching})
			s, service := x.of(b)
			messages, requests := 0, 0
			send := service.send
			service.send = func(c *r2.Co, batch []*request) error {
				messages++
				requests += len(batch)
				return send(c, batch)
			}
			newModel(b, s).play(1_000)
			return float64(requests) / float64(messages)
		}
		if alone, together := per(false), per(true); alone != 1 || together < 1.1 {
			t.Errorf("%s: %.2f in a message, with batching %.2f", x.name, alone, together)
		}
	}
}

// The fetch thread asks the oracle for all snapshots of its machine, and no coroutine of it runs transactions. Without it each snapshot asks.
func TestFetchThread(t *testing.T) {
	for _, scheme := range []string{"gts", "vts"} {
		for _, fetching := range []bool{true, false} {
			b := newBed(t, 2, 2, fabric.Config{}, knob.Values{"ts.fetch_thread": fetching, "ts.fetch_ns": 20_000})
			var s timestamp.Scheme
			var served *counts
			if scheme == "gts" {
				x := b.gts()
				s, served = x, &x.server.counts
			} else {
				x := b.vts()
				s, served = x, &x.workers.counts
			}
			ran := [2]int{}
			for t := range 2 {
				for range 4 {
					b.cl.Spawn(0, t, func(c *r2.Co) {
						var p timestamp.Point
						for {
							c.Gate()
							c.Reset()
							if err := s.Point(c, new(timestamp.Session), timestamp.Stale, &p); err != nil {
								b.Error(err)
							}
							ran[t]++
							c.Yield()
						}
					})
				}
			}
			b.run(2_000)
			switch n := int(served.points); {
			case fetching && (n < 50 || n > 101 || ran[0] < 10*n || ran[1] != 0):
				t.Errorf("%s: %d points from the oracle, %d snapshots, and %d on the fetch thread", scheme, n, ran[0], ran[1])
			case !fetching && (ran[0] == 0 || ran[1] == 0 || n < ran[0]+ran[1] || n > ran[0]+ran[1]+8):
				t.Errorf("%s: %d points from the oracle for %d and %d snapshots of two threads", scheme, n, ran[0], ran[1])
			}
		}
	}
}

// Compression leaves a slot for each machine where each worker had one, so that points, and messages with them, are as much shorter.
func TestCompressionShortensPoints(t *testing.T) {
	const machines, threads = 3, 4
	for compression, slots := range map[bool]int{false: machines * threads, true: machines} { // order-free: each is a bed of its own
		b := newBed(t, machines, threads, fabric.Config{}, knob.Values{"ts.compression": compression})
		s := b.vts()
		for m := range machines { // the last worker of each has a slot, or its machine's
			var x timestamp.Txn
			b.draw(s, m, threads-1, &x)
			b.done(s, m, threads-1, &x)
			if want := (m+1)*slots/machines - 1; x.TS.Slot() != want || x.TS.Counter() != 1 {
				t.Errorf("compression %v: the last worker of machine %d draws %d in slot %d, want slot %d", compression, m, x.TS.Counter(), x.TS.Slot(), want)
			}
		}
		seen := uint64(0)
		p := b.point(s, 0, 0)
		for _, n := range p {
			seen += n
		}
		if len(p) != slots || s.Traits().Words != slots || seen != machines {
			t.Errorf("compression %v: a snapshot reads at %v, a host is told of %d words, want %d", compression, p, s.Traits().Words, slots)
		}
		b.do(machines, 0, func(c *r2.Co) {
			if n := s.servePoint(c, r2.Peer{}, nil, make([]byte, 1024)); n != 8*slots {
				t.Errorf("compression %v: the oracle answers %d bytes, want %d", compression, n, 8*slots)
			}
		})
	}
}
