package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"drtmx/cluster/agent"
	"drtmx/cluster/job"
	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/dashboard/card"
	"drtmx/dashboard/windows"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

const windowNS = 200_000

// fakeSource is an agent without one: histories that a test wrote.
type fakeSource struct {
	causes  map[string]job.CausesState
	sweep   job.SweepState
	start   experiment.Spec // what the session began with
	spec    experiment.Spec
	each    map[string]experiment.Knobs // what a system has other than spec
	systems []system.Snapshot
	windows map[string][]result.Window
	events  map[string][]session.Event
	fetched int // windows handed out
}

func newFake(t *testing.T) *fakeSource {
	t.Helper()
	spec, err := experiment.LoadSpec("")
	if err != nil {
		t.Fatal(err)
	}
	return &fakeSource{
		start: spec, spec: spec, systems: []system.Snapshot{{Sys: "a", Epoch: "e1", State: "running", KnobsVersion: 1}},
		windows: map[string][]result.Window{}, events: map[string][]session.Event{},
	}
}

// run adds windows of system a.
func (f *fakeSource) run(n int, throughput float64) {
	s := &f.systems[0]
	for range n {
		i := len(f.windows["a"])
		f.windows["a"] = append(f.windows["a"], result.Window{
			Index: i, T0NS: int64(i) * windowNS, T1NS: int64(i+1) * windowNS, KnobsVersion: s.KnobsVersion,
			Throughput: throughput + float64(i%3)*1000, Commits: 1000, LatencyUS: result.Latency{P50: 15 + float64(i%2)/10, P99: 30},
			Phases: map[string]result.PhaseStat{"lock": {MeanUS: 5}, "execution": {MeanUS: 10}}, Bottleneck: &result.Bottleneck{Resource: "cpu", Utilization: 0.9},
		})
		s.VirtualNS = int64(i+1) * windowNS
	}
}

func (f *fakeSource) set(t *testing.T, k experiment.Knobs) {
	t.Helper()
	was, err := experiment.Resolve(f.spec)
	if err != nil {
		t.Fatal(err)
	}
	if f.spec, err = f.spec.With(k); err != nil {
		t.Fatal(err)
	}
	e := session.Event{Kind: "knob", By: "notebook", Set: k, Was: experiment.Knobs{}, VirtualNS: f.systems[0].VirtualNS}
	for n := range k {
		e.Was[n] = was[n]
	}
	f.systems[0].KnobsVersion++
	e.Version = f.systems[0].KnobsVersion
	f.events["a"] = append(f.events["a"], e)
}

func (f *fakeSource) Systems() []system.Snapshot { return f.systems }

func (f *fakeSource) find(sys string) error { _, err := windows.SnapshotOf(f, sys); return err }

func (f *fakeSource) Windows(_ context.Context, sys string, from int) ([]result.Window, error) {
	ws := f.windows[sys]
	ws = ws[min(from, len(ws)):]
	f.fetched += len(ws)
	return ws, f.find(sys)
}

func (f *fakeSource) Events(_ context.Context, sys string) ([]session.Event, error) {
	return f.events[sys], f.find(sys)
}

func (f *fakeSource) Knobs(_ context.Context, sys string) ([]experiment.KnobState, error) {
	if err := f.find(sys); err != nil {
		return nil, err
	}
	spec, err := f.spec.With(f.each[sys])
	if err != nil {
		return nil, err
	}
	return experiment.Describe(spec)
}

func (f *fakeSource) Spec(_ context.Context, sys string) (experiment.Spec, error) {
	return f.spec, f.find(sys)
}

// Session is the file that the agent would have written.
func (f *fakeSource) Session(_ context.Context, sys string) ([]byte, error) {
	var out []byte
	line := func(kind string, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		out = fmt.Appendf(out, "{%q:%s}\n", kind, b)
	}
	line("session", session.Header{Format: session.Format, Spec: f.start})
	for _, e := range f.events[sys] {
		if e.Version > 0 {
			line("change", session.Change{VirtualNS: e.VirtualNS, Version: e.Version, Set: e.Set})
		}
	}
	return out, f.find(sys)
}

func (f *fakeSource) Figures() []job.FigureInfo { return nil }

func (f *fakeSource) FigureBrief(id string) (job.FigureState, error) { return f.Figure(id) }

func (f *fakeSource) Figure(id string) (job.FigureState, error) {
	return job.FigureState{}, &job.NoFigureError{ID: id}
}

func (f *fakeSource) ReadFigure([]byte) job.Figure { return nil }

func (f *fakeSource) Sketch(string) (string, error) { return "", nil }

func (f *fakeSource) FigureParts(string) ([]job.FigurePart, error) { return nil, nil }

func (f *fakeSource) Sweep(string) (job.SweepState, error) { return f.sweep, nil }

func (f *fakeSource) Types(context.Context, string) ([]string, error) {
	return []string{"balance"}, nil
}

func (f *fakeSource) TraceOf(_ context.Context, _ string, c engine.Choice, _ func(done, total int)) (*engine.Picked, error) {
	return &engine.Picked{Choice: c, Sample: 100, Txn: engine.TxnTrace{Type: "balance", Outcome: "committed", EndNS: 5000}}, nil
}

// Latency is that of a system with commits of 1 and 3 us.
func (f *fakeSource) Latency(_ context.Context, sys string) (*result.Histogram, error) {
	return &result.Histogram{UpperUS: []float64{1, 3}, Counts: []uint64{30, 10}}, f.find(sys)
}

func (f *fakeSource) Staleness(_ context.Context, sys string) (agent.Staleness, error) {
	return agent.Staleness{Reads: &result.Histogram{UpperUS: []float64{1, 30}, Counts: []uint64{30, 10}}, BoundNS: 40_000, Bounded: sys == "a"}, f.find(sys)
}

func (f *fakeSource) Inside(context.Context, string, bool) ([]result.NodeInside, error) {
	return []result.NodeInside{{Role: "symmetric", ToNS: 1000, NICs: []result.NICInside{{}}, Sockets: []result.SocketInside{{Cores: 4}}}}, nil
}

func rowOf(t *testing.T, c card.Card, name string) card.Row {
	t.Helper()
	i := slices.IndexFunc(c.Rows, func(r card.Row) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("no row %s in %+v", name, c)
	}
	return c.Rows[i]
}

func (f *fakeSource) Causes(sys string) (job.CausesState, error) { return f.causes[sys], nil }
