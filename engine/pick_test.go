package engine

import (
	"context"
	"math"
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// The transaction that is picked has the latency of the quantile that was asked for: a system that
// runs the same and is measured over the time of the sample has it there.
func TestPickIsNearTheQuantile(t *testing.T) {
	for _, c := range []Choice{{"balance", 0.5}, {"", 0.99}} {
		s, measured := open(t, small(nil)), open(t, small(nil))
		advance(t, s, 100_000)
		advance(t, measured, 100_000)
		measured.Mark()
		pick, err := s.Pick(c)
		if err != nil {
			t.Fatal(err)
		}
		for !pick.Done() {
			if pick.target == 0 {
				advance(t, measured, 5_000)
			}
			advance(t, s, 5_000)
		}
		p, err := pick.End()
		if err != nil {
			t.Fatal(err)
		}
		r := measured.Result()
		l := r.LatencyUS
		if c.Type != "" {
			l = r.ByType[c.Type].LatencyUS
		}
		want := map[float64]float64{0.5: l.P50, 0.99: l.P99}[c.Quantile]
		if math.Abs(p.TargetNS/1000-want) > 0.05*want {
			t.Errorf("%+v: the sample of %d has it at %g µs, measured %g", c, p.Sample, p.TargetNS/1000, want)
		}
		if math.Abs(p.LatencyNS-p.TargetNS) > 0.05*p.TargetNS {
			t.Errorf("%+v: picked one of %g ns, the target is %g of %d, among %d", c, p.LatencyNS, p.TargetNS, p.Sample, p.Among)
		}
		x := p.Txn
		if c.Type != "" && x.Type != c.Type || x.Outcome != "committed" || len(x.Phases) == 0 || len(x.Verbs) == 0 {
			t.Errorf("%+v", x)
		}
		waited := 0.0
		for _, w := range x.Waits {
			waited += w.NS
		}
		if math.Abs(waited-(x.EndNS-x.BeginNS)) > 0.01*waited {
			t.Errorf("the waits add up to %g of %g ns", waited, x.EndNS-x.BeginNS)
		}
	}
}

// A pick that looks on while the system runs leaves the run as it is.
func TestPickChangesNothing(t *testing.T) {
	a, b := open(t, small(nil)), open(t, small(nil))
	p, err := a.Pick(Choice{Quantile: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Pick(Choice{Quantile: 0.5}); err == nil || !strings.Contains(err.Error(), "under way") {
		t.Errorf("two at a time: %v", err)
	}
	if _, err := a.Trace(3); err == nil {
		t.Error("a trace while a pick is under way")
	}
	for i := 0; i < 40 && !p.Done(); i++ {
		advance(t, a, 50_000)
	}
	x, err := p.End()
	if err != nil {
		t.Fatal(err)
	}
	if x.Txn.Type == "" || x.Sample < 100 {
		t.Errorf("%+v", x)
	}
	advance(t, b, a.NowNS())
	if a.Digest() != b.Digest() {
		t.Error("a run with a pick has another digest")
	}
	if a.tracer != nil {
		t.Error("the tracer stays")
	}
	if _, err := a.Trace(3); err != nil {
		t.Error(err)
	}
}

func TestPickRefuses(t *testing.T) {
	s := open(t, small(nil))
	for _, c := range []Choice{{"balance", 0}, {"balance", 1}, {"balance", math.NaN()}, {"payment", 0.5}} {
		if _, err := s.Pick(c); !experiment.IsSpecError(err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	looked := 0
	if _, err := s.TraceOf(ctx, Choice{"balance", 0.99}, func(done, total int) { looked++; cancel() }); err != context.Canceled || looked != 1 {
		t.Errorf("%v after %d looks", err, looked)
	}
	p, err := s.Pick(Choice{"balance", 0.99})
	if err != nil {
		t.Fatal(err)
	}
	advance(t, s, 1000)
	if _, err := p.End(); err == nil || !strings.Contains(err.Error(), "balance") {
		t.Errorf("ended at once: %v", err)
	}
}
