package nvm

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"drtmx/engine/sim"

	"pgregory.net/rapid"
)

func TestValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		want   string // in the error; none when empty
	}{
		{"as it is", func(*Config) {}, ""},
		{"lines as XLines", func(c *Config) { c.XLineBytes = 64 }, ""},
		{"no wear levelling needs no blocks", func(c *Config) { c.WearWrites, c.WearBlockXLines, c.WearCounters = 0, 0, 0 }, ""},
		{"no DIMMs", func(c *Config) { c.DIMMs = 0 }, "DIMMs 0 is not in 1 .. 64"},
		{"interleaving by 3000", func(c *Config) { c.InterleaveBytes = 3000 }, "InterleaveBytes 3000 is not a power of two"},
		{"interleaving below an XLine", func(c *Config) { c.InterleaveBytes = 128 }, "InterleaveBytes 128 is less than XLineBytes 256"},
		{"small XLine", func(c *Config) { c.XLineBytes = 32 }, "XLineBytes 32 is not in 64 .. 4096"},
		{"odd XLine", func(c *Config) { c.XLineBytes = 192 }, "XLineBytes 192 is not a power of two"},
		{"no buffer", func(c *Config) { c.XBufferXLines = 0 }, "XBufferXLines 0"},
		{"no write-back queue", func(c *Config) { c.WritebackQueue = 0 }, "WritebackQueue 0"},
		{"no write queue", func(c *Config) { c.WriteQueue = -1 }, "WriteQueue -1"},
		{"no read queue", func(c *Config) { c.ReadQueue = 0 }, "ReadQueue 0"},
		{"negative time", func(c *Config) { c.ReadHitPS = -5 }, "ReadHitPS -5"},
		{"no translations", func(c *Config) { c.TranslationPages = 0 }, "TranslationPages 0"},
		{"small pages", func(c *Config) { c.TranslationPageBytes = 64 }, "TranslationPageBytes 64 is less than XLineBytes 256"},
		{"no bandwidth", func(c *Config) { c.MediaWriteBytesPerSec = 0 }, "MediaWriteBytesPerSec 0"},
		{"wear of too many writes", func(c *Config) { c.WearWrites = 1 << 16 }, "WearWrites 65536"},
		{"wear without blocks", func(c *Config) { c.WearBlockXLines = 0 }, "WearBlockXLines 0"},
		{"wear without counters", func(c *Config) { c.WearCounters = 0 }, "WearCounters 0"},
	}
	for _, tt := range tests {
		c := optane()
		tt.change(&c)
		_, err := New(c)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// §2.3.4.1: the first and the seventh 4 KB are on the first DIMM, the second on
// the second.
func TestInterleaving(t *testing.T) {
	d := newDevice(t, optane())
	for _, tt := range []struct {
		line uint64
		dimm int
	}{{0, 0}, {63, 0}, {64, 1}, {127, 1}, {320, 5}, {383, 5}, {384, 0}, {448, 1}} {
		if got := d.DIMM(tt.line); got != tt.dimm {
			t.Errorf("line %d is on DIMM %d, want %d", tt.line, got, tt.dimm)
		}
	}
	r := stream("lines", 0)
	for n := 1; n <= 64; n++ {
		c := optane()
		c.DIMMs, c.TranslationPages = n, 1
		d := newDevice(t, c)
		for range 1000 {
			line := r.Uint64() >> (6 + r.Uint64n(58))
			if got, want := d.DIMM(line), int(line/64%uint64(n)); got != want {
				t.Fatalf("line %d is on DIMM %d of %d, want %d", line, got, n, want)
			}
		}
	}
	for line := range uint64(6 * 64) {
		d.Write(0, line+1<<20*6*64)
	}
	for i := range 6 {
		if s := d.DIMMStats(i); s.WriteReq != 64 || s.BufferXLines != 16 {
			t.Errorf("DIMM %d: %d writes of 64, %d XLines of 16", i, s.WriteReq, s.BufferXLines)
		}
	}
}

// What a sequence of requests does, case by case, on one DIMM.
func TestBuffer(t *testing.T) {
	type op struct {
		write bool
		line  uint64
	}
	w := func(lines ...uint64) (ops []op) {
		for _, l := range lines {
			ops = append(ops, op{true, l})
		}
		return ops
	}
	r := func(lines ...uint64) (ops []op) {
		for _, l := range lines {
			ops = append(ops, op{false, l})
		}
		return ops
	}
	join := func(parts ...[]op) (ops []op) {
		for _, p := range parts {
			ops = append(ops, p...)
		}
		return ops
	}
	tests := []struct {
		name string
		ops  []op
		want Stats // counters after a flush, in XLines where it is media
	}{
		{"complete", w(0, 1, 2, 3), Stats{WriteHits: 3, FullWritebacks: 1, MediaWrite: 4}},
		{"complete in any order", w(2, 0, 3, 1), Stats{WriteHits: 3, FullWritebacks: 1, MediaWrite: 4}},
		{"incomplete", w(0, 1, 2), Stats{WriteHits: 2, PartialWritebacks: 1, MediaWrite: 4, MediaRead: 4}},
		{"overwritten", w(0, 0, 0), Stats{WriteHits: 2, Overwritten: 2, PartialWritebacks: 1, MediaWrite: 4, MediaRead: 4}},
		{"read before", join(r(1), w(1)), Stats{WriteHits: 1, FullWritebacks: 1, MediaWrite: 4, MediaRead: 4}},
		{"read of what was written", join(w(5), r(5)), Stats{ReadHits: 1, PartialWritebacks: 1, MediaWrite: 4, MediaRead: 4}},
		{"read of its neighbour", join(w(5), r(6, 7)), Stats{ReadHits: 1, FullWritebacks: 1, MediaWrite: 4, MediaRead: 4}},
		{"read of four", r(0, 1, 2, 3), Stats{ReadHits: 3, MediaRead: 4}},
		{"complete stays for reads", join(w(0, 1, 2, 3), r(0)), Stats{WriteHits: 3, ReadHits: 1, FullWritebacks: 1, MediaWrite: 4}},
		{"complete and once more", join(w(0, 1, 2, 3), w(0)), Stats{WriteHits: 4, FullWritebacks: 2, MediaWrite: 8}},
		{"displaced by two others", join(w(0), w(4), w(8), w(1)), Stats{PartialWritebacks: 4, MediaWrite: 16, MediaRead: 16}},
		{"displaced by reads", join(w(0), r(4), r(8), w(1)), Stats{PartialWritebacks: 2, MediaWrite: 8, MediaRead: 16}},
		{"kept by use", join(w(0), w(4), w(1), w(8), w(2, 3)), Stats{WriteHits: 3, FullWritebacks: 1, PartialWritebacks: 2, MediaWrite: 12, MediaRead: 8}},
	}
	for _, tt := range tests {
		c := oneDIMM()
		c.XBufferXLines = 2
		d := newDevice(t, c)
		var at sim.Time
		for _, o := range tt.ops {
			at += sim.Microsecond // so long that nothing waits
			if o.write {
				d.Write(at, o.line)
				tt.want.WriteReq++
			} else {
				d.Read(at, o.line)
				tt.want.ReadReq++
			}
		}
		d.Flush(at + sim.Microsecond)
		got := d.Stats()
		got.ControllerBusyPS = 0
		got.TranslationMisses, got.BufferXLines = 0, 0
		if got != tt.want {
			t.Errorf("%s:\n%+v, want\n%+v", tt.name, got, tt.want)
		}
	}
}

// drawConfig is a small device, so that everything fills up.
func drawConfig(t *rapid.T, dimms int) Config {
	c := optane()
	c.DIMMs = dimms
	c.XLineBytes = rapid.SampledFrom([]int{64, 256, 1024}).Draw(t, "XLineBytes")
	c.XBufferXLines = rapid.IntRange(1, 6).Draw(t, "XBufferXLines")
	c.WritebackQueue = rapid.IntRange(1, 4).Draw(t, "WritebackQueue")
	c.WriteQueue = rapid.IntRange(1, 5).Draw(t, "WriteQueue")
	c.ReadQueue = rapid.IntRange(1, 5).Draw(t, "ReadQueue")
	c.TranslationPages = rapid.IntRange(1, 3).Draw(t, "TranslationPages")
	c.MediaShared = rapid.Bool().Draw(t, "MediaShared")
	c.WearWrites = 0
	return c
}

type request struct {
	at    sim.Time
	line  uint64
	write bool
}

func drawRequests(t *rapid.T) (rs []request) {
	var at sim.Time
	gap := rapid.SampledFrom([]sim.Time{0, 5_000, 100_000}).Draw(t, "gap")
	lines := rapid.SampledFrom([]uint64{40, 400}).Draw(t, "lines")
	for range rapid.IntRange(1, 300).Draw(t, "requests") {
		at += sim.Time(rapid.Int64Range(0, gap).Draw(t, "after"))
		rs = append(rs, request{at, rapid.Uint64Range(0, lines-1).Draw(t, "line"), rapid.IntRange(0, 2).Draw(t, "kind") > 0})
	}
	return rs
}

func (r request) send(d interface {
	Read(sim.Time, uint64) sim.Time
	Write(sim.Time, uint64) sim.Time
}) sim.Time {
	if r.write {
		return d.Write(r.at, r.line)
	}
	return d.Read(r.at, r.line)
}

// The device against the plain one: the same times, the same counters.
func TestLikePlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t, 1)
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		p := &plain{c: c}
		for i, r := range drawRequests(t) {
			if got, want := r.send(d), r.send(p); got != want {
				t.Fatalf("request %d %+v: %d, want %d", i, r, got, want)
			}
		}
		got, want := d.Stats(), p.s
		if got.DirtyLines != p.dirtyLines() || got.BufferXLines != len(p.buffer) {
			t.Errorf("%d lines in %d XLines, want %d in %d", got.DirtyLines, got.BufferXLines, p.dirtyLines(), len(p.buffer))
		}
		got.DirtyLines, got.BufferXLines = 0, 0
		got.ControllerBusyPS, got.ControllerHeldPS, got.WriteWaitPS = 0, 0, 0
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// What holds for any sequence of requests.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t, rapid.IntRange(1, 3).Draw(t, "DIMMs"))
		c.InterleaveBytes = 1024
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		hit, _ := c.IdleRead()
		seen := map[uint64]bool{}
		accepted := make([]sim.Time, c.DIMMs)
		var last sim.Time
		for _, r := range drawRequests(t) {
			at := r.send(d)
			last = max(last, at)
			dimm := d.DIMM(r.line)
			switch {
			case !r.write && at < r.at+hit:
				t.Fatalf("read at %d is there at %d, before a hit would be", r.at, at)
			case r.write && (at < r.at || at < accepted[dimm]):
				t.Fatalf("write at %d accepted at %d, the one before at %d", r.at, at, accepted[dimm])
			case r.write:
				seen[r.line] = true
				accepted[dimm] = at
			}
		}
		end := d.Flush(last)
		s := d.Stats()
		lines := uint64(c.XLineBytes / LineBytes)
		switch {
		case s.DirtyLines != 0:
			t.Errorf("%d lines are left after a flush", s.DirtyLines)
		case s.MediaWrite < uint64(len(seen)) || s.MediaWrite > lines*(s.WriteReq-s.Overwritten):
			t.Errorf("%d media writes of %d lines, %d writes", s.MediaWrite, len(seen), s.WriteReq)
		case s.MediaRead > lines*(s.ReadReq+s.WriteReq):
			t.Errorf("%d media reads, %d requests", s.MediaRead, s.ReadReq+s.WriteReq)
		case int64(s.MediaWrite/lines)*c.mediaTime(c.MediaWriteBytesPerSec) > int64(c.DIMMs)*end:
			t.Errorf("%d media writes until %d, faster than the media", s.MediaWrite, end)
		}
	})
}

