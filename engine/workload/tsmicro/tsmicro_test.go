package tsmicro

import (
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/occ"
	"drtmx/engine/workload/workloadtest"
)

// The transactions keep every invariant without a scheme, each on deployments of its own.
func TestCorrect(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	for i, o := range []Options{
		{Load: Spin, SpinNS: 2000}, {Load: Read, Keys: 60, Local: 90}, {Load: Block, Local: 50, Coroutines: 8}, {Load: Update, Keys: 40, ReadShare: 40, Local: 30}, {Load: Update, Keys: 12, ValueBytes: 24, Local: 100},
	} {
		for shape := range 3 {
			b, w := workloadtest.Open(t, shape, cfg, New, o)
			if bad := b.Stress(400); len(bad) > 0 {
				t.Errorf("%d, shape %d: %s", i, shape, strings.Join(bad, "\n"))
			}
			for typ := range w.Types() {
				if b.ByType[typ] == 0 {
					t.Errorf("%d, shape %d: no %s has committed", i, shape, w.Types()[typ])
				}
			}
			b.Close()
		}
	}
}

// A lost update is seen.
func TestInvariant(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	w, err := New(Options{Load: Update, Keys: 12})
	if err != nil {
		t.Fatal(err)
	}
	b := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 1, Txn: cfg, Mode: history.Full, Requests: 40}, w)
	if bad := b.Verdict(); len(bad) > 0 {
		t.Fatal(bad)
	}
	w.writes[3]++
	if inv := w.Check(); inv[0].OK || !strings.Contains(inv[0].Text, "record 3 has the value") {
		t.Errorf("a lost update: %+v", inv)
	}
}

// Nine of ten records are local, and a pair of threads has the same ones.
func TestPlaces(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	w, _ := New(Options{Load: Block, Local: 90, Coroutines: 2})
	b := workloadtest.New(t, workloadtest.Setup{Machines: 5, Threads: 3, Coroutines: 2, Txn: cfg, Mode: history.Full, Requests: 1}, w)
	local, readers := 0, map[uint64]bool{}
	for number := range 14 { // an even number of them
		for index := range 2 {
			typ, refs := w.group(b.Cluster, number/3, number%3, index)
			if typ != uint8(number%2) || len(refs) != 10 {
				t.Errorf("client %d is of type %d and has %d records", number, typ, len(refs))
			}
			for i, ref := range refs {
				if number%2 == 0 {
					if readers[ref.Key] {
						t.Errorf("record %d is in two groups", ref.Key)
					}
					readers[ref.Key] = true
					local += map[bool]int{true: 1}[ref.Key%5 == uint64(number/3)]
				} else if _, same := w.group(b.Cluster, (number-1)/3, (number-1)%3, index); same[i].Key != ref.Key {
					t.Errorf("client %d writes record %d where the one before reads %d", number, ref.Key, same[i].Key)
				}
			}
		}
	}
	if n := len(readers); n != 140 || local < 110 || local > 138 {
		t.Errorf("%d records in groups, %d of them local: want 140 and about 126", n, local)
	}
	r := b.Cluster.Stream("test", 1)
	local = 0
	for range 10_000 {
		if w.draw(r, 2)%5 == 2 {
			local++
		}
	}
	if local < 8_800 || local > 9_200 {
		t.Errorf("%d of 10,000 records are local, want 90 %%", local)
	}
}
