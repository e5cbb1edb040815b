package dst

import (
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/r2/clocks"
	"drtmx/engine/sim"
	"drtmx/engine/timestamp"
)

// hybridBed runs a body on DST of two machines, whose clocks show what the body says.
func hybridBed(t *testing.T, body func(h *hybrid, c *r2.Co, clock *[2]uint64, o *timestamp.Options)) {
	t.Helper()
	s, env := timeBed(t, 2, 0, nil)
	var clock [2]uint64
	var o timestamp.Options
	env.Clocks, env.Options = clocks.Fixed(func(m int) uint64 { return clock[m] }), func() *timestamp.Options { return &o }
	h, err := openHybrid(env)
	if err != nil {
		t.Fatal(err)
	}
	done := false
	env.Cluster.Spawn(0, 0, func(c *r2.Co) {
		body(h, c, &clock, &o)
		done = true
	})
	for range 1000 {
		if err := s.Run(s.Now() + sim.Millisecond); err != nil {
			t.Fatal(err)
		}
		if done {
			return
		}
	}
	t.Fatal("the body does not end")
}

// START is what the clock shows, or LocalTS where that is larger; an attempt before leaves nothing (Figure 5-7).
func TestStartIsAtLeastLocalTS(t *testing.T) {
	hybridBed(t, func(h *hybrid, c *r2.Co, clock *[2]uint64, _ *timestamp.Options) {
		for _, x := range []struct {
			clock uint64
			local timestamp.Stamp // what the worker commits with before
			want  timestamp.Stamp
		}{
			{100, 0, timestamp.Hybrid(100, 0)},
			{100, timestamp.Hybrid(100, 7), timestamp.Hybrid(100, 7)},
			{200, timestamp.Hybrid(150, 9), timestamp.Hybrid(200, 0)},
			{210, timestamp.Hybrid(5000, 1), timestamp.Hybrid(5000, 1)},
			{220, timestamp.Hybrid(300, 0), timestamp.Hybrid(5000, 1)}, // a smaller commit takes nothing back
			{5001, 0, timestamp.Hybrid(5001, 0)},
		} {
			clock[0] = x.clock
			tx, session := timestamp.Txn{TS: x.local}, timestamp.Session{}
			h.Done(c, &tx, &session)
			if tx = (timestamp.Txn{TS: 1 << 60, Deps: []timestamp.Stamp{3}, Drawn: true}); session.Seen != x.local {
				t.Errorf("a session that has committed with %v has seen %v", x.local, session.Seen)
			}
			h.Begin(c, &tx)
			if tx.TS != x.want || tx.Drawn || len(tx.Deps) != 0 {
				t.Errorf("behind a commit with %d, with the clock at %d, START gives %+v, want %d", x.local, x.clock, tx, x.want)
			}
		}
	})
}

// write is a transaction that overwrites one tuple, and its stamp.
func (h *hybrid) write(c *r2.Co, tuple, version timestamp.Stamp) timestamp.Stamp {
	var x timestamp.Txn
	var session timestamp.Session
	h.Begin(c, &x)
	h.Over(&x, tuple, version)
	h.Draw(c, &x)
	h.Wait(c, &x)
	h.Done(c, &x, &session)
	return x.TS
}

// While the clock goes back, or stands still for more writes than the logical part counts, the stamps of a tuple grow, and so do those
// at which a worker's transactions start.
func TestStampsGrowWhateverTheClockDoes(t *testing.T) {
	hybridBed(t, func(h *hybrid, c *r2.Co, clock *[2]uint64, _ *timestamp.Options) {
		var last, started timestamp.Stamp
		for _, now := range []uint64{1000, 1500, 900, 899, 0, 1499, 1500, 1501, 3} {
			clock[0] = now
			if start := h.now(c); start < started || start < last {
				t.Errorf("the clock at %d: START gives %d after %d", now, start, started)
			} else {
				started = start
			}
			ts := h.write(c, last, last)
			if ts <= last || ts < timestamp.Hybrid(now, 0) {
				t.Errorf("the clock at %d: the stamp %d follows %d", now, ts, last)
			}
			last = ts
		}
		if last.Physical() != 1501 {
			t.Errorf("the last stamp is of %d, the clock has shown 1501 at most", last.Physical())
		}
		clock[0] = 2000
		for range 1<<16 + 5 { // the logical part has 16 bits
			ts := h.write(c, last, last)
			if ts <= last {
				t.Fatalf("the stamp %d follows %d", ts, last)
			}
			last = ts
		}
		if last != timestamp.Hybrid(2001, 4) {
			t.Errorf("65541 writes at 2000 ns end at %d and %d, want 2001 and 4", last.Physical(), last.Logical())
		}
	})
}

