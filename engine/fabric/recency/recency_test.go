package recency

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The order is that of a list, wherever the ring of uses begins and where the numbers of uses end. Rounds
// over more numbers than fit never compact the ring, repeated ones do all the time.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 70).Draw(t, "limit")
		numbers := limit + 2 + rapid.IntRange(0, 2*limit).Draw(t, "more")
		var o Order
		o.Begin(numbers, limit)
		o.head = -rapid.Uint32Range(0, 400).Draw(t, "uses before numbers end")
		o.tail = o.head
		var list []uint32 // most recent first
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 1<<20), 1, 20).Draw(t, "parts") {
			width := rapid.IntRange(1, numbers-1).Draw(t, "of so many")
			inTurn := rapid.Bool().Draw(t, "in turn")
			for j := range 60 {
				k := uint32(1 + (i+j)%width)
				if !inTurn {
					k = uint32(1 + i*(j+7)%61%width)
				}
				has := slices.Index(list, k)
				if o.Has(k) != (has >= 0) {
					t.Fatalf("%d is kept: %v, the list is %v", k, o.Has(k), list)
				}
				o.Use(k)
				if has >= 0 {
					list = slices.Delete(list, has, has+1)
				} else if len(list) == limit {
					o.Forget()
					list = list[:limit-1]
				}
				list = slices.Insert(list, 0, k)
			}
		}
	})
}
