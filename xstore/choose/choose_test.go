package choose

import (
	"strings"
	"testing"

	"drtmx/engine/fabric/profile"
	"drtmx/xstore/dataset"
	"drtmx/xstore/model"
)

// Keys that a line fits take few sub-models, others more, and a budget bounds them.
func TestChoose(t *testing.T) {
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{SubModels: AnyNumber, TopModel: "lr", Slots: 16, Most: 8_000_000, Seed: 1}
	at := PricesOf(p, p.NodeTypes[0], Site{LeafBytes: 136, ValueBytes: 8, Levels: 9, Threads: 24, Clients: 48, SearchCycles: 24})
	choose := func(keys model.Keys, budget uint64) Choice {
		o := o
		o.CacheBytes = budget
		c, err := Choose(keys, 0, ^uint64(0), o, at)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d below %s: %s", c.SubModels, c.Top, c.Because)
		return c
	}
	const n = 1_000_000
	linear := choose(dataset.Linear(n), 0)
	if linear.SubModels != n/mostKeys {
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
	if few := choose(dataset.Linear(3), 0); few.SubModels != 1 {
		t.Errorf("%d sub-models for 3 keys", few.SubModels)
	}
}

// Where a line sends most keys to few sub-models, none of which can predict them, lookups ask the server. More sub-models help, and
// another top model helps more: both are seen.
func TestFallbacksCost(t *testing.T) {
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := dataset.Make(dataset.Options{Name: "lognormal", Keys: 1_000_000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{SubModels: AnyNumber, TopModel: "lr", Slots: 16, Most: 8_000_000, Seed: 1}
	at := PricesOf(p, p.NodeTypes[0], Site{LeafBytes: 136, ValueBytes: 8, Levels: 9, Threads: 24, Clients: 48, SearchCycles: 24})
	line, err := Choose(keys, 0, ^uint64(0), o, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(line)
	if line.SubModels <= 5000 || !strings.Contains(line.Because, "ask the server") || !strings.Contains(line.Because, "with xstore.top=") {
		t.Errorf("%d sub-models: %s", line.SubModels, line.Because)
	}
	o.TopModel = AnyTop
	any, err := Choose(keys, 0, ^uint64(0), o, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(any)
	if any.Top == "lr" {
		t.Errorf("a line is the top model of lognormal keys: %s", any.Because)
	}
}
