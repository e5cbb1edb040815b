package batch

import (
	"context"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// remembering is a Cache in memory.
type remembering struct {
	mu   sync.Mutex
	runs map[string]*result.Result
}

func (m *remembering) Get(key string) (*result.Result, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.runs[key]
	return r, ok
}

func (m *remembering) Put(key string, r *result.Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs[key] = r
	return nil
}

// A file that a knob names is part of a point by its content: other keys under the same name are another run, the same keys
// are the same one, whatever the time of the file.
func TestContentOfFilesIsPartOfTheKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	write := func(stride uint64) {
		b := binary.LittleEndian.AppendUint64(nil, 64)
		for i := range uint64(64) {
			b = binary.LittleEndian.AppendUint64(b, i*i*stride)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := experiment.Spec{Workload: "ycsb-c", Set: experiment.Knobs{"servers": 1, "clients": 1, "replicas": 1, "threads": 1, "coroutines": 1, "xstore.trainers": 1, "workload.dataset": "sosd:" + file, "workload.keys": 64,
		"warmup_ns": "5us", "duration_ns": "20us", "check": "off"}}
	cache := &remembering{runs: map[string]*result.Result{}}
	sweep := func(cached int) *result.Result {
		t.Helper()
		axes := []experiment.Axis{{Knob: "xstore.submodels", Values: []any{2, 4}}}
		s, err := Sweep(context.Background(), spec, axes, SweepOptions{Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, p := range s.Points {
			if p.Error != "" {
				t.Fatal(p.Error)
			}
			got += p.Cached
		}
		if got != cached {
			t.Errorf("%d points came from the cache, want %d", got, cached)
		}
		return s.Points[0].Result()
	}
	write(1)
	first := sweep(0)
	write(1 << 20)
	second := sweep(0)
	if first.Inputs["workload.dataset"] == second.Inputs["workload.dataset"] {
		t.Errorf("other keys have the same content: %v", first.Inputs)
	}
	write(1)
	if again := sweep(2); !maps.Equal(again.Inputs, first.Inputs) {
		t.Error("the same keys gave another run")
	}
	key := func(r *result.Result) string {
		s, err := spec.With(experiment.Knobs{"xstore.submodels": 2})
		if err != nil {
			t.Fatal(err)
		}
		k, err := RunKeyOf(s, r.Inputs)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	for _, r := range []*result.Result{first, second} { // a result knows its key, whatever is in the file by now
		if kept, ok := cache.Get(key(r)); !ok || !maps.Equal(kept.Inputs, r.Inputs) {
			t.Error("a result is not where its inputs say")
		}
	}
}
