package xstore

import (
	"strings"
	"testing"

	"drtmx/engine/fabric/profile"
	"drtmx/engine/store"
	"drtmx/xstore/dataset"
)

// Keys that a line fits take few sub-models, others more, and a budget bounds them.
func TestAuto(t *testing.T) {
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{TopModel: "lr", Slots: DefaultSlots}
	choose := func(keys store.Keys, budget uint64) Choice {
		c, err := Auto(keys, 0, ^uint64(0), o, p, budget)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d: %s", c.SubModels, c.Because)
		return c
	}
	const n = 1_000_000
	linear := choose(steps{n, 10}, 0)
	if linear.SubModels != n/autoMost {
		t.Errorf("%d sub-models for linear keys: a line fits all of them", linear.SubModels)
	}
	hard, err := dataset.Make(dataset.Options{Name: "osm", Keys: n, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	free := choose(hard, 0)
	if free.SubModels < 10*linear.SubModels {
		t.Errorf("%d sub-models for keys at random distances", free.SubModels)
	}
	tight := choose(hard, 1_100_000)
	if tight.SubModels >= free.SubModels || !strings.Contains(tight.Because, "of a client") {
		t.Errorf("%d sub-models within 1.1 MB, %d without a bound: %s", tight.SubModels, free.SubModels, tight.Because)
	}
	if few := choose(steps{3, 10}, 0); few.SubModels != 1 {
		t.Errorf("%d sub-models for 3 keys", few.SubModels)
	}
}
