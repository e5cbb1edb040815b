package r2

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/sim"
)

// A lone write takes the kernel, the disk's latency and the switch back; large ones the disk's
// bandwidth; and the worker has the core meanwhile.
func TestWriteSSD(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
	p, cost := b.f.Profile().SSD, b.f.Scheduler()
	var worked Time
	b.cl.Spawn(0, 0, func(c *Co) {
		for {
			c.Compute(220)
			worked += 100 * sim.Nanosecond
			c.Yield()
		}
	})
	var small, large, during Time
	logger := b.cl.SpawnShared(0, 0, "logger", func(c *Co) {
		c.Sleep(100 * sim.Microsecond)
		begin := c.Now()
		c.WriteSSD(100)
		small = c.Now() - begin
		begin, during = c.Now(), worked
		c.WriteSSD(4 << 20)
		large, during = c.Now()-begin, worked-during
		c.WriteSSD(0)
	})
	b.run(20 * sim.Millisecond)
	if want := p.Call.Time() + p.WriteLatency.Time() + cost.ContextSwitch; small < want || small > want+sim.Microsecond {
		t.Errorf("a lone write took %d ps, want %d", small, want)
	}
	copying := Time(4<<20/64) * b.f.Machine(0).CPU.CopyLine
	link := Time(float64(4<<20) / p.WriteBandwidth.Value * 1000)
	if least := copying + link; large < least || large > least+least/50 {
		t.Errorf("4 MB took %d ps, want %d", large, least)
	}
	if during < link*60/100 {
		t.Errorf("the worker worked for %d ps while 4 MB were written in %d", during, large)
	}
	if busy := logger.BusyPS(); busy > copying+50*sim.Microsecond {
		t.Errorf("the logger had the core for %d ps", busy)
	}
	if busy := b.cl.SSDBusyPS(0); busy < link || busy > link+link/50 {
		t.Errorf("the disk was busy for %d ps, want %d", busy, link)
	}
}

// record is a log record of a certain number.
func record(n uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, n)
	return append(b, bytes.Repeat([]byte{byte(n*37 + 1)}, 40+int(n%160))...)
}

// logRun has a worker's coroutine append records and a logger make them durable, so many at a
// time at most; 0: as many as have come. It returns how many were durable and how long one waited.
func logRun(t *testing.T, atMost int) (durable int, wait Time) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
	f := b.cl.LogFile(0, "redo")
	type entry struct {
		end int64
		at  Time
	}
	var open []entry
	var sum Time
	logger := b.cl.SpawnShared(0, 0, "logger", func(c *Co) {
		for {
			if f.Len() == f.Durable() {
				c.Suspend()
				continue
			}
			upto := c.Sync(f)
			for len(open) > 0 && open[0].end <= upto {
				sum += c.Now() - open[0].at
				open = open[1:]
				durable++
			}
		}
	})
	b.cl.Spawn(0, 0, func(c *Co) {
		for n := uint64(0); ; n++ {
			for atMost > 0 && len(open) >= atMost {
				c.Sleep(sim.Microsecond)
			}
			open = append(open, entry{c.Append(f, record(n)), c.Now()})
			c.Wake(logger)
			c.Sleep(2 * sim.Microsecond)
		}
	})
	b.run(20 * sim.Millisecond)
	return durable, sum / Time(durable)
}

// Group commit: with all that has come in one request the log keeps up, at about two latencies;
// one at a time it does one per latency.
func TestGroupCommit(t *testing.T) {
	one, wait := logRun(t, 1)
	if one < 180 || one > 280 || wait < 70*sim.Microsecond || wait > 100*sim.Microsecond {
		t.Errorf("one at a time: %d records durable in 20 ms, each after %d ps", one, wait)
	}
	all, waited := logRun(t, 0)
	if all < 10*one || waited < wait || waited > 3*wait {
		t.Errorf("together: %d records durable, each after %d ps; one at a time %d after %d", all, waited, one, wait)
	}
	t.Logf("%d records in 20 ms after %d µs each; alone %d after %d µs", all, waited/sim.Microsecond, one, wait/sim.Microsecond)
}

