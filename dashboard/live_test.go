package dashboard

import (
	"math"
	"strings"
	"testing"

	"drtmx/dashboard/charts"
	"drtmx/dashboard/windows"
	"drtmx/engine/result"
)

// TestLineOfMergedWindows: where every fourth window has the p99 of four together, the line has a point in the middle of each four,
// and no gap between them; where nothing ends for a while there is one.
func TestLineOfMergedWindows(t *testing.T) {
	var ms []windows.Moment
	for i := range 24 {
		w := result.Window{Index: i, T0NS: int64(i) * 1e6, T1NS: int64(i+1) * 1e6, Throughput: 10, Commits: 300, LatencyUS: result.Latency{P50: 5}}
		if i%4 == 3 && i < 12 {
			w.Merged = &result.MergedLatency{P99US: 40, P99Windows: 4}
		}
		if i >= 12 && i < 16 {
			w.Commits = 0
		}
		if i == 20 { // with those since the gap
			w.Merged = &result.MergedLatency{P99US: 50, P99Windows: 5}
		}
		ms = append(ms, windows.Of(&w))
	}
	h := history{moments: ms}
	s := line(h, ms[:12], tracks[2])
	if len(s.X) != 3 || s.X[0] != 2 || s.X[1] != 6 || s.X[2] != 10 || s.Y[0] != 40 {
		t.Errorf("%v %v", s.X, s.Y)
	}
	gaps := 0
	s = line(h, ms, tracks[2])
	for _, y := range s.Y {
		if math.IsNaN(y) {
			gaps++
		}
	}
	if gaps != 4+3 || len(s.Y) != 3+4+1+3 { // the empty ones, and those at the end that are not together enough yet
		t.Errorf("%d gaps: %v", gaps, s.Y)
	}
	if o := drawTracks([]history{h}, 0, 24e6, tracks, charts.Size{Width: 600}).Option(); !strings.Contains(o, "99th percentile, of up to 5 windows each") {
		t.Error("the title does not say how many windows are together")
	}
}
