package hashed

import (
	"bytes"
	"fmt"
	"testing"

	"drtmx/engine/store"
)

// tens are so many keys, ten apart.
type tens uint64

func (n tens) Len() uint64         { return uint64(n) }
func (n tens) Key(i uint64) uint64 { return 10 * (i + 1) }
func (n tens) Rank(key uint64) (uint64, bool) {
	return min((max(key, 1)+9)/10-1, uint64(n)), key > 0 && key%10 == 0 && key <= 10*uint64(n)
}

// names are keys of 1 to 24 bytes.
var names = &store.RealKeys{Most: 24, Append: func(dst []byte, number uint64) []byte {
	return fmt.Appendf(dst, "%d-%.*s", number, number%17, "sixteen more byte")
}}

// Initial keys are sorted by hash, and those of a hash by their bytes: what recovery merges with the log.
func TestSet(t *testing.T) {
	for _, hashBits := range []int{Bits, 7} {
		spec := &store.KVSpec{Name: "test", Servers: 1, Keys: tens(1000), ValueBytes: 8, Real: names}
		s, err := NewSet(spec, Hash(hashBits))
		if err != nil {
			t.Fatal(err)
		}
		if shared := s.Len() < 1000; shared != (hashBits < Bits) {
			t.Errorf("%d bits: %d hashes", hashBits, s.Len())
		}
		half := s.Len() / 2
		seen, before := map[uint64]bool{}, []byte{}
		for _, r := range []struct {
			*Share
			n uint64
		}{{s.Share(0), half}, {s.Share(half), s.Len() - half}} {
			next := uint64(0)
			for i := range r.n {
				from, to := r.Records(i)
				if from != next || to <= from {
					t.Fatalf("%d bits: records %d to %d of hash %d, before %d", hashBits, from, to, i, next)
				}
				before = before[:0]
				for next = from; next < to; next++ {
					real := r.Real(next, nil)
					if r.HashOf(next) != i || r.Hash(real) != s.Key(i+r.hash0) || bytes.Compare(before, real) >= 0 {
						t.Fatalf("%d bits: record %d", hashBits, next)
					}
					before = real
					seen[s.number(next+r.record0)] = true
				}
			}
		}
		if len(seen) != 1000 {
			t.Errorf("%d bits: %d keys", hashBits, len(seen))
		}
	}
}