// The DIMMs of a socket do not know of each other: a device of several is as many
// devices of one.
func TestDIMMsAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t, 3)
		c.InterleaveBytes = 1024
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		c.DIMMs = 1
		var alone [3]*Device
		for i := range alone {
			if alone[i], err = New(c); err != nil {
				t.Fatal(err)
			}
		}
		for i, r := range drawRequests(t) {
			got := r.send(d)
			dimm := d.DIMM(r.line)
			r.line = r.line/48*16 + r.line%16
			if want := r.send(alone[dimm]); got != want {
				t.Fatalf("request %d: %d, want %d", i, got, want)
			}
		}
		for i := range alone {
			if got, want := d.DIMMStats(i), alone[i].Stats(); got != want {
				t.Errorf("DIMM %d: %+v, want %+v", i, got, want)
			}
		}
	})
}

// Equal requests give equal times, on every machine.
func TestDeterminism(t *testing.T) {
	digest := func() uint64 {
		d := newDevice(t, optane())
		r := stream("digest", 0)
		h := fnv.New64a()
		var at sim.Time
		var base uint64
		for i := range 50_000 {
			if i%8 == 0 {
				base = r.Uint64n(1 << 20)
			}
			at += sim.Time(r.Uint64n(8000))
			q := request{at, base + r.Uint64n(8), r.Intn(3) > 0}
			end := q.send(d)
			for k := range 8 {
				_, _ = h.Write([]byte{byte(end >> (8 * k))})
			}
		}
		return h.Sum64()
	}
	const want = 0x6cc253b31d7d548f
	if a, b := digest(), digest(); a != b || a != want {
		t.Errorf("digests %#x and %#x, want %#x", a, b, uint64(want))
	}
}

