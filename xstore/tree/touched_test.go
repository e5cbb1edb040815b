package tree

import (
	"fmt"
	"strings"
	"testing"
)

// A walk through what is touched visits a leaf that somebody looked at, those that are wanted, and nothing else.
func TestEachTouched(t *testing.T) {
	for _, heap := range []uint64{0, 1 << 16} {
		b := newBed(t, 1, 1, 1)
		tr := b.tree(Options{ValueBytes: 64, Heap: heap, Value: firstValue, Keys: steps{100_000, 10}})
		visit := func(low, high uint64) string {
			var alns []string
			tr.EachTouched(func(from, to uint64) bool { return from <= high && to >= low }, func(l *Leaf) bool {
				alns = append(alns, fmt.Sprint(l.ALN))
				return true
			})
			return strings.Join(alns, " ")
		}
		if got := visit(^uint64(0), 0); got != "" {
			t.Errorf("nothing is touched, the walk visits %s", got)
		}
		at := tr.LeafAddr(9000) + 512
		tr.mem.Bytes(at, 1)
		var near []string // leaves that have a part of the block
		for n := uint32(8900); n < 9100; n++ {
			if from := tr.LeafAddr(n); from < at&^511+512 && from+uint64(tr.layout.bytes) > at&^511 {
				near = append(near, fmt.Sprint(n))
			}
		}
		if got, want := visit(^uint64(0), 0), strings.Join(near, " "); got != want {
			t.Errorf("leaves %s are touched, the walk visits %q", want, got)
		}
		if got := visit(tr.first.low(700)+1, tr.first.low(702)); !strings.HasPrefix(got, "700 701 702 900") {
			t.Errorf("700 to 702 are wanted, the walk visits %q", got)
		}
		if heap > 0 {
			tr.mem.Bytes(tr.heap.base+tr.heap.largest*8*50, 1)
			if got := visit(^uint64(0), 0); !strings.HasPrefix(got, "50 ") {
				t.Errorf("a value of leaf 50 is touched, the walk visits %q", got)
			}
		}
		b.close()
	}
}

// What is wrong in one place of a large tree is found, though the rest is not looked at.
func TestAuditFindsFaults(t *testing.T) {
	const leaf, inner = 5000, 700
	for _, c := range []struct {
		name string
		at   func(t *Tree) uint64
		want string
	}{
		{"a key", func(t *Tree) uint64 { return t.LeafAddr(leaf) + 20 }, "leaf 5000"},
		{"a link", func(t *Tree) uint64 { return t.LeafAddr(leaf) + 2 + headerBytes/2 }, "leaf 5000 has leaf"},
		{"a fence", func(t *Tree) uint64 { return t.LeafAddr(leaf) + uint64(t.layout.FencedBytes()) - 8 }, "leaf 5000 has fences"},
		{"a value's key", func(t *Tree) uint64 { return t.slotAddr(leaf, 3) + 2 }, "leaf 5000: the value of key"},
		{"a fence of an inner node", func(t *Tree) uint64 { return t.InnerAddr(inner) + 2 + lowAt }, "inner node 700 has fences"},
		{"a separator", func(t *Tree) uint64 { return t.InnerAddr(inner) + 2 + sepsAt }, "the index says"},
		{"the slab", func(t *Tree) uint64 { return t.base + leafSlab }, "the slab has given away"},
	} {
		b := newBed(t, 1, 1, 1)
		tr := b.tree(Options{ValueBytes: 64, Value: firstValue, Keys: steps{100_000, 10}})
		tr.mem.Bytes(c.at(tr), 1)[0] ^= 4
		var found []string
		tr.Audit(func(text string) { found = append(found, text) })
		if all := strings.Join(found, "\n"); !strings.Contains(all, c.want) || len(found) > 20 {
			t.Errorf("%s is wrong, %d faults: %.300s", c.name, len(found), all)
		}
		if tr.mem.Touched(tr.LeafAddr(0), 4000*uint64(tr.layout.bytes)) {
			t.Errorf("%s: the audit has touched leaves", c.name)
		}
		b.close()
	}
}
