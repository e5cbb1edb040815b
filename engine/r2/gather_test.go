package r2

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/sim"
)

// A coroutine writes records where they lie, in registered memory and in its scratch, with one request, and reads them back into
// pieces; a list that is not yet posted, or waits for a doorbell, keeps its own copy of where they are.
func TestGatheredRecords(t *testing.T) {
	for _, doorbell := range []bool{false, true} {
		b := newBed(t, 2, Config{Threads: 1}, fabric.Config{TornReads: true})
		own := b.cl.Mem(0).Register(b.base[0], regionBytes, host.LocalWrite)
		for i := range regionBytes {
			b.cl.Mem(0).Bytes(b.base[0], regionBytes)[i] = byte(i * 7)
		}
		done := 0
		b.cl.Spawn(0, 0, func(c *Co) {
			c.Phase(phaseExecution, Mode{Outstanding: true, Doorbell: doorbell})
			parts := make([]fabric.Segment, 32)
			for round := range 20 {
				c.Reset()
				var want []byte
				head := c.Buf(16)
				copy(head.B, "head of a record")
				parts[0], want = c.Part(head), append(want, head.B...)
				n := 1 + round%31
				for i := 1; i <= n; i++ {
					at := b.base[0] + Addr(c.Rand().Intn(regionBytes-200))
					parts[i] = fabric.Segment{Local: at, LKey: own.LKey, Len: uint32(c.Rand().Intn(200))}
					want = append(want, b.cl.Mem(0).Bytes(at, int(parts[i].Len))...)
				}
				l := c.List(b.loc(1, 0), false)
				l.WriteFrom(b.loc(1, Addr(round)), parts[:n+1])
				clear(parts)
				first, second := c.Buf(3), c.Buf(len(want)-3)
				parts[0], parts[1] = c.Part(first), c.Part(second)
				l.ReadInto(b.loc(1, Addr(round)), parts[:2])
				clear(parts)
				l.Post()
				if err := c.Wait(); err != nil {
					t.Error(err)
				}
				if got := append(bytes.Clone(first.B), second.B...); !bytes.Equal(got, want) || !bytes.Equal(b.cl.Mem(1).Bytes(b.base[1]+Addr(round), len(want)), want) {
					t.Errorf("round %d: %d bytes of %d parts are not what was gathered", round, len(want), n+1)
				}
				done++
			}
		})
		b.run(sim.Millisecond)
		if n := b.f.Counts(); done != 20 || n.Posted[fabric.Write] != 20 || n.Posted[fabric.Read] != 20 {
			t.Errorf("%d of 20 rounds, %v requests", done, n.Posted)
		}
	}
}

// What a key does not allow ends in an error that names the segment.
func TestSegmentIsNamed(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
	var got error
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		parts := []fabric.Segment{c.Part(c.Buf(8)), c.Part(c.Buf(8)), c.Part(c.Buf(8))}
		parts[2].LKey += 1000
		l := c.List(b.loc(1, 0), false)
		l.WriteFrom(b.loc(1, 0), parts)
		l.Post()
		got = c.Wait()
	})
	b.run(100 * sim.Microsecond)
	if !strings.HasSuffix(fmt.Sprint(got), "local protection error in segment 2 of its gather list") {
		t.Error(got)
	}
}

// Gather lists allocate nothing once their memory is there.
func TestGatheringAllocatesNothing(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
	rounds := 0
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		var parts [3]fabric.Segment
		for {
			c.Reset()
			for i := range parts {
				parts[i] = c.Part(c.Buf(40))
			}
			l := c.List(b.loc(1, 0), false)
			l.WriteFrom(b.loc(1, 0), parts[:])
			l.ReadInto(b.loc(1, 64), parts[1:])
			l.Post()
			c.Wait()
			rounds++
		}
	})
	b.run(sim.Millisecond)
	var before, after runtime.MemStats
	from := rounds
	runtime.ReadMemStats(&before)
	b.run(2 * sim.Millisecond)
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > uint64(rounds-from)/20 || rounds-from < 400 {
		t.Errorf("%d allocations in %d rounds", n, rounds-from)
	}
}
