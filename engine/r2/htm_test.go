package r2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// lockAt is where the tests have their fallback lock, in the region of machine 0.
const lockAt = regionBytes - 64

func (b *bed) lock() *HTMLock { return &HTMLock{Addr: b.base[0] + lockAt} }

// at is a line of machine 0.
func (b *bed) at(line int) Addr { return b.base[0] + Addr(line*space.LineBytes) }

func TestRegionSeesItsStoresAndOthersSeeThemAtOnce(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1}, fabric.Config{TornReads: true})
	l := b.lock()
	var begun, done Time
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Store64(b.at(1)+56, 7)
		c.HTM(l, func(r *Region) {
			begun = c.Now()
			r.Store64(b.at(0), r.Load64(b.at(1)+56)+1)
			r.Store(b.at(2)-2, []byte{1, 2, 3, 4})
			if x := r.Load(b.at(2)-8, 12); !slicesEqual(x, 7, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0) {
				t.Errorf("a load over two lines of which it has written parts finds %v", x)
			}
			before := r.Load(b.at(1)+48, 32) // made of both lines again
			if r.Load64(b.at(0)) != 8 || before[14] != 1 {
				t.Errorf("it does not see what it has stored: %d, %v", r.Load64(b.at(0)), before)
			}
			r.Compute(22_000)
		})
		done = c.Now()
	})
	b.run(8 * sim.Microsecond)
	if begun == 0 || done != 0 || b.word(0, 0) != 0 || b.word(0, 128) != 0 {
		t.Fatalf("begun at %d, done at %d: memory has %d and %d", begun, done, b.word(0, 0), b.word(0, 128))
	}
	b.run(8 * sim.Microsecond)
	if done == 0 || b.word(0, 0) != 8 || b.word(0, 128) != 4<<8|3 {
		t.Fatalf("done at %d: memory has %d and %#x", done, b.word(0, 0), b.word(0, 128))
	}
	cpu := b.f.Machine(0).CPU
	if took := done - begun; took < 10*sim.Microsecond+cpu.HTMCommit {
		t.Errorf("it took %d ps, its 22,000 cycles are 10 µs", took)
	}
	if n := b.cl.HTMCounts(); n != (HTMCounts{Regions: 1, Commits: 1}) {
		t.Errorf("counts %+v", n)
	}
}

func slicesEqual(got []byte, want ...byte) bool { return string(got) == string(want) }