// Wherever a crash comes, what is left is a prefix of what was appended with all in it that was
// durable before; a restarted machine reads it at the disk's speed and goes on behind it.
func TestCrashLeavesAPrefix(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
		f := b.cl.LogFile(0, "redo")
		var all []byte
		big := rapid.IntRange(1, 40).Draw(r, "records at a time")
		recovered, lives := []byte(nil), 0
		var reading Time
		b.cl.SpawnShared(0, 0, "logger", func(c *Co) {
			lives++
			from, to := f.Kept()
			begin := c.Now()
			buf := make([]byte, to-from)
			if n := c.ReadLog(f, from, buf); n != len(buf) {
				t.Errorf("%d of %d bytes read", n, len(buf))
			}
			recovered, reading = buf, c.Now()-begin
			all = all[:to]
			for n := uint64(0); ; n++ {
				for range big {
					rec := record(n)
					c.Append(f, rec)
					all = append(all, rec...)
				}
				if n%3 == 0 {
					c.Sleep(5 * sim.Microsecond)
				}
				if got := c.Sync(f); got != int64(len(all)) {
					t.Errorf("%d bytes durable behind a sync of %d", got, len(all))
				}
			}
		})
		for range 3 {
			b.run(Time(rapid.IntRange(1, 1500).Draw(r, "µs")) * sim.Microsecond)
			before, whole := f.Durable(), append([]byte(nil), all...)
			if err := b.cl.Crash(0); err != nil {
				t.Fatal(err)
			}
			after := f.Durable()
			if after < before || after > int64(len(whole)) || f.Len() != after {
				r.Fatalf("%d bytes were durable, %d are, %d were appended", before, after, len(whole))
			}
			if after != before && after != int64(len(whole)) && after%4096 != 0 {
				r.Fatalf("%d bytes are left: a block in part", after)
			}
			b.run(20 * sim.Microsecond)
			if _, err := b.cl.Restart(0); err != nil {
				t.Fatal(err)
			}
			was := lives
			b.run(3 * sim.Millisecond)
			if lives != was+1 || !bytes.Equal(recovered, whole[:after]) {
				r.Fatalf("recovered %d bytes, %d were durable", len(recovered), after)
			}
			p := b.f.Profile().SSD
			if after > 0 && (reading < p.ReadLatency.Time() || reading < Time(float64(after)/p.ReadBandwidth.Value*1000)) {
				r.Fatalf("%d bytes were read in %d ps", after, reading)
			}
		}
	})
}

// Writes under way at a crash are there to the block that had crossed the link, none behind it.
func TestCrashInTheMiddleOfWrites(t *testing.T) {
	lefts := map[int64]bool{}
	for at := 20 * sim.Microsecond; at < 400*sim.Microsecond; at += 7 * sim.Microsecond {
		b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
		f := b.cl.LogFile(0, "redo")
		for k := range 3 { // three requests of 5, 10 and 15 blocks
			b.cl.SpawnShared(0, k, "logger", func(c *Co) {
				c.Sleep(Time(k+1) * 10 * sim.Microsecond)
				c.Append(f, bytes.Repeat([]byte{byte(k + 1)}, (k+1)*5*4096-100*k))
				c.Sync(f)
			})
		}
		b.run(at)
		whole := f.Len()
		if err := b.cl.Crash(0); err != nil {
			t.Fatal(err)
		}
		left := f.Durable()
		if left > whole || left != whole && left%4096 != 0 && left != 5*4096 && left != 15*4096-100 {
			t.Errorf("crash at %d: %d of %d bytes are left", at, left, whole)
		}
		block := Time(4096 / b.f.Profile().SSD.WriteBandwidth.Value * 1000)
		if crossed := int64((at-10*sim.Microsecond)/block) * 4096; left > crossed {
			t.Errorf("crash at %d: %d bytes are left, the link takes %d by then", at, left, crossed)
		}
		lefts[left] = true
	}
	if len(lefts) < 15 {
		t.Errorf("crashes at all times leave but %d different prefixes", len(lefts))
	}
}

// What a disk would have told a thread that a crash has ended is not told to the one that begins.
func TestCompletionOfBeforeACrash(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
	var took Time
	b.cl.SpawnShared(0, 0, "logger", func(c *Co) {
		begin := c.Now()
		c.WriteSSD(2 << 20)
		took = c.Now() - begin
	})
	b.run(sim.Millisecond)
	if err := b.cl.Crash(0); err != nil {
		t.Fatal(err)
	}
	b.run(10 * sim.Microsecond)
	if _, err := b.cl.Restart(0); err != nil {
		t.Fatal(err)
	}
	b.run(10 * sim.Millisecond)
	if link := Time(float64(2<<20) / b.f.Profile().SSD.WriteBandwidth.Value * 1000); took < link {
		t.Errorf("2 MB took %d ps, the link needs %d", took, link)
	}
}

