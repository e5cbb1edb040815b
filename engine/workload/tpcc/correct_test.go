package tpcc

import (
	"strings"
	"testing"

	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// tiny is a company with few customers and items, so that transactions meet.
func tiny() Options {
	return Options{Warehouses: 1, Customers: 30, Items: 400, Orders: 4_000, Remotes: true, RemoteLine: 300, RemotePayment: 400, Rollbacks: 20}
}

// TestMix: all five transactions.
func TestMix(t *testing.T) {
	commits := uint64(2_500)
	if testing.Short() {
		commits = 400
	}
	for i, preset := range txn.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			cfg, _ := txn.Preset(preset)
			b, _ := workloadtest.Open(t, i, cfg, New, tiny())
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
			b, _ := workloadtest.Open(t, 0, cfg, New, o)
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
