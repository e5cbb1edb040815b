package xstore

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/xstore/hashed"
	"drtmx/xstore/tree"
)

// The client compares hash codes after it has fetched the leaf, whose slots have fat pointers, and fetches the value together with
// the actual key, which it checks (§3.6): READs of leaves, and one more, of the record. Where another key has the hash, a READ more
// for each that is in front.
func TestThesisRealKeyReads(t *testing.T) {
	for _, bits := range []int{hashed.Bits, 6} {
		b := newBed(t, 1, 1, 1, 1)
		b.real = names
		b.open(100, 8, Options{SubModels: 1, HashBits: bits})
		b.run(b.spawn(1, 0, func(c *r2.Co) {
			kv, value := b.x.Client(c), make([]byte, 8)
			for number := uint64(10); number <= 200; number += 10 {
				reads, before := b.f.Counts().Posted[fabric.Read], b.x.Stats()
				found, err := kv.Get(number, value)
				if !found || err != nil || changeOf(number, value) != 0 {
					t.Errorf("key %d: %v, %x, %v", number, found, value, err)
				}
				reads = b.f.Counts().Posted[fabric.Read] - reads
				after := b.x.Stats()
				leaves, others := after.Leaves-before.Leaves, after.Collisions-before.Collisions
				if reads != leaves+1+others || after.Fallbacks != 0 {
					t.Errorf("%d bits, key %d: %d READs, of %d leaves and %d records of other keys", bits, number, reads, leaves, others)
				}
			}
		}))
		if n := b.x.Stats().Collisions; (n == 0) != (bits == hashed.Bits) {
			t.Errorf("%d bits: %d records of other keys", bits, n)
		}
		b.close()
	}
}

// Bytes of these READs: a leaf with its slots has 320 if it is half full, 448 if it is full; a record 22 more than key and value, and a version of 2 bytes for each line if
// there are several.
func TestThesisRealKeyBytes(t *testing.T) {
	b := newBed(t, 1, 1, 1, 1)
	b.real = names
	b.open(100, 8, Options{})
	p := b.x.parts[0]
	if half, full, plain := p.slotBytes(8), p.slotBytes(16), p.layout.LookupBytes(); half != 320 || full != 448 || plain != 142 || full != p.layout.LeafBytes() {
		t.Errorf("lookup READs of %d, %d and %d bytes", half, full, plain)
	}
	for _, x := range []struct{ key, value, bytes int }{{16, 8, 46}, {34, 8, 64}, {35, 8, 69}, {128, 8, 164}, {128, 64, 222}} {
		size := len(tree.AppendRecord(nil, make([]byte, x.key), make([]byte, x.value)))
		if _, n := p.tree.EntryAddr(tree.FatPointer(uint64(size) << 48)); n != x.bytes {
			t.Errorf("a record of a key of %d bytes and a value of %d: %d", x.key, x.value, n)
		}
	}
}
