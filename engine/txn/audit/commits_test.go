package audit

import (
	"testing"

	"drtmx/engine/record"
)

// TestCommits: each record has its own count, whether its key is below the bound or beyond it,
// and who asks makes no memory.
func TestCommits(t *testing.T) {
	const bound = 3*commitChunk + 5
	v := newCommits(bound)
	keys := []uint64{0, 1, commitChunk, bound - 1, 4 * commitChunk, 1 << 40}
	for i, key := range keys {
		if got := v.last(key); got != record.InitialSeq {
			t.Errorf("key %d begins with version %d", key, got)
		}
		for range i + 1 {
			v.next(key)
		}
	}
	for i, key := range keys {
		if got, want := v.last(key), record.InitialSeq+uint64(i+1); got != want {
			t.Errorf("key %d has version %d after %d commits, want %d", key, got, i+1, want)
		}
	}
	v.last(2 * commitChunk)
	if v.chunks[2] != nil {
		t.Error("memory without a commit")
	}
	if n := testing.AllocsPerRun(100, func() { v.next(1); v.last(1); v.next(1 << 40) }); n != 0 {
		t.Errorf("%v allocations per commit", n)
	}
}