// Who ends a region that has read line 0 and written line 1.
func TestConflicts(t *testing.T) {
	value := binary.LittleEndian.AppendUint64(nil, 99)
	for _, x := range []struct {
		name    string
		machine int
		access  func(b *bed, c *Co)
		ends    HTMCounts
	}{
		{"READ of a line read", 1, func(b *bed, c *Co) { c.Read(b.loc(0, 0), 8) }, HTMCounts{}},
		{"READ of a line written", 1, func(b *bed, c *Co) { c.Read(b.loc(0, 64), 8) }, HTMCounts{DMA: 1}},
		{"READ of both", 1, func(b *bed, c *Co) { c.Read(b.loc(0, 0), 128) }, HTMCounts{DMA: 1}},
		{"READ beside", 1, func(b *bed, c *Co) { c.Read(b.loc(0, 128), 256) }, HTMCounts{}},
		{"WRITE to a line read", 1, func(b *bed, c *Co) { c.Write(b.loc(0, 56), value) }, HTMCounts{DMA: 1}},
		{"WRITE to a line written", 1, func(b *bed, c *Co) { c.Write(b.loc(0, 120), value) }, HTMCounts{DMA: 1}},
		{"WRITE beside", 1, func(b *bed, c *Co) { c.Write(b.loc(0, 128), value) }, HTMCounts{}},
		{"CAS on a line read", 1, func(b *bed, c *Co) { c.CAS(b.loc(0, 8), 0, 5) }, HTMCounts{DMA: 1}},
		{"CAS that fails on a line read", 1, func(b *bed, c *Co) { c.CAS(b.loc(0, 8), 1, 5) }, HTMCounts{}},
		{"CAS that fails on a line written", 1, func(b *bed, c *Co) { c.CAS(b.loc(0, 64), 1, 5) }, HTMCounts{DMA: 1}},
		{"FAA on a line written", 1, func(b *bed, c *Co) { c.FAA(b.loc(0, 64), 1) }, HTMCounts{DMA: 2}}, // its read, and its store
		{"load of a line read", 0, func(b *bed, c *Co) { c.Load64(b.at(0)) }, HTMCounts{}},
		{"load of a line written", 0, func(b *bed, c *Co) { c.Load64(b.at(1)) }, HTMCounts{Core: 1}},
		{"peek at a line written", 0, func(b *bed, c *Co) { c.Peek(b.at(1), 8) }, HTMCounts{Core: 1}},
		{"store to a line read", 0, func(b *bed, c *Co) { c.Store64(b.at(0)+32, 1) }, HTMCounts{Core: 1}},
		{"store over both", 0, func(b *bed, c *Co) { c.Store(b.at(0)+60, value) }, HTMCounts{Core: 1}},
		{"non-temporal store", 0, func(b *bed, c *Co) { c.StoreNT(b.at(0)+32, value) }, HTMCounts{Core: 1}},
		{"poke at a line read", 0, func(b *bed, c *Co) { c.Poke(b.at(0)+32, value) }, HTMCounts{Core: 1}},
		{"CPU CAS that fails", 0, func(b *bed, c *Co) { c.LocalCAS(b.at(0)+32, 1, 2) }, HTMCounts{Core: 1}},
		{"store beside", 0, func(b *bed, c *Co) { c.Store64(b.at(2), 1) }, HTMCounts{}},
		{"region that loads a line read", 0, func(b *bed, c *Co) {
			c.HTM(b.lock(), func(r *Region) { r.Load64(b.at(0)) })
		}, HTMCounts{}},
		{"region that loads a line written", 0, func(b *bed, c *Co) {
			c.Load64(b.at(3)) // the page is in its TLB, the lines in the LLC: it is over before the other begins anew
			c.HTM(b.lock(), func(r *Region) { r.Load64(b.at(1)) })
		}, HTMCounts{Core: 1}},
		{"region that stores to a line read", 0, func(b *bed, c *Co) {
			c.Load64(b.at(3))
			c.HTM(b.lock(), func(r *Region) { r.Store64(b.at(0)+32, 4) })
		}, HTMCounts{Core: 1}},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := newBed(t, 2, Config{Threads: 3}, fabric.Config{TornReads: true})
			runs, done := 0, false
			b.cl.Spawn(0, 0, func(c *Co) {
				c.HTM(b.lock(), func(r *Region) {
					runs++
					r.Store64(b.at(1), r.Load64(b.at(0))+1)
					r.Compute(44_000)
				})
				done = true
			})
			b.cl.Spawn(x.machine, 2, func(c *Co) { // on the same socket
				c.Sleep(8 * sim.Microsecond)
				x.access(b, c)
				if err := c.Wait(); err != nil {
					t.Error(err)
				}
			})
			b.run(60 * sim.Microsecond)
			n := b.cl.HTMCounts()
			if ends := (HTMCounts{DMA: n.DMA, Core: n.Core}); ends != x.ends || !done {
				t.Errorf("done: %v, counts %+v", done, n)
			}
			if want := 1 + int(x.ends.DMA+x.ends.Core); runs != want || b.word(0, 64) == 0 {
				t.Errorf("the body ran %d times, its word is %d", runs, b.word(0, 64))
			}
		})
	}
}

// A region that is hit gives its core back at once: it ends soon after the conflict, not after what its body takes.
func TestConflictEndsARegionAtOnce(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 2}, fabric.Config{})
	var done Time
	first := true
	b.cl.Spawn(0, 0, func(c *Co) {
		c.HTM(b.lock(), func(r *Region) {
			r.Store64(b.at(1), 1)
			if first {
				r.Compute(220_000) // 100 us
			}
			first = false
		})
		done = c.Now()
	})
	b.cl.Spawn(0, 1, func(c *Co) {
		c.Sleep(10 * sim.Microsecond)
		c.Load64(b.at(1))
	})
	b.run(200 * sim.Microsecond)
	if n := b.cl.HTMCounts(); done < 10*sim.Microsecond || done > 16*sim.Microsecond || n.Core != 1 || n.Commits != 1 {
		t.Errorf("done at %d ns, counts %+v", done/sim.Nanosecond, n)
	}
	if busy := b.cl.BusyPS(0, 0); busy > 20*sim.Microsecond {
		t.Errorf("its core was busy for %d ns", busy/sim.Nanosecond)
	}
}

