package tpcc

import (
	"strings"
	"testing"

	"drtmx/engine/txn"
)

// TestMix: all five transactions.
func TestMix(t *testing.T) {
	commits := uint64(2_500)
	if testing.Short() {
		commits = 400
	}
	for i, preset := range txn.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			cfg, _ := txn.Preset(preset)
			b := newBed(t, shapes[i%len(shapes)], cfg, tiny())
			if bad := b.stress(commits); len(bad) > 0 {
				t.Fatal(strings.Join(bad, "\n"))
			}
			t.Logf("%d attempts, %d commits by type %v, %d rollbacks", b.attempts, b.commits, b.byType, b.rollbacks)
			for typ, n := range b.byType {
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
			b := newBed(t, three, cfg, o)
			if bad := b.stress(commits); len(bad) > 0 {
				t.Fatal(strings.Join(bad, "\n"))
			}
			t.Logf("%d attempts, %d commits, %d rollbacks", b.attempts, b.commits, b.rollbacks)
			if b.attempts == b.commits+b.rollbacks || b.rollbacks == 0 {
				t.Error("no attempt was aborted, or no order rolled back")
			}
		})
	}
}
