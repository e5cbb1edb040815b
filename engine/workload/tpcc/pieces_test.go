package tpcc

import (
	"strings"
	"testing"

	"drtmx/engine/rococo"
	"drtmx/engine/workload/workloadtest"
)

// TestMixInPieces: all five transactions, reordered: the conditions hold, and the history has an order.
func TestMixInPieces(t *testing.T) {
	commits := uint64(2_500)
	if testing.Short() {
		commits = 400
	}
	for shape := range 3 {
		for _, newOrderOnly := range []bool{false, true} {
			o := tiny()
			o.NewOrderOnly = newOrderOnly
			b, _ := workloadtest.Open(t, shape, rococo.Default(), New, o)
			if bad := b.Stress(commits); len(bad) > 0 {
				t.Fatalf("shape %d, new-order alone %v: %s", shape, newOrderOnly, strings.Join(bad, "\n"))
			}
			t.Logf("%d attempts, %d commits by type %v, %d rollbacks", b.Attempts, b.Commits, b.ByType, b.Rollbacks)
			for typ, n := range b.ByType[:len(b.ByType)-1] {
				if n == 0 {
					t.Errorf("no %s", types[typ].Name)
				}
			}
			b.Close()
		}
	}
}

// TestReorderingFaults: what the order of pieces rests on, left out, breaks the company's books or the history.
func TestReorderingFaults(t *testing.T) {
	for _, v := range rococo.Variants {
		if v.Variant == rococo.Forgetful {
			continue // cycles over three machines are rare here: the registers find it
		}
		found := ""
		for shape := range 6 {
			o := tiny()
			o.Districts, o.RemoteLine, o.Items = 2, 600, 40
			cfg := rococo.Default()
			cfg.Variant = v.Variant
			b, _ := workloadtest.Open(t, shape, cfg, New, o)
			bad := b.Stress(800)
			b.Close()
			if len(bad) > 0 {
				found = bad[0]
				break
			}
		}
		if t.Logf("%s: %s", v.Name, found); found == "" {
			t.Errorf("%s was not found", v.Name)
		}
	}
}