func TestCapacity(t *testing.T) {
	for _, x := range []struct {
		lines int
		want  HTMCounts
	}{
		{host.SpeculativeLines, HTMCounts{Regions: 1, Commits: 1}},
		{host.SpeculativeLines + 1, HTMCounts{Regions: 1, Capacity: 1, Fallbacks: 1}},
	} {
		b := newBed(t, 1, Config{Threads: 1}, fabric.Config{})
		runs := 0
		b.cl.Spawn(0, 0, func(c *Co) {
			c.HTM(b.lock(), func(r *Region) {
				runs++
				for i := range 2 * x.lines {
					r.Load64(b.at(i)) // reading has no limit
				}
				for i := range x.lines {
					r.Store64(b.at(i), uint64(i)+1)
					if r.Load64(b.at(i)) != uint64(i)+1 {
						t.Errorf("line %d is not what was stored", i)
					}
				}
			})
		})
		b.run(sim.Millisecond)
		if n := b.cl.HTMCounts(); n != x.want || runs != int(n.Regions+n.Fallbacks) {
			t.Errorf("%d lines: %d runs, counts %+v", x.lines, runs, n)
		}
		for i := range x.lines {
			if b.word(0, Addr(i*space.LineBytes)) != uint64(i)+1 {
				t.Fatalf("%d lines: line %d is %d", x.lines, i, b.word(0, Addr(i*space.LineBytes)))
			}
		}
	}
}

// Taking the fallback lock ends regions, and those that find it taken wait.
func TestFallbackLockEndsRegions(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 3}, fabric.Config{})
	var bodies []string
	var free, began Time
	b.cl.Spawn(0, 0, func(c *Co) {
		c.HTM(b.lock(), func(r *Region) {
			bodies = append(bodies, "short")
			r.Store64(b.at(2000), 1)
			r.Compute(660_000) // 300 us
		})
	})
	b.cl.Spawn(0, 1, func(c *Co) {
		c.Sleep(6 * sim.Microsecond)
		c.HTM(b.lock(), func(r *Region) {
			bodies = append(bodies, "long")
			for i := range host.SpeculativeLines + 1 {
				r.Store64(b.at(i), 1)
			}
			r.Compute(44_000)
			free = c.Now()
		})
	})
	b.cl.Spawn(0, 2, func(c *Co) {
		for !slices.Equal(bodies, []string{"short", "long", "long"}) {
			c.Sleep(sim.Microsecond)
		}
		c.HTM(b.lock(), func(r *Region) {
			if began = c.Now(); r.Load64(b.at(0)) != 1 {
				t.Error("a region sees a body under the lock in its middle")
			}
		})
	})
	b.run(sim.Millisecond)
	n := b.cl.HTMCounts()
	if s := strings.Join(bodies, " "); s != "short long long short" || n.Core != 1 || n.Capacity != 1 || n.Fallbacks != 1 || n.LockTaken < 2 || n.Commits != 2 {
		t.Errorf("bodies %s, counts %+v", s, n)
	}
	if free == 0 || began < free || b.word(0, lockAt) != 0 {
		t.Errorf("the lock was free from %d, a region began at %d, its word is %d", free, began, b.word(0, lockAt))
	}
}

// Stores under the fallback lock are seen as they are made: a READ comes in between. A region's are not: whoever
// READs a line of them ends it.
func TestOnlyTheFallbackLockShowsHalves(t *testing.T) {
	for _, lines := range []int{17, host.SpeculativeLines + 1} {
		b := newBed(t, 2, Config{Threads: 4}, fabric.Config{TornReads: true})
		b.cl.Spawn(0, 0, func(c *Co) {
			for v := uint64(1); ; v++ {
				c.HTM(b.lock(), func(r *Region) {
					for i := range lines {
						r.Store64(b.at(i), v)
					}
				})
				c.Sleep(3 * sim.Microsecond)
			}
		})
		halves, news := 0, uint64(0)
		for k := range 4 {
			b.cl.Spawn(1, k, func(c *Co) {
				for range 400 {
					x := c.Read(b.loc(0, 0), 17*space.LineBytes)
					c.Wait()
					news = max(news, binary.LittleEndian.Uint64(x.B))
					if !bytes.Equal(x.B[:8], x.B[16*space.LineBytes:][:8]) {
						halves++
					}
					c.Reset()
					c.Sleep(Time(c.Rand().Intn(8000)) * sim.Nanosecond)
				}
			})
		}
		b.run(4 * sim.Millisecond)
		n := b.cl.HTMCounts()
		if (halves > 0) != (n.Fallbacks > n.Commits) || news < 10 || lines == 17 && n.DMA == 0 {
			t.Errorf("%d lines: %d of 1600 READs see a half, the last saw %d; counts %+v", lines, halves, news, n)
		}
	}
}

