package dashboard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"

	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/dashboard/charts/palette"
	"drtmx/engine/result"
)

// phaseOrder is the order in which a transaction goes through its phases; a moment has
// room for phaseRoom of them.
var phaseOrder = palette.Phases.Names()

const phaseRoom = 16

var phaseIndex = func() map[string]int {
	m := map[string]int{}
	for i, p := range phaseOrder {
		m[p] = i
	}
	return m
}()

// moment is what the page keeps of a window: a tenth of its size, so that the
// history of four systems fits, and without maps, so that walking it is cheap.
type moment struct {
	index      int
	t0, t1     int64
	version    int // of the knobs when it began
	commits    uint64
	failed     uint64
	lost       uint64
	throughput float64
	p50, p99   float64 // NaN: too few samples in the window
	aborts     float64 // in percent of attempts
	failures   float64 // in percent of requests; NaN: none ended
	trips      float64
	phases     [phaseRoom]float32 // mean us
	limit      limit
	gauges     []float32 // in the order of metrics.Gauges; nil: none shows anything
	hostTraffic
}

func momentOf(w *result.Window) moment {
	m := moment{
		index: w.Index, t0: w.T0NS, t1: w.T1NS, version: w.KnobsVersion, commits: w.Commits, throughput: w.Throughput,
		p50: absentIfZero(w.LatencyUS.P50), p99: absentIfZero(w.LatencyUS.P99), aborts: 100 * w.AbortRate, trips: w.RoundTripsPerTxn, hostTraffic: hostTrafficOf(w),
		failed: w.Failed, lost: w.Lost, failures: 100 * float64(w.Failed) / float64(w.Commits+w.Rollbacks+w.Failed),
	}
	for name, s := range w.Phases {
		if i, ok := phaseIndex[name]; ok {
			m.phases[i] = float32(s.MeanUS)
		}
	}
	if w.Commits == 0 { // nobody to take the mean of
		m.trips = math.NaN()
		for i := range m.phases {
			m.phases[i] = nan
		}
	}
	if w.Commits+w.Rollbacks+w.Aborts == 0 { // no attempt ended
		m.aborts = math.NaN()
	}
	m.limit, m.gauges = limitOfWindow(w), gaugesOf(w)
	return m
}

var nan = float32(math.NaN())

func absentIfZero(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

// momentsKept is as many as a system keeps windows.
const momentsKept = 20_000

// keeper fetches each window of a system once, however many pages look.
type keeper struct {
	source Source
	mu     sync.Mutex
	tracks map[string]*track
}

type track struct {
	mu      sync.Mutex
	epoch   string
	next    int
	moments []moment // only ever appended to, so that readers may keep a slice of it
}

func newKeeper(s Source) *keeper { return &keeper{source: s, tracks: map[string]*track{}} }

var errGone = errors.New("that system began again since, its windows are gone")

func snapshotOf(s interface{ Systems() []system.Snapshot }, sys string) (system.Snapshot, error) {
	var have []string
	for _, x := range s.Systems() {
		if x.Sys == sys {
			return x, nil
		}
		have = append(have, x.Sys)
	}
	return system.Snapshot{}, &agent.NoSystemError{Sys: sys, Have: have}
}

// moments returns the history of a system and the epoch that it belongs to. The
// slice is not to be changed.
func (k *keeper) moments(ctx context.Context, sys string) ([]moment, string, error) {
	k.mu.Lock()
	t := k.tracks[sys]
	if t == nil {
		t = &track{}
		k.tracks[sys] = t
	}
	k.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	for range 3 {
		before, err := snapshotOf(k.source, sys)
		if err != nil {
			return nil, "", err
		}
		if before.Epoch != t.epoch {
			t.epoch, t.next, t.moments = before.Epoch, 0, nil
		}
		ws, err := k.source.Windows(ctx, sys, t.next)
		if err != nil {
			return nil, "", err
		}
		// A reset in between would mix two lives of the system.
		if after, err := snapshotOf(k.source, sys); err != nil || after.Epoch != t.epoch {
			continue
		}
		t.add(ws)
		return t.moments, t.epoch, nil
	}
	return nil, "", fmt.Errorf("system %s keeps beginning again", sys)
}

func (t *track) add(ws []result.Window) {
	for i := range ws {
		t.moments = append(t.moments, momentOf(&ws[i]))
		t.next = ws[i].Index + 1
	}
	if n := len(t.moments); n > momentsKept+momentsKept/4 {
		t.moments = append([]moment(nil), t.moments[n-momentsKept:]...)
	}
}

// between is the moments of a span of virtual time.
func between(ms []moment, from, to int64) []moment {
	lo := sort.Search(len(ms), func(i int) bool { return ms[i].t0 >= from })
	hi := sort.Search(len(ms), func(i int) bool { return ms[i].t1 > to })
	return ms[min(lo, hi):hi]
}
