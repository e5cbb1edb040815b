package gather

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric/space"
)

// The pieces of a range of a buffer are its bytes in order, each once, whatever is empty; and lists are independent of each other.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var lists Lists
		var numbers []uint32
		var want [][]space.Addr // addresses of the bytes
		for range rapid.IntRange(1, 6).Draw(r, "lists") {
			var segs []Segment
			var bytes []space.Addr
			for i, n := range rapid.SliceOfN(rapid.Uint32Range(0, 9), 1, 8).Draw(r, "lengths") {
				s := Segment{Local: space.Addr(100 * (i + 1)), LKey: uint32(i), Len: n}
				segs = append(segs, s)
				for k := range n {
					bytes = append(bytes, s.Local+space.Addr(k))
				}
			}
			if int(Bytes(segs)) != len(bytes) {
				r.Fatalf("%d bytes, want %d", Bytes(segs), len(bytes))
			}
			numbers, want = append(numbers, lists.Add(segs[0], segs[1:])), append(want, bytes)
			clear(segs)
		}
		for i, n := range numbers {
			from := rapid.IntRange(0, len(want[i])).Draw(r, "from")
			to := rapid.IntRange(from, len(want[i])).Draw(r, "to")
			at := uint32(from)
			var got []space.Addr
			lists.Of(n).Pieces(uint32(from), uint32(to), func(a space.Addr, first, n uint32) {
				if first != at || n == 0 {
					r.Errorf("a piece of %d bytes from %d on, want %d", n, first, at)
				}
				at += n
				for k := range n {
					got = append(got, a+space.Addr(k))
				}
			})
			if !slices.Equal(got, want[i][from:to]) {
				r.Errorf("bytes [%d, %d) are at %v, want %v", from, to, got, want[i][from:to])
			}
			lists.Release(n)
		}
		if lists.InUse() != 0 {
			r.Errorf("%d lists are in use", lists.InUse())
		}
	})
}

// The first segment that is refused is named, and one without bytes never is.
func TestRefused(t *testing.T) {
	list := []Segment{{LKey: 1, Len: 4}, {LKey: 2, Len: 0}, {LKey: 2, Len: 4}, {LKey: 2, Len: 4}}
	for key, want := range map[uint32]int{1: 2, 2: 0, 3: 0} { // order-free
		if got := Refused(list, func(k uint32, _ space.Addr, _ uint32) bool { return k == key }); got != want {
			t.Errorf("key %d alone is allowed: segment %d, want %d", key, got, want)
		}
	}
}
