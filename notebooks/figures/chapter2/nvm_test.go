package chapter2

import (
	"context"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// A figure of §2.3, with shorter runs than it has. Its mechanisms show all the same: a partial write reads first, one that is
// aligned and padded does not. That 2-18b and 2-19a come out so is for who looks at the figures.
func TestNVMFigure(t *testing.T) {
	if testing.Short() {
		t.Skip("runs of seven machines")
	}
	f, err := recipe(t, "2-18a").RunWith(context.Background(), figure.Quick, experiment.Knobs{"workload.keys": 50_000, "warmup_ns": 50_000, "duration_ns": 50_000}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s\n%d ms", f, f.WallMS)
	measured := map[string]float64{}
	for _, c := range f.Claims {
		if c.Measured != nil {
			measured[c.ID] = *c.Measured
		}
	}
	if n := measured["f2-17-requests"]; n < 1.95 || n > 2.05 {
		t.Errorf("%g requests to the NVM for a partial write", n)
	}
	if n, ok := measured["f2-18a-reads"]; !ok || n != 0 {
		t.Errorf("%g %% reads of aligned and padded writes", n)
	}
}

// points is a line over some X.
func points(name string, xs []float64, ys ...float64) figure.Series {
	s := figure.Series{Name: name}
	for i, y := range ys {
		s.Points = append(s.Points, figure.Point{X: xs[i], Y: y, Run: i})
	}
	return s
}

// The verdicts on figures 2-16 to 2-19, on invented points.
func TestSection23Verdicts(t *testing.T) {
	busy := &result.Bottleneck{Resource: "nvm_write", Utilization: 0.9}
	run := func(mreqs float64, reads, writes, commits uint64) *result.Result {
		return &result.Result{Throughput: 2e6 * mreqs, Commits: commits, Bottleneck: busy, NVM: &result.NVMStat{ReadReq: reads, WriteReq: writes}}
	}
	xs := []float64{8, 64, 128}
	judged := func(align, pad float64, requests uint64) []figure.Claim {
		return claimsOneSidedReads(&figure.Figure{ID: "2-18a", Runs: []*result.Result{run(50, requests-100, 100, 100), run(48, 0, 100, 100), run(30, 0, 200, 100)}, Series: []figure.Series{
			points(readsBase, xs, 100, 99, 66), points(readsAlign, xs, align, 0, 0), points(readsPad, xs, 0, 0, pad)}})
	}
	for _, x := range []struct {
		align, pad              float64
		requests                uint64
		seventeen, reads, limit string
	}{
		{100, 0, 200, figure.Holds, figure.Holds, figure.Holds},
		{100, 20, 200, figure.Holds, figure.Contradicted, figure.Holds},
		{0, 0, 100, figure.Contradicted, figure.Contradicted, figure.Holds}, // nothing is read that padding could save
	} {
		c := judged(x.align, x.pad, x.requests)
		if c[0].Status != x.seventeen || c[1].Status != x.reads || c[2].Status != x.limit || *c[2].Measured != 64 {
			t.Errorf("%+v: %s, %s, %s up to %g", x, c[0].Status, c[1].Status, c[2].Status, *c[2].Measured)
		}
	}
	for _, x := range []struct {
		pad, nt      float64
		store, order string
	}{{100, 0, figure.Holds, figure.Holds}, {100, 100, figure.Holds, figure.Contradicted}, {0, 0, figure.Contradicted, figure.Contradicted}, {60, 0, figure.Contradicted, figure.Holds}} {
		c := claimsTwoSidedReads(&figure.Figure{ID: "2-18b", Series: []figure.Series{points(readsBase, xs, 100, 100, 101), points(readsAlign, xs, 101, 100, 100),
			points(readsPad, xs, 100, x.pad, 100), points(readsNT, xs, 0, x.nt, 0)}})
		if c[0].Status != x.store || c[1].Status != x.order {
			t.Errorf("%+v: %s, %s", x, c[0].Status, c[1].Status)
		}
	}
	runs := []*result.Result{{Bottleneck: busy}, {Bottleneck: busy}, {Bottleneck: busy}}
	for want, h3 := range map[string]float64{figure.Holds: 1.9, figure.Contradicted: 1.1} {
		f := &figure.Figure{ID: "2-19a", Runs: runs, Series: []figure.Series{points(octopusNVM, xs, 1, 1, 1), points(octopusOpt, xs, 2, 2, 2),
			points(octopusPersist, xs, 2, 2, 2), points(octopusFlushless, xs, 2, 2, 2), points(octopusOneHint, xs, h3, 1.9, 1.9)}}
		if c := mainlyOneHint(f); c.Status != want {
			t.Errorf("H3 alone %g of 2: %s", h3, c.Status)
		}
	}
	large := []float64{4096, 65536, 131072}
	for _, x := range []struct {
		on   []float64
		want string
	}{{[]float64{80, 50, 50}, figure.Holds}, {[]float64{50, 50, 50}, figure.Holds}, {[]float64{50, 50, 80}, figure.Contradicted}, {[]float64{50, 80, 50}, figure.Contradicted}} {
		f := &figure.Figure{ID: "2-16a", Runs: runs, Series: []figure.Series{points(ddioOn, large, x.on...), points(ddioOff, large, 100, 100, 100)}}
		if c := ddioHalves(f); c.Status != x.want {
			t.Errorf("%v: %s", x.on, c.Status)
		}
	}
}
