package ready

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// It is a queue, of any length.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var q Queue[int]
		q.Init(rapid.IntRange(0, 20).Draw(r, "room"))
		var want, got []int
		for i, in := range rapid.SliceOfN(rapid.Bool(), 1, 200).Draw(r, "steps") {
			if in {
				want = append(want, i)
				q.Push(&i)
			} else if q.Len() > 0 {
				got = append(got, *q.Pop())
			}
			if q.Len() != len(want)-len(got) || !slices.Equal(got, want[:len(got)]) {
				r.Fatalf("%v of %v, %d are left", got, want, q.Len())
			}
		}
		if q.Clear(); q.Len() != 0 {
			r.Fatalf("%d are left", q.Len())
		}
	})
}
