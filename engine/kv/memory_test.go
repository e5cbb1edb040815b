package kv

import (
	"runtime"
	"testing"

	"drtmx/engine/r2"
)

const (
	pageBytes  = 4096 // of the host
	blockBytes = 512  // made at a time
)

// pages counts the host's pages of a region of which something came into being.
func (b *bed) pages(machine int, base r2.Addr, bytes uint64) (n int) {
	made := func(page r2.Addr) bool {
		for a := page; a < min(page+pageBytes, base+bytes); a += blockBytes {
			if b.cl.Mem(machine).Materialized(a) {
				return true
			}
		}
		return false
	}
	for a := base; a < base+bytes; a += pageBytes {
		if made(a) {
			n++
		}
	}
	return n
}

// SmallBank's two tables with a tenth of the default population, every record looked up and every row read on all
// replicas: what the whole costs in the end.
func TestMemoryWhenAllIsTouched(t *testing.T) {
	for i, most := range []float64{packedBytes + 1, wideBytes + 1} {
		memoryWhenAllIsTouched(t, kinds[1-i], most)
	}
}

func memoryWhenAllIsTouched(t *testing.T, k kind, most float64) {
	const keys = 160_000
	b := newBed(t, 4, 1, 1)
	b.kind = k
	tb := b.table(keys, 8, 1000, 3)
	index, rows := 0, 0
	for m, shards := range tb.shards {
		for _, s := range shards {
			mem := b.cl.Mem(m)
			for j := range s.n {
				for node := s.slotOf(s.hash(j)) + 1; node != 0; {
					node = uint64(next(mem.Bytes(s.nodeAddr(node-1), s.bytes)))
				}
				mem.Bytes(s.rowAddr(uint32(j)), tb.RowBytes())
			}
			index += b.pages(m, s.nodes.base, s.nodeEnd*uint64(s.bytes))
			rows += b.pages(m, s.rows.base, uint64(s.rowEnd)*uint64(tb.rows.Stride))
		}
		for i := range tb.Backups() {
			k := tb.backups[m][i]
			for _, s := range shards {
				for j := range s.n {
					b.cl.Mem(k.host).Bytes(k.rowAddr(s, uint32(j)), tb.RowBytes())
				}
				rows += b.pages(k.host, k.rows[s.socket].base, uint64(s.rowEnd)*uint64(tb.rows.Stride))
			}
		}
	}
	perKey := func(pages int) float64 { return float64(pages) * pageBytes / keys }
	t.Logf("%.1f bytes of buckets and %.1f bytes of rows per record", perKey(index), perKey(rows))
	if perKey(index) > most || perKey(rows) > 3*24+1 {
		t.Errorf("%.1f bytes of buckets and %.1f bytes of rows per record", perKey(index), perKey(rows))
	}
}

// 38.4 million accounts on 16 machines: nothing is computed before it is touched, and a machine's location cache of
// 300 MB takes two bits per record.
func TestPaperScaleStartsEmpty(t *testing.T) {
	const keys = 38_400_000
	b := newBed(t, 16, 1, 1)
	var before, after runtime.MemStats
	runtime.GC() // what earlier tests left would else be freed in between, and taken off
	runtime.ReadMemStats(&before)
	var tables []*Table
	for range 2 {
		tables = append(tables, b.table(keys, 8, 0, 3))
	}
	var caches []*Cache
	for m := range 16 {
		x, err := NewCache(b.cl, m, numbered(t, tables), 300_000_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		caches = append(caches, x)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	// Beside the bits, 8 bytes for each page of machines' memory: 33 MB.
	if used := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20; used > 16*2*2*keys/8>>20+48 {
		t.Errorf("%d MB for empty tables and caches", used)
	}
	for m := range 16 {
		for _, s := range tables[0].shards[m] {
			if n := b.pages(m, s.nodes.base, 1<<24) + b.pages(m, s.rows.base, 1<<24); n != 0 {
				t.Fatalf("%d pages of machine %d came into being", n, m)
			}
		}
	}
	if n := caches[3].Stats().Capacity; n != 4*(300_000_000/64) {
		t.Errorf("a cache of 300 MB has room for %d entries", n)
	}
	b.do(5, func(c *r2.Co) {
		for key := uint64(1); key < keys; key += keys / 7 {
			_, row, ok, err := read(c, tables[1], key)
			if !ok || err != nil || !holds(row[16:], key) {
				t.Errorf("key %d: %v, %v, row %x", key, ok, err, row)
			}
		}
	})
}