// Memory is bounded: the oldest durable bytes go first, and a log nobody makes durable ends the run.
func TestLogsAreBounded(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
	f := b.cl.LogFile(0, "redo")
	if b.cl.LogFile(0, "redo") != f || b.cl.LogFile(0, "other") == f {
		t.Error("a file is not found by its name")
	}
	f.Most = 300_000
	n := uint64(0)
	b.cl.SpawnShared(0, 0, "logger", func(c *Co) {
		for c.Now() < 30*sim.Millisecond {
			for range 100 {
				c.Append(f, record(n))
				n++
			}
			c.Sync(f)
		}
	})
	b.run(40 * sim.Millisecond)
	from, to := f.Kept()
	if from == 0 || f.Len()-from > 300_000 || to < 1_000_000 {
		t.Errorf("bytes %d to %d of %d are kept", from, to, f.Len())
	}
	var all []byte
	for i := range n {
		all = append(all, record(i)...)
	}
	got := make([]byte, to-from)
	b.cl.Spawn(0, 0, func(c *Co) {
		if c.ReadLog(f, from, got) != len(got) || !bytes.Equal(got, all[from:to]) {
			t.Error("what is kept is not what was appended")
		}
		if c.ReadLog(f, from-1, got) != 0 {
			t.Error("forgotten bytes are read")
		}
	})
	b.run(10 * sim.Millisecond)
	b.cl.Spawn(0, 0, func(c *Co) {
		g := b.cl.LogFile(0, "nobody's")
		g.Most = 10_000
		for {
			c.Append(g, record(1))
			c.Yield()
		}
	})
	if err := b.s.Run(b.s.Now() + 10*sim.Millisecond); err == nil || !strings.Contains(err.Error(), "does not keep up") {
		t.Errorf("a log without a logger: %v", err)
	}
}

// More requests than the disk's queue takes wait in front of it.
func TestDiskQueue(t *testing.T) {
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	span := func(depth float64) (last Time) {
		p.SSD.QueueDepth.Value = depth
		b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, fabric.Config{Profile: p})
		for k := range 8 {
			b.cl.SpawnShared(0, k, "logger", func(c *Co) {
				for range 10 {
					c.WriteSSD(4096)
				}
				last = max(last, c.Now())
			})
		}
		b.run(50 * sim.Millisecond)
		return last
	}
	if one, many := span(1), span(32); one < 80*p.SSD.WriteLatency.Time() || many > one/4 {
		t.Errorf("80 writes take %d ps one at a time, %d together", one, many)
	}
}

// Code of a worker cannot block, and a profile without disks says so.
func TestNoLogger(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
	b.cl.Spawn(0, 0, func(c *Co) { c.WriteSSD(1) })
	if err := b.s.Run(sim.Millisecond); err == nil || !strings.Contains(err.Error(), "would block its worker") {
		t.Errorf("a worker's coroutine writes: %v", err)
	}
	b = newBed(t, 1, Config{Threads: 1}, vale(t))
	b.cl.SpawnShared(0, 0, "logger", func(c *Co) { c.WriteSSD(1) })
	if err := b.s.Run(sim.Millisecond); err == nil || !strings.Contains(err.Error(), "no SSD") || b.cl.HasSSD() {
		t.Errorf("no disk: %v", err)
	}
}

// A logger allocates nothing once its buffers are there.
func BenchmarkSync(bench *testing.B) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	f, err := fabric.New(s, fabric.Config{Machines: 1})
	if err != nil {
		bench.Fatal(err)
	}
	cl, err := New(s, f, Config{Threads: 1, Coroutines: 1})
	if err != nil {
		bench.Fatal(err)
	}
	log := cl.LogFile(0, "redo")
	log.Most = 1 << 20
	done := 0
	cl.SpawnShared(0, 0, "logger", func(c *Co) {
		rec := record(100)
		for ; done < bench.N; done++ {
			for range 20 {
				c.Append(log, rec)
			}
			c.Sync(log)
		}
	})
	bench.ReportAllocs()
	for bench.ResetTimer(); done < bench.N; {
		if err := s.Run(s.Now() + sim.Millisecond); err != nil {
			bench.Fatal(err)
		}
	}
}
