package tpcc

import (
	"strings"
	"testing"

	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// shapes have fewer and more threads than warehouses, and clients without any.
var shapes = []func(*workloadtest.Setup){
	three,
	func(s *workloadtest.Setup) { s.Machines, s.Threads, s.Coroutines, s.Seed = 3, 1, 8, 2 },
	func(s *workloadtest.Setup) { s.Machines, s.Servers, s.Threads, s.Seed = 4, 3, 2, 3 },
}

// tiny is a company with few customers and items, so that transactions meet.
func tiny() Options {
	return Options{Warehouses: 1, Customers: 30, Items: 400, Orders: 4_000, Remotes: true, RemoteLine: 300, RemotePayment: 400, Rollbacks: 20}
}

// newBed opens a company on a deployment.
func newBed(t testing.TB, shape func(*workloadtest.Setup), cfg txn.Config, o Options) (*workloadtest.Bed, *Bench) {
	t.Helper()
	bench, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := workloadtest.Small(cfg)
	s.Coroutines = 6
	shape(&s)
	return workloadtest.New(t, s, bench), bench
}

func three(*workloadtest.Setup) {}

// TestMix: all five transactions.
func TestMix(t *testing.T) {
	commits := uint64(2_500)
	if testing.Short() {
		commits = 400
	}
	for i, preset := range txn.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			cfg, _ := txn.Preset(preset)
			b, _ := newBed(t, shapes[i%len(shapes)], cfg, tiny())
			if bad := b.Stress(commits); len(bad) > 0 {
				t.Fatal(strings.Join(bad, "\n"))
			}
			t.Logf("%d attempts, %d commits by type %v, %d rollbacks", b.Attempts, b.Commits, b.ByType, b.Rollbacks)
			for typ, n := range b.ByType[:len(types)] {
				if n == 0 {
					t.Errorf("no %s", types[typ].Name)
				}
			}
		})
	}
}

// TestNewOrderOnly: TPC-C/no under contention, with torn reads and lost
// datagrams, is strictly serialisable and consistent under every preset.
func TestNewOrderOnly(t *testing.T) {
	commits := uint64(3_000)
	if testing.Short() {
		commits = 300
	}
	for _, preset := range txn.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			cfg, _ := txn.Preset(preset)
			o := tiny()
			o.NewOrderOnly = true
			b, _ := newBed(t, three, cfg, o)
			if bad := b.Stress(commits); len(bad) > 0 {
				t.Fatal(strings.Join(bad, "\n"))
			}
			t.Logf("%d attempts, %d commits, %d rollbacks", b.Attempts, b.Commits, b.Rollbacks)
			if b.Attempts == b.Commits+b.Rollbacks || b.Rollbacks == 0 {
				t.Error("no attempt was aborted, or no order rolled back")
			}
		})
	}
}
