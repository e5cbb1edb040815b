package core

import (
	"testing"

	"drtmx/engine/sim"
)

// A log whose bytes are durable in time takes no more of the host's memory than the bytes that it keeps.
func TestLogMemory(t *testing.T) {
	f := &LogFile{clock: sim.New(sim.Options{Seed: 1}), Most: 300_000}
	for range 1000 {
		f.append(make([]byte, 5000))
		f.durable = f.end
	}
	if from, to := f.Kept(); to != 5_000_000 || to-from > 300_000 {
		t.Errorf("bytes %d to %d are kept", from, to)
	}
	if n := len(f.chunks) + len(f.spare); n > 300_000/logChunk+3 {
		t.Errorf("%d chunks", n)
	}
}
