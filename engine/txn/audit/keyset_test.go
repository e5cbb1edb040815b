package audit

import (
	"slices"
	"testing"
)

func TestKeySet(t *testing.T) {
	const bound = 3*keyChunk + 5
	s := newKeySet(bound)
	var want []uint64
	for _, key := range []uint64{bound - 1, 0, keyChunk - 1, keyChunk, 63, 64, 63, bound, 1 << 40} {
		if s.add(key); !slices.Contains(want, key) {
			want = append(want, key)
		}
	}
	slices.Sort(want)
	var got []uint64
	s.each(func(key uint64) { got = append(got, key) })
	if !slices.Equal(got, want) {
		t.Errorf("has %v, want %v", got, want)
	}
	if s.chunks[2] != nil {
		t.Error("memory without a member")
	}
}