// Cores that always want the same lines get on: none is left behind for ever, and no increment is lost.
func TestRegionsGetOn(t *testing.T) {
	const cores, each = 6, 200
	b := newBed(t, 1, Config{Threads: cores}, fabric.Config{})
	finished := 0
	for k := range cores {
		b.cl.Spawn(0, k, func(c *Co) {
			for range each {
				c.HTM(b.lock(), func(r *Region) {
					for i := range 4 { // in different orders
						at := b.at((i*(k%2*2-1) + 4) % 4)
						r.Store64(at, r.Load64(at)+1)
					}
					r.Compute(500)
				})
			}
			finished++
		})
	}
	b.run(20 * sim.Millisecond)
	n := b.cl.HTMCounts()
	if finished != cores || n.Commits+n.Fallbacks != cores*each || n.Core == 0 || n.Fallbacks == 0 {
		t.Errorf("%d cores finished, counts %+v", finished, n)
	}
	for i := range 4 {
		if x := b.word(0, Addr(i*space.LineBytes)); x != cores*each {
			t.Errorf("word %d is %d", i, x)
		}
	}
}

// A region that waits for another coroutine of its thread lets it run.
func TestAbort(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 2}, fabric.Config{})
	done := false
	b.cl.Spawn(0, 0, func(c *Co) {
		c.HTM(b.lock(), func(r *Region) {
			if r.Load64(b.at(0)) == 0 {
				r.Abort()
				return
			}
			r.Store64(b.at(1), 1)
		})
		done = true
	})
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Sleep(5 * sim.Microsecond)
		c.Store64(b.at(0), 1)
	})
	b.run(50 * sim.Microsecond)
	if n := b.cl.HTMCounts(); !done || n.Explicit < 2 || n.Commits != 1 || n.Fallbacks != 0 || b.word(0, 64) != 1 {
		t.Errorf("done: %v, counts %+v", done, n)
	}
}

func TestBodiesThatDoWhatTheyMayNot(t *testing.T) {
	runs := 0
	for what, body := range map[string]func(b *bed, c *Co, r *Region){ // order-free: each is a test of its own
		"inside a region":                  func(b *bed, c *Co, r *Region) { c.Read(b.loc(0, 0), 8) },
		"a wait inside a region":           func(b *bed, c *Co, r *Region) { c.Sleep(1) },
		"a region inside a region":         func(b *bed, c *Co, r *Region) { c.HTM(b.lock(), func(*Region) {}) },
		"a wait for local time inside":     func(b *bed, c *Co, r *Region) { r.Compute(10); c.Load64(b.at(9)) },
		"accesses memory past the Region":  func(b *bed, c *Co, r *Region) { r.Store64(b.at(9), 1); c.Peek(b.at(9), 8) },
		"aborts after a Store":             func(b *bed, c *Co, r *Region) { r.Store64(b.at(9), 1); r.Abort() },
		"stores after its Abort":           func(b *bed, c *Co, r *Region) { r.Abort(); r.Store64(b.at(9), 1) },
		"has ended itself 1048576 times":   func(b *bed, c *Co, r *Region) { r.Abort() },
		"a request inside a region":        func(b *bed, c *Co, r *Region) { c.Call(0, 1, nil) },
		"a wait inside a region, by Yield": func(b *bed, c *Co, r *Region) { c.Yield() },
		"a wait inside a region, under lock": func(b *bed, c *Co, r *Region) {
			for line := range 600 { // more than there is room for: the next run is under the lock
				r.Store64(b.at(line+1), 1)
			}
			if runs++; runs == 2 {
				c.Sleep(1)
			}
		},
	} {
		want, _, _ := strings.Cut(what, ", ")
		b := newBed(t, 1, Config{Threads: 1}, fabric.Config{})
		b.cl.Spawn(0, 0, func(c *Co) { c.HTM(b.lock(), func(r *Region) { body(b, c, r) }) })
		err := b.s.Run(sim.Second)
		var p *sim.PanicError
		if !errors.As(err, &p) || !strings.Contains(p.Line(), want) {
			t.Errorf("%s: the run ends with %v", what, err)
		}
	}
}

