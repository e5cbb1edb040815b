package fabric

import (
	"testing"

	"drtmx/engine/sim"
)

// near compares with a row of calibration.csv; the issue allows 15 %.
func near(t *testing.T, row string, got, want float64) {
	t.Helper()
	t.Logf("%s: %.1f, published %.1f (%+.1f %%)", row, got, want, 100*(got/want-1))
	if got < 0.85*want || got > 1.15*want {
		t.Errorf("%s: %.2f is not within 15 %% of %.2f", row, got, want)
	}
}

func peak(t *testing.T, op Opcode, bytes uint32, align uint64) float64 {
	b := newBed(t, bedOptions{machines: 16, threads: 24, span: 64 << 20})
	b.start(16, oneSided(op, bytes, align), nil)
	return b.rate(20*sim.Microsecond, 100*sim.Microsecond)
}

func TestPeakRead(t *testing.T)   { near(t, "f2-4a-read-peak", peak(t, Read, 64, 64), 86.9) }
func TestPeakWrite(t *testing.T)  { near(t, "f2-4a-write-peak", peak(t, Write, 64, 64), 130) }
func TestPeakAtomic(t *testing.T) { near(t, "f2-4-atomic-peak", peak(t, CompareSwap, 8, 64), 48) }
