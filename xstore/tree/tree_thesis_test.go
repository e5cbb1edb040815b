package tree

import (
	"testing"

	"drtmx/engine/record"
)

// The header of a leaf is 64 bits: INCA 24, CNT 8, NXT 32 (§3.4.1).
func TestThesisHeader(t *testing.T) {
	b := make(keyBlock, headerBytes)
	b.setHeader(0xabcdef, 0x12, 0x87654321)
	if b.inca() != 0xabcdef || b.cnt() != 0x12 || b.nxt() != 0x87654321 || b.header() != 0x87654321_12_abcdef {
		t.Errorf("header %#x", b.header())
	}
	if nextINCA(incaMask) != 0 {
		t.Error("the incarnation has more than 24 bits")
	}
}

// Bytes of READs and nodes: keys apart from values, versions per line (§3.4.1, §3.4.3).
func TestThesisSizes(t *testing.T) {
	for _, x := range []struct{ slots, value, lookup, first, leaf int }{
		{16, 8, 8 + 128 + 3*2, 16, 448},
		{16, 64, 8 + 128 + 3*2, 8 + 64 + 2*2, 1472},
		{8, 8, 8 + 64 + 2*2, 16, 256},
		{32, 8, 8 + 256 + 5*2, 16, 832},
	} {
		l, err := NewLayout(x.slots, x.value)
		if err != nil {
			t.Fatal(err)
		}
		at, n := l.Value(0)
		if l.LookupBytes() != x.lookup || n != x.first || l.LeafBytes() != x.leaf || at%record.LineBytes != 0 {
			t.Errorf("%d slots of %d bytes: lookup READ %d, value READ %d at %d, leaf %d", x.slots, x.value, l.LookupBytes(), n, at, l.LeafBytes())
		}
	}
	if in, err := newInnerLayout(16); err != nil || in.Bytes() != 208+4*2 || in.NodeBytes() != 256 {
		t.Errorf("inner nodes: READ of %d bytes, %d apart, %v", in.Bytes(), in.NodeBytes(), err)
	}
}

// 100 million keys in leaves of 16 slots, half full: 12.5 million leaves, whose TT entries of 8 bytes take 100 MB (§3.4.1), 7
// levels of index and one of leaves (§3.7.1). They take no memory until touched; all touched, leaves and index of 8-byte values
// are below 8 GB.
func TestThesisHundredMillionKeys(t *testing.T) {
	b := newBed(t, 1, 1, 1)
	tr := b.tree(Options{Keys: steps{100_000_000, 10}, ValueBytes: 8})
	s := tr.Stats()
	if s.Leaves != 12_500_000 || s.Levels != 8 || uint64(s.Leaves)*8 != 100_000_000 {
		t.Errorf("%+v", s)
	}
	if all := s.LeafBytes + s.InnerBytes; all > 8e9 {
		t.Errorf("%d bytes", all)
	}
	t.Logf("%+v", s)
	z, err := SizesOf(tr.o)
	if want := uint64(s.InnerNodes) * uint64(tr.Inner().Bytes()); err != nil || z != (Sizes{uint64(s.Leaves), s.InnerNodes, s.Levels, want}) {
		t.Errorf("without the tree: %+v, %v", z, err)
	}
	value := make([]byte, 8)
	if _, found := tr.Find(777_777_770, value); !found {
		t.Error("a key is missing")
	}
	if _, found := tr.Find(777_777_771, value); found {
		t.Error("a key too many")
	}
	if mem := b.cl.Mem(0); mem.Materialized(tr.RootAddr()) || mem.Materialized(tr.LeafAddr(0)) {
		t.Error("looking at the tree has made some of it")
	}
}

// The median splits: the lower half stays, the new pair is in its half (§3.4.3.2).
func TestThesisFill(t *testing.T) {
	for slots := 2; slots <= maxSlots; slots++ {
		if lower := (slots + 2) / 2; lower > slots || slots+1-lower > slots || lower < (slots+1)/2 || lower-(slots+1-lower) > 1 {
			t.Errorf("%d pairs: %d stay", slots+1, lower)
		}
	}
}