// What another machine has stamped, with its logical part full or its clock ahead, carries into the physical part here.
func TestOverflowOfWhatOthersHaveStamped(t *testing.T) {
	hybridBed(t, func(h *hybrid, c *r2.Co, clock *[2]uint64, _ *timestamp.Options) {
		clock[0] = 100
		full := timestamp.Hybrid(700, 0xffff)
		for what, learn := range map[string]func(x *timestamp.Txn){ // order-free: each is a transaction of its own
			"read a version":         func(x *timestamp.Txn) { h.Saw(x, full) },
			"overwritten a version":  func(x *timestamp.Txn) { h.Over(x, 0, full) },
			"overwritten its reader": func(x *timestamp.Txn) { h.Over(x, full, 3) },
		} {
			var x timestamp.Txn
			if h.Begin(c, &x); x.TS != timestamp.Hybrid(100, 0) {
				t.Fatalf("START gives %d", x.TS)
			}
			if learn(&x); x.TS != timestamp.Hybrid(701, 0) {
				t.Errorf("who has %s has %d and %d, want 701 and 0", what, x.TS.Physical(), x.TS.Logical())
			}
		}
		if ts := h.write(c, full, 0); ts != timestamp.Hybrid(701, 0) || h.now(c) != ts {
			t.Errorf("LocalTS is %d behind %d", h.now(c), ts)
		}
	})
}

// A stale snapshot reads the staleness before now, one of a session no earlier than what that has seen, and none before time began. The low
// point of a machine, by which versions are collected, goes back neither with the clock nor when the staleness is raised.
func TestStalePointsAndLowPoints(t *testing.T) {
	hybridBed(t, func(h *hybrid, c *r2.Co, clock *[2]uint64, o *timestamp.Options) {
		session := timestamp.Session{Seen: timestamp.Hybrid(880, 5)}
		for _, x := range []struct {
			clock     uint64
			staleness int64
			f         timestamp.Freshness
			want, low timestamp.Stamp
		}{
			{1000, 0, timestamp.Stale, timestamp.Hybrid(1000, 0), timestamp.Hybrid(1000, 0)},
			{1000, 150, timestamp.Stale, timestamp.Hybrid(850, 0), timestamp.Hybrid(1000, 0)},
			{1000, 150, timestamp.BySession, timestamp.Hybrid(880, 5), timestamp.Hybrid(1000, 0)},
			{1000, 100, timestamp.BySession, timestamp.Hybrid(900, 0), timestamp.Hybrid(1000, 0)},
			{1000, 2000, timestamp.Stale, 0, timestamp.Hybrid(1000, 0)},
			{1000, 2000, timestamp.BySession, timestamp.Hybrid(900, 0), timestamp.Hybrid(1000, 0)}, // it has read there
			{700, 0, timestamp.Stale, timestamp.Hybrid(700, 0), timestamp.Hybrid(1000, 0)},
			{1300, 200, timestamp.Stale, timestamp.Hybrid(1100, 0), timestamp.Hybrid(1100, 0)},
			{1300, 500, timestamp.Stale, timestamp.Hybrid(800, 0), timestamp.Hybrid(1100, 0)},
			{1300, 0, timestamp.Stale, timestamp.Hybrid(1300, 0), timestamp.Hybrid(1300, 0)},
		} {
			clock[0], o.StalenessNS = x.clock, x.staleness
			var p, low timestamp.Point
			if err := h.Point(c, &session, x.f, &p); err != nil || p.Words[0] != uint64(x.want) || len(p.Words) != 1 {
				t.Errorf("%+v: the snapshot reads at %v, %v", x, p.Words, err)
			}
			if h.Low(c, &low); low.Words[0] != uint64(x.low) {
				t.Errorf("%+v: the low point is %v", x, low.Words)
			}
			if bound, ok := h.Bound(); !ok || bound != x.staleness {
				t.Errorf("%+v: clocks that never differ have a bound of %d", x, bound)
			}
		}
		// A worker whose last commit is ahead of its clock begins there.
		clock[0], o.StalenessNS = 1000, 300
		h.local.raise(c, timestamp.Hybrid(4000, 2))
		var p timestamp.Point
		if h.Point(c, new(timestamp.Session), timestamp.Stale, &p); p.Words[0] != uint64(timestamp.Hybrid(3700, 2)) {
			t.Errorf("behind a commit with 4000 ns a snapshot 300 ns old reads at %d ns", timestamp.Stamp(p.Words[0]).Physical())
		}
	})
}
