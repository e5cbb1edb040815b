package systemtest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"drtmx/cluster/system"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/history"
	"drtmx/engine/result"
	"drtmx/engine/txn"
)

// Fake is a System without a simulator: a number that changes every 100 ns of
// virtual time, so that digest and windows tell whether time and knobs went by
// in the same way, however it was sliced.
type Fake struct {
	spec    experiment.Spec
	Held    experiment.Knobs
	now     int64
	mark    int64
	state   uint64
	version int
	windows []result.Window
	changes []result.Change
	commits uint64
	err     error

	o Options
}

type Options struct {
	FailAt  int64         // virtual time
	PanicAt int64         // virtual time
	Drift   int64         // the state gets lost here: a replay that differs
	Slow    time.Duration // wall time per Advance
	Hang    chan struct{} // Advance waits for it
	AutoAt  int64         // virtual time at which a primitive changes by itself
	Opened  *atomic.Int32
	Closed  *atomic.Int32
	Checks  *atomic.Int32 // of changes
}

const Window = 100_000

func Opener(o Options) system.Opener {
	return func(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.System, error) {
		v, err := experiment.Resolve(spec)
		if err != nil {
			return nil, err
		}
		if o.Opened != nil {
			o.Opened.Add(1)
		}
		seed := v["seed"].(int)
		return &Fake{spec: spec, Held: v, version: 1, state: uint64(seed) + 1, o: o}, nil
	}
}

func (f *Fake) Advance(d int64) error {
	if f.err != nil {
		return f.err
	}
	if f.o.Hang != nil {
		<-f.o.Hang
	}
	if f.o.Slow > 0 {
		time.Sleep(f.o.Slow)
	}
	for until := f.now + d; f.now < until; {
		if f.o.FailAt > 0 && f.now == f.o.FailAt {
			f.err = fmt.Errorf("fake failure at %d ns", f.now)
			return f.err
		}
		if f.o.PanicAt > 0 && f.now == f.o.PanicAt {
			panic("bug\nwith a second line")
		}
		if f.o.Drift > 0 && f.now == f.o.Drift {
			f.state++
		}
		if f.now%100 == 0 {
			f.state = f.state*6364136223846793005 + uint64(f.now) + 1
			f.commits++
		}
		if f.now = min(until, f.now/100*100+100); f.now%Window == 0 {
			f.windows = append(f.windows, result.Window{
				Index: len(f.windows), T0NS: f.now - Window, T1NS: f.now, KnobsVersion: f.version,
				Throughput: float64(f.state % 1000), Commits: Window / 100,
				LatencyUS: result.Latency{Mean: 3, P50: 2.5, P99: 9},
				Phases:    map[string]result.PhaseStat{"commit": {MeanUS: 1, Share: 0.4}, "lock": {MeanUS: 1.5, Share: 0.6}},
			})
		}
	}
	return nil
}

func (f *Fake) NowNS() int64 { return f.now }

func (f *Fake) State() string {
	if f.err != nil {
		return engine.StateFailed
	}
	return engine.StateRunning
}

func (f *Fake) Err() error { return f.err }

// Accept counts how often a change is checked.
func (f *Fake) Accept(k experiment.Knobs) (engine.Accepted, error) {
	if f.o.Checks != nil {
		f.o.Checks.Add(1)
	}
	for name, v := range k {
		if _, ok := f.Held[name]; !ok {
			return engine.Accepted{}, &experiment.SpecError{Field: name, Rule: "no such knob"}
		}
		if name == "nodes" {
			return engine.Accepted{}, &experiment.SpecError{Field: name, Value: fmt.Sprint(v), Rule: "not live", Reset: true}
		}
		if name == "coroutines" {
			if _, ok := v.(int); !ok {
				return engine.Accepted{}, &experiment.SpecError{Field: name, Value: fmt.Sprint(v), Rule: "must be a whole number"}
			}
		}
	}
	return engine.Accepted{Set: k}, nil
}

func (f *Fake) Set(k experiment.Knobs, by string) (result.Change, error) {
	a, err := f.Accept(k)
	if err != nil {
		return result.Change{}, err
	}
	return f.Apply(a, by)
}

func (f *Fake) Apply(a engine.Accepted, by string) (result.Change, error) {
	set := experiment.Knobs{}
	for n, v := range f.spec.Set {
		set[n] = v
	}
	for n, v := range a.Set {
		f.Held[n] = v
		set[n] = v
		for _, c := range n + fmt.Sprint(v) {
			f.state = f.state*31 + uint64(c)
		}
	}
	f.spec.Set = set
	f.version++
	c := result.Change{Version: f.version, VirtualNS: f.now, By: by, Set: a.Set}
	f.changes = append(f.changes, c)
	return c, nil
}