// Counters start again, what is in the buffers stays.
func TestResetStats(t *testing.T) {
	d := newDevice(t, oneDIMM())
	d.Write(0, 0)
	d.Write(0, 1)
	d.Read(0, 64)
	d.ResetStats()
	if s := d.Stats(); s != (Stats{BufferXLines: 2, DirtyLines: 2}) {
		t.Errorf("after a reset: %+v", s)
	}
	d.Write(0, 2)
	d.Write(0, 3)
	d.Flush(0)
	if s := d.Stats(); s.WriteReq != 2 || s.MediaWrite != 4 || s.MediaRead != 0 || s.DirtyLines != 0 {
		t.Errorf("the XLine was complete: %+v", s)
	}
}

func TestOutOfOrder(t *testing.T) {
	d := newDevice(t, optane())
	d.Write(100, 0)
	d.Write(40, 64) // another DIMM
	if n, _ := d.OutOfOrder(); n != 0 {
		t.Errorf("%d out of order", n)
	}
	d.Read(70, 1)
	d.Read(100, 1)
	d.Write(90, 1)
	if n, worst := d.OutOfOrder(); n != 2 || worst != 30 {
		t.Errorf("%d out of order by up to %d, want 2 by up to 30", n, worst)
	}
}

// A block that is written over and over moves every 896 writes, and writing stops
// meanwhile.
func TestWearLevelling(t *testing.T) {
	end := func(wearWrites int) (sim.Time, uint64) {
		c := oneDIMM()
		c.WearWrites = wearWrites
		d := newDevice(t, c)
		f := newFlow(d, 1)
		for i := range 4 * 2000 { // one XLine, complete each time
			f.write(sim.Time(i)*200_000, uint64(i%4))
		}
		return d.Flush(f.now), d.Stats().WearMoves
	}
	if _, moves := end(896); moves != 2 {
		t.Errorf("%d moves after 2000 writes, want 2", moves)
	}
	if _, moves := end(0); moves != 0 {
		t.Errorf("%d moves without wear levelling", moves)
	}
	slow, _ := end(1)
	if fast, _ := end(0); slow-fast < 200_000 {
		t.Errorf("a move after every write ends at %d, none at %d", slow, fast)
	}
}

