package datagram

import (
	"testing"

	"pgregory.net/rapid"
)

// What is noted of a request stays its own until it is retired, however many begin meanwhile and wherever the numbers wrap.
func TestOpen(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		o := NewOpen[uint32]()
		start := rapid.SampledFrom([]uint32{0, 1, 1<<32 - 3}).Draw(r, "start")
		o.Next, o.Oldest = start, start
		for _, begins := range rapid.SliceOfN(rapid.Bool(), 1, 600).Draw(r, "steps") {
			if begins && !o.Full() {
				seq, x := o.Begin()
				*x = seq ^ 77
			} else if o.Any() {
				o.Oldest++
			}
			if o.Full() != (o.Next-o.Oldest == RequestWindow) || o.Has(o.Next) || o.Has(o.Oldest-1) || o.Has(o.Oldest) != o.Any() {
				r.Fatalf("of [%d, %d): full %v, any %v", o.Oldest, o.Next, o.Full(), o.Any())
			}
			for s := o.Oldest; s != o.Next; s++ {
				if *o.At(s) != s^77 || !o.Has(s) {
					r.Fatalf("request %d of [%d, %d) has %d", s, o.Oldest, o.Next, *o.At(s)^77)
				}
			}
		}
	})
}
