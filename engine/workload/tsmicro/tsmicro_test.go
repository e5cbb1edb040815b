package tsmicro

import (
	"slices"
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
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
	w.writes.Add(b.Cluster.Spawn(1, 0, func(*r2.Co) {}), 3)
	if inv := w.Check(); inv[0].OK || !strings.Contains(inv[0].Text, "record 3 has the value") {
		t.Errorf("a lost update: %+v", inv)
	}
}

// A pair of threads has the same records, nine of ten of them on the reader's machine; the oracle's machine has no pairs.
func TestPairs(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	w, _ := New(Options{Load: Block, Local: 90, Coroutines: 2})
	b := workloadtest.New(t, workloadtest.Setup{Machines: 5, Threads: 3, Coroutines: 2, Oracle: true, Txn: cfg, Mode: history.Full, Requests: 1}, w)
	keys := func(number, index int) (typ uint8, machine uint64, list []uint64) {
		r := &runner{w: w}
		r.typ, r.machine, r.first = w.pair(b.Cluster, number/3, number%3, index)
		r.group()
		for _, ref := range r.refs {
			if ref.Write != (r.typ == writes) || ref.Key >= w.opt.Keys {
				t.Errorf("client %d: record %d of %d, to be written: %v", number, ref.Key, w.opt.Keys, ref.Write)
			}
			list = append(list, ref.Key)
		}
		return r.typ, r.machine, list
	}
	taken := map[uint64]bool{}
	for number := 0; number < 14; number += 2 {
		for index := range 2 {
			writer, at, written := keys(number, index)
			reader, home, read := keys(number+1, index)
			if writer != writes || reader != reads || at != home || home != uint64(number+1)/3 || !slices.Equal(written, read) || len(read) != 10 {
				t.Errorf("clients %d and %d: types %d and %d, around machines %d and %d, records %v and %v", number, number+1, writer, reader, at, home, written, read)
			}
			local := 0
			for _, key := range read {
				if taken[key] {
					t.Errorf("record %d is of two pairs", key)
				}
				taken[key] = true
				if key%5 == home {
					local++
				}
			}
			if local != 9 {
				t.Errorf("client %d has %d local records of 10, want 9", number+1, local)
			}
		}
	}
	if typ, at, _ := keys(14, 0); typ != writes || at != 4 {
		t.Errorf("the last thread has no partner and is of type %d around machine %d: want one that writes, around its own", typ, at)
	}
}

// An update draws nine of ten records from its own machine.
func TestPlaces(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	w, _ := New(Options{Load: Update, Local: 90})
	b := workloadtest.New(t, workloadtest.Setup{Machines: 5, Threads: 1, Coroutines: 1, Txn: cfg, Mode: history.Full, Requests: 1}, w)
	r := b.Cluster.Stream("test", 1)
	local := 0
	for range 10_000 {
		if w.draw(r, 2)%5 == 2 {
			local++
		}
	}
	if local < 8_800 || local > 9_200 {
		t.Errorf("%d of 10,000 records are local, want 90 %%", local)
	}
}