// Media that read and write in turns are slower at read-modify-write, and not at
// whole XLines.
func TestMediaShared(t *testing.T) {
	c := optane()
	c.MediaShared = true
	const n = 100_000
	_, alone, _ := rate(t, optane(), 256, n, randomLine())
	_, shared, _ := rate(t, c, 256, n, randomLine())
	within(t, "random lines: shared against separate media", shared/alone, 115.4/153.8*.97, 115.4/153.8*1.03)
	_, alone, _ = rate(t, optane(), 256, n, sequential)
	_, shared, _ = rate(t, c, 256, n, sequential)
	within(t, "whole XLines: shared against separate media", shared/alone, .99, 1.01)
}

// The table of tags against a list, most recent first.
func TestLRU(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 9).Draw(t, "slots")
		l := newLRU(slots)
		var list []uint64
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			tag := rapid.Uint64Range(0, 15).Draw(t, "tag")
			at := -1
			for i, x := range list {
				if x == tag {
					at = i
				}
			}
			i := l.find(tag)
			if (i == none) != (at < 0) {
				t.Fatalf("tag %d: slot %d, place %d in the list", tag, i, at)
			}
			if i != none {
				l.touch(i)
				list = append(list[:at], list[at+1:]...)
			} else {
				v := l.victim()
				if full := len(list) == slots; full != (v != none) || full && l.nodes[v].tag != list[slots-1] {
					t.Fatalf("victim %d of %v", v, list)
				}
				l.insert(tag)
				list = list[:min(len(list), slots-1)]
			}
			list = append([]uint64{tag}, list...)
		}
	})
}

