package rdpma

import (
	"bytes"
	"testing"

	"drtmx/engine/r2"

	"pgregory.net/rapid"
)

// allocation is one allocation with what it should hold.
type allocation struct {
	p    Ptr
	want []byte
}

// Random programs against a map: every allocation holds what was last written
// to it, whatever was padded, freed, reused and switched in between, and nothing
// outside of an allocation's room is ever touched.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBed(t, bedOptions{threads: 2, config: Config{Servers: []int{1}, PoolBytes: 1 << 20, Sockets: rapid.IntRange(1, 2).Draw(rt, "sockets"),
			Hints: drawHints(rt), FlushDRAM: rapid.Bool().Draw(rt, "flush dram")}})
		defer b.close()
		b.do(rapid.IntRange(0, 1).Draw(rt, "thread"), func(c *r2.Co) {
			var live []allocation
			var gone []Ptr
			for range rapid.IntRange(1, 40).Draw(rt, "steps") {
				live, gone = step(rt, b, c, live, gone)
				c.Reset()
			}
			for _, o := range live {
				if !bytes.Equal(b.bytes(o.p), o.want) {
					rt.Fatalf("%v holds %x, want %x", o.p, b.bytes(o.p), o.want)
				}
			}
			checkRooms(rt, b)
		})
	})
}

func drawHints(t *rapid.T) (h Hints) {
	bits := rapid.IntRange(0, 1<<9-1).Draw(t, "hints")
	for i, f := range h.fields() {
		*f = bits>>i&1 != 0
	}
	return h
}

func step(t *rapid.T, b *bed, c *r2.Co, live []allocation, gone []Ptr) ([]allocation, []Ptr) {
	kind := rapid.IntRange(0, 9).Draw(t, "step")
	switch {
	case kind == 0:
		b.m.SetHints(drawHints(t))
	case kind < 3 || len(live) == 0:
		n := rapid.SampledFrom([]int{1, 8, 16, 60, 64, 65, 100, 200, 256, 300, 4096, 9000}).Draw(t, "bytes")
		p, err := b.m.Alloc(1, n)
		if rapid.Bool().Draw(t, "for thread") {
			p, err = b.m.AllocFor(c, 1, n)
		}
		if err != nil {
			t.Fatal(err)
		}
		live = append(live, allocation{p, append([]byte(nil), b.bytes(p)...)})
	case kind == 3:
		i := rapid.IntRange(0, len(live)-1).Draw(t, "victim")
		if err := b.m.Free(live[i].p); err != nil {
			t.Fatal(err)
		}
		gone = append(gone, live[i].p)
		live = append(live[:i:i], live[i+1:]...)
	default:
		access(t, b, c, &live[rapid.IntRange(0, len(live)-1).Draw(t, "target")], kind)
	}
	if len(gone) > 0 {
		if err := b.m.Write(c, gone[len(gone)-1], 0, []byte{1}, OneSided); err == nil {
			t.Fatal("a freed pointer was accepted")
		}
	}
	return live, gone
}

func access(t *rapid.T, b *bed, c *r2.Co, o *allocation, kind int) {
	off := rapid.IntRange(0, (len(o.want)-1)/8).Draw(t, "offset") * 8
	n := rapid.IntRange(1, len(o.want)-off).Draw(t, "length")
	if rapid.Bool().Draw(t, "whole") {
		off, n = 0, len(o.want)
	}
	how := Primitive(rapid.IntRange(0, 1).Draw(t, "primitive"))
	if kind > 7 {
		got, err := b.m.Read(c, o.p, off, n, how)
		if err != nil || !bytes.Equal(got, o.want[off:off+n]) {
			t.Fatalf("%v read of %d bytes at %d of %v: %x, %v; want %x", how, n, off, o.p, got, err, o.want[off:off+n])
		}
		return
	}
	data := pattern(n, byte(rapid.IntRange(1, 255).Draw(t, "pattern")))
	write := b.m.Write
	if kind > 5 {
		write = b.m.PWrite
	}
	if err := write(c, o.p, off, data, how); err != nil {
		if kind > 5 && how == OneSided && !b.m.Hints().H3 {
			return // refused: DDIO is on
		}
		t.Fatal(err)
	}
	copy(o.want[off:], data)
}

// checkRooms holds that rooms do not overlap, are as aligned as they say, and
// that what no block covers is still zero.
func checkRooms(t *rapid.T, b *bed) {
	covered := map[*pool][]bool{}
	for i, blk := range b.m.servers[1].blocks {
		if blk.addr%r2.Addr(blk.granule) != 0 || blk.room%uint32(blk.granule) != 0 || blk.size > blk.room {
			t.Fatalf("block %d is %+v", i, blk)
		}
		p := blk.pool
		if covered[p] == nil {
			covered[p] = make([]bool, p.end-p.base)
		}
		for a := blk.addr - p.base; a < blk.addr-p.base+r2.Addr(blk.room); a++ {
			if covered[p][a] {
				t.Fatalf("block %d overlaps another at %#x", i, p.base+a)
			}
			covered[p][a] = true
		}
	}
	for p, used := range covered {
		all := b.cl.Mem(1).Bytes(p.base, len(used))
		for a, is := range used {
			if !is && all[a] != 0 {
				t.Fatalf("%s: byte %d belongs to nobody and was written", p.name, a)
			}
		}
	}
}

// An encoded pointer is the pointer, and nothing else decodes to an accepted one.
func TestPointerEncoding(t *testing.T) {
	b := newBed(t, bedOptions{config: Config{Servers: []int{1}}})
	defer b.close()
	rapid.Check(t, func(rt *rapid.T) {
		p := b.alloc(1, rapid.IntRange(1, 5000).Draw(rt, "bytes"))
		text := p.Append(nil)
		q, err := ParsePtr(text)
		if err != nil || q != p || len(text) != PtrBytes {
			rt.Fatalf("%+v became %+v, %v", p, q, err)
		}
		i := rapid.IntRange(0, PtrBytes-3).Draw(rt, "byte") // the last two carry nothing
		text[i] ^= byte(rapid.IntRange(1, 255).Draw(rt, "change"))
		if q, err = ParsePtr(text); err != nil {
			rt.Fatal(err)
		}
		if _, err := b.m.resolve(q); err == nil && q != p {
			rt.Fatalf("%+v is accepted", q)
		}
	})
}