// A machine that crashes in the middle of a region loses it, and works again after.
func TestCrashInARegion(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 2}, fabric.Config{TornReads: true})
	commits := 0
	b.cl.Spawn(0, 0, func(c *Co) {
		c.HTM(b.lock(), func(r *Region) {
			r.Store64(b.at(0), r.Load64(b.at(0))+1)
			r.Compute(22_000)
		})
		commits++
	})
	b.run(8 * sim.Microsecond)
	if err := b.cl.Crash(0); err != nil {
		t.Fatal(err)
	}
	b.run(100 * sim.Microsecond)
	if commits != 0 || b.word(0, 0) != 0 || b.cl.HTMCounts().Commits != 0 {
		t.Fatalf("%d commits, the word is %d", commits, b.word(0, 0))
	}
	if _, err := b.cl.Restart(0); err != nil {
		t.Fatal(err)
	}
	b.run(sim.Millisecond)
	if commits != 1 || b.word(0, 0) != 1 {
		t.Errorf("after the restart %d commits, the word is %d", commits, b.word(0, 0))
	}
}

// BenchmarkRegion is a region of four loads and two stores.
func BenchmarkRegion(b *testing.B) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	f, err := fabric.New(s, fabric.Config{Machines: 1, TornReads: true})
	if err != nil {
		b.Fatal(err)
	}
	cl, err := New(s, f, Config{Threads: 4})
	if err != nil {
		b.Fatal(err)
	}
	a, err := cl.Mem(0).Alloc(host.Alloc{Name: "bench", Bytes: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	l := &HTMLock{Addr: a}
	for k := range 4 {
		mine := a + Addr(k+1)<<12
		body := func(r *Region) {
			for i := range 4 {
				if x := r.Load64(mine + Addr(i)*space.LineBytes); i < 2 {
					r.Store64(mine+Addr(i)*space.LineBytes, x+1)
				}
			}
		}
		cl.Spawn(0, k, func(c *Co) {
			for {
				c.HTM(l, body)
			}
		})
	}
	b.ReportAllocs()
	b.ResetTimer()
	for cl.HTMCounts().Commits < uint64(b.N) {
		if err := s.Run(s.Now() + 10*sim.Microsecond); err != nil {
			b.Fatal(err)
		}
	}
}

// Regions of the same length that begin together do not end each other in step for ever.
func TestRegionsGetOutOfStep(t *testing.T) {
	const each = 100
	b := newBed(t, 1, Config{Threads: 2}, fabric.Config{})
	for i := range 2 {
		b.cl.Spawn(0, i, func(c *Co) {
			for range each {
				c.HTM(b.lock(), func(r *Region) {
					r.Store64(b.at(0), r.Load64(b.at(0))+1)
					r.Compute(440) // 200 ns
				})
			}
		})
	}
	b.run(10 * sim.Millisecond)
	if n := b.cl.HTMCounts(); b.word(0, 0) != 2*each || n.Core == 0 || n.Fallbacks > each/10 {
		t.Errorf("%d of %d regions have taken effect, counts %+v", b.word(0, 0), 2*each, n)
	}
}

// A thread that has taken the core from whoever has the lock does not spin for its slice.
func TestSharedThreadLetsTheLockGo(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
	l := b.lock()
	free, done := Time(0), Time(0)
	const wakes = 5 * sim.Millisecond // then it is behind enough to take the core at once
	b.cl.Spawn(0, 0, func(c *Co) {
		for free == 0 {
			c.Compute(2200) // 1 us
			switch c.Load64(b.at(0)); {
			case c.Now() > wakes+100*sim.Microsecond:
				c.Store64(l.Addr, 0)
				free = c.Now()
			case c.Now() > wakes-100*sim.Microsecond:
				c.Store64(l.Addr, 1)
			}
		}
	})
	b.cl.SpawnShared(0, 0, "trainer", func(c *Co) {
		c.Sleep(wakes)
		c.HTM(l, func(r *Region) { r.Load64(b.at(0)) })
		done = c.Now()
	})
	b.run(20 * sim.Millisecond)
	if free == 0 || done < free || done > free+sim.Millisecond || b.cl.HTMCounts().LockTaken == 0 {
		t.Errorf("the lock was free at %d ps, the thread's region done at %d: half a latency is %d; counts %+v", free, done, b.f.Scheduler().Latency/2, b.cl.HTMCounts())
	}
}