// A call allocates nothing, invariants apart.
func TestNoAllocations(t *testing.T) {
	if invariants {
		t.Skip("the checker allocates")
	}
	d := newDevice(t, optane())
	line := randomLine()
	var at sim.Time
	if n := testing.AllocsPerRun(10_000, func() {
		at += 10_000
		d.Write(at, line(0))
		d.Read(at, line(0))
	}); n != 0 {
		t.Errorf("%v allocations per write and read", n)
	}
}

// Looking at the counters on the way changes nothing, and the media are never busy for longer than
// has passed since the last look.
func TestAdvanceChangesNothing(t *testing.T) {
	for _, shared := range []bool{false, true} {
		cfg := optane()
		cfg.MediaShared = shared
		watched, alone := newDevice(t, cfg), newDevice(t, cfg)
		random := sim.New(sim.Options{Seed: 3}).Stream("requests", 0)
		busy, looked := map[string]sim.Time{}, sim.Time(0)
		now := sim.Time(0)
		for n := range 200_000 {
			now += random.Exp(4_000)
			line, first, second := random.Uint64n(1<<14), sim.Time(0), sim.Time(0)
			if n%3 == 0 {
				first, second = watched.Read(now, line), alone.Read(now, line)
			} else {
				first, second = watched.Write(now, line), alone.Write(now, line)
			}
			if first != second {
				t.Fatalf("request %d ends at %d if somebody looks, else at %d", n, first, second)
			}
			if random.Intn(10) > 0 {
				continue
			}
			now += random.Exp(1_000)
			watched.Advance(now)
			for i := range cfg.DIMMs {
				read, write := watched.MediaBusy(i, now)
				for name, is := range map[string]sim.Time{fmt.Sprint("read ", i): read, fmt.Sprint("write ", i): write} {
					if d := is - busy[name]; d < 0 || d > now-looked {
						t.Fatalf("at %d: %s busy for %d ps of %d", now, name, d, now-looked)
					}
					busy[name] = is
				}
			}
			looked = now
		}
		now += sim.Millisecond
		watched.Advance(now)
		alone.Advance(now)
		if a, b := watched.Stats(), alone.Stats(); a != b {
			t.Errorf("counters %+v, without looking %+v", a, b)
		}
	}
}