func (f *Fake) KnobsVersion() int { return f.version }

func (f *Fake) Spec() experiment.Spec { return f.spec }

func (f *Fake) Values() experiment.Knobs {
	out := experiment.Knobs{}
	for n, v := range f.Held {
		out[n] = v
	}
	return out
}

func (f *Fake) Knobs() []experiment.KnobState {
	ks, err := experiment.Describe(f.spec)
	if err != nil {
		panic(err)
	}
	return ks
}

func (f *Fake) Windows(from int) []result.Window {
	if from >= len(f.windows) {
		return nil
	}
	return append([]result.Window(nil), f.windows[from:]...)
}

func (f *Fake) AutoChanges() (list []result.AutoChange) {
	if f.o.AutoAt > 0 && f.now >= f.o.AutoAt {
		list = append(list, result.AutoChange{VirtualNS: f.o.AutoAt, Phase: "lock", From: "one-sided", To: "two-sided", Because: "so it is"})
	}
	return list
}

func (f *Fake) TraceWith(ctx context.Context, n int, _ func(done, total int)) (ts []engine.TxnTrace, err error) {
	for err == nil && len(ts) < n {
		ts = append(ts, engine.TxnTrace{})
		err = cmp.Or(f.Advance(1000), ctx.Err())
	}
	return ts, err
}

func (f *Fake) Types() []string { return []string{"fake"} }

func (f *Fake) Inside() []result.NodeInside { return nil }

func (f *Fake) RecentLatency() *result.Histogram { return nil }

func (f *Fake) RecentStaleness() *result.Histogram { return nil }

func (f *Fake) StalenessBound() (int64, bool) { return 0, false }

func (f *Fake) Pick(engine.Choice) (*engine.Pick, error) {
	return nil, fmt.Errorf("a fake has no transactions to pick from")
}

func (f *Fake) AddTransaction(name string, weight int, body func(tx *txn.Tx) error) error {
	if f.err != nil {
		return f.err
	}
	for _, c := range name {
		f.state = f.state*31 + uint64(c)
	}
	return nil
}

func (f *Fake) Mark() { f.mark = f.now }

func (f *Fake) Result() *result.Result {
	return &result.Result{Spec: f.Values(), FromNS: f.mark, VirtualNS: f.now - f.mark, Throughput: float64(f.state%1000) + 1,
		LatencyUS: result.Latency{Mean: 3, P50: 2.5, P99: 9}, Digest: f.Digest(), Changes: f.changes,
		Phases:     map[string]result.PhaseStat{"commit": {MeanUS: 1, Share: 0.4}, "lock": {MeanUS: 1.5, Share: 0.6}},
		Checks:     &result.Checks{Mode: "full", Claimed: "strict-serializable", OK: history.Holds, Transactions: f.commits},
		Bottleneck: &result.Bottleneck{Resource: "cpu", Node: 1, Utilization: 0.9}}
}

func (f *Fake) DrainWith(context.Context, engine.Progress) error { return nil }

func (f *Fake) RecordHistory(string, io.Writer) error { return nil }

func (f *Fake) EndHistory() {}

func (f *Fake) Digest() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %d %d", f.now, f.state, f.version))
	return hex.EncodeToString(h[:])
}

func (f *Fake) Close() {
	if f.o.Closed != nil {
		f.o.Closed.Add(1)
	}
}

// Tiny is the spec of a real cluster that runs in a fraction of a second.
func Tiny() experiment.Spec {
	return experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "seed": 1,
		"workload.accounts": 500, "cache.bytes": "1MB", "window_ns": "20us", "warmup_ns": "50us", "duration_ns": "200us"}}
}

// SideBySide is a tiny spec of two systems.
func SideBySide() experiment.Spec {
	s := Tiny()
	s.Systems = []experiment.Spec{{Name: "hybrid"}, {Name: "messages", Preset: "fasst"}}
	return s
}

// Contended is the spec of a small cluster whose transactions often meet.
func Contended() experiment.Spec {
	return experiment.Spec{Workload: "cycle", Set: experiment.Knobs{"nodes": 3, "threads": 2, "coroutines": 4, "workload.keys": 16, "check": "off"}}
}

// Slowly makes slices of a fake (Options.Hang) take as long as those of a large system, and so stay
// short, until it is released.
func Slowly() (slices chan struct{}, release func()) {
	slices = make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(slices)
		for {
			time.Sleep(15 * time.Millisecond)
			select {
			case slices <- struct{}{}:
			case <-stop:
				return
			}
		}
	}()
	return slices, sync.OnceFunc(func() { close(stop) })
}

// Spec is one of a fake.
func Spec() experiment.Spec {
	return experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"seed": 7}}
}

// Eventually waits for what is not said to take a certain time: only a hang fails.
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		if ok() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}
