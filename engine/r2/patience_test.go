package r2

import (
	"testing"

	"drtmx/engine/sim"
)

// Answers that take long raise the patience above them, however much of the waiting
// was repetition, and quick ones let it fall back to the least.
func TestPatience(t *testing.T) {
	const us = sim.Microsecond
	w := &Worker{cl: &Cluster{cfg: Config{ResendAfter: 200 * us}}}
	if got := w.resendAfter(); got != 200*us {
		t.Errorf("at first %d us", got/us)
	}
	for range 100 {
		w.heard(&call{sentAt: -500 * us})
	}
	if got := w.resendAfter(); got < 500*us || got > 600*us {
		t.Errorf("%d us after answers of 500", got/us)
	}
	slow := w.patience.mean
	w.heard(&call{sentAt: -100 * us, tries: 3}) // the last repetition was answered at once
	if w.patience.mean <= slow {
		t.Errorf("mean of %d us after three repetitions of %d", w.patience.mean/us, slow/us)
	}
	for range 1000 {
		w.heard(&call{sentAt: -10 * us})
	}
	if got := w.resendAfter(); got != 200*us {
		t.Errorf("%d us after quick answers", got/us)
	}
	for range 100 {
		w.heard(&call{sentAt: -sim.Second})
	}
	if got := w.resendAfter(); got != maxPatience*200*us {
		t.Errorf("%d us at most", got/us)
	}
}
