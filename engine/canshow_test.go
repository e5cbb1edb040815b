package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/history"
)

// sets are the records that a transaction read, and wrote, which it read as well.
type sets struct{ reads, writes []history.Key }

// TestCanShow: each workload declares exactly the anomalies that some execution of a few of its transactions
// has. Their read and write sets are those of a run; the executions are made here, as if nothing isolated the
// transactions: any order of the writers of a record, any version for its readers.
func TestCanShow(t *testing.T) {
	const tries, runs = 30_000, 12 // at most: what is rare may take several runs
	for name, k := range map[string]experiment.Knobs{
		"smallbank":   {"workload": "smallbank", "workload.accounts": 100, "workload.scale": 0.1},
		"churn":       {"workload": "churn", "workload.keys": 16},
		"cycle":       {"workload": "cycle", "workload.keys": 24},
		"registers":   {"workload": "registers", "workload.keys": 30},
		"one write":   {"workload": "registers", "workload.keys": 12, "workload.reads": 1, "workload.writes": 1},
		"blind":       {"workload": "registers", "workload.keys": 12, "workload.reads": 0, "workload.writes": 1},
		"blind pairs": {"workload": "registers", "workload.keys": 12, "workload.reads": 0, "workload.writes": 2},
		"reads":       {"workload": "registers", "workload.keys": 12, "workload.writes": 0},
		"ycsb":        {"workload": "ycsb", "workload.keys": 30, "workload.ops": 4},
		"ycsb alone":  {"workload": "ycsb", "workload.keys": 12, "workload.ops": 1},
		"ycsb reads":  {"workload": "ycsb", "workload.keys": 30, "workload.write_share": 0},
		"ycsb writes": {"workload": "ycsb", "workload.keys": 30, "workload.ops": 3, "workload.write_share": 1},
		"tpcc":        {"workload": "tpcc", "workload.customers": 10, "workload.items": 200, "workload.districts": 2, "workload.warehouses": 1},
		"tpcc-no":     {"workload": "tpcc-no", "workload.customers": 30, "workload.items": 200},
		"tpce":        {"workload": "tpce", "workload.customers": 10, "workload.securities": 20},
		"tpce-cp":     {"workload": "tpce-cp", "workload.customers": 10, "workload.securities": 20},
	} {
		t.Run(name, func(t *testing.T) {
			k["check"], k["duration_ns"] = "full", 1_500_000
			spec := small(k)
			declared := mustRun(t, spec).Checks.CanShow
			if declared == nil {
				t.Fatal("says nothing")
			}
			found := []string{}
			for run := range uint64(runs) {
				k["seed"] = int(1 + run)
				list := shown(setsOf(t, small(k)), tries, 1+run)
				found = slices.DeleteFunc(slices.Clone(history.Showable), func(kind string) bool { return !slices.Contains(list, kind) && !slices.Contains(found, kind) })
				if run > 0 && len(found) >= len(declared) {
					break
				}
			}
			if !slices.Equal(found, declared) {
				t.Errorf("declares %v, executions show %v", declared, found)
			}
		})
	}
}

// setsOf are those of a run's committed transactions.
func setsOf(t *testing.T, spec experiment.Spec) (list []sets) {
	t.Helper()
	var out bytes.Buffer
	if _, err := RunRecorded(context.Background(), spec, "h.jsonl", &out, nil); err != nil {
		t.Fatal(err)
	}
	tables := map[string]uint8{}
	type record struct {
		Table string
		Key   uint64
	}
	keys := func(records []record) (keys []history.Key) {
		for _, r := range records {
			if tables[r.Table] == 0 {
				tables[r.Table] = uint8(len(tables) + 1)
			}
			keys = append(keys, history.MakeKey(tables[r.Table], r.Key))
		}
		return keys
	}
	dec := json.NewDecoder(&out)
	for dec.More() {
		var x struct {
			Status        string
			Reads, Writes []record
		}
		if err := dec.Decode(&x); err != nil {
			t.Fatal(err)
		}
		if x.Status == "committed" {
			list = append(list, sets{keys(x.Reads), keys(x.Writes)})
		}
	}
	if len(list) < 50 {
		t.Fatalf("%d transactions", len(list))
	}
	return list
}

// shown are the kinds of anomaly that executions of two to four of the transactions have.
func shown(list []sets, tries int, seed uint64) []string {
	r := rand.New(rand.NewPCG(seed, 2))
	readers, writers := map[history.Key][]int{}, map[history.Key][]int{}
	for i, s := range list {
		for _, k := range s.reads {
			readers[k] = append(readers[k], i)
		}
		for _, k := range s.writes {
			writers[k] = append(writers[k], i)
		}
	}
	found := map[string]bool{}
	for n := range tries {
		group := chain(r, list, readers, writers, 2+n%3)
		if group == nil {
			continue
		}
		txns := execution(r, group)
		if txns == nil {
			continue
		}
		list := history.Check(txns, history.Options{Initial: 2, Anomalies: 100}).Anomalies
		causes := []string{history.LostUpdate, history.G1a, history.DirtyWrite} // of cycles too
		caused := slices.ContainsFunc(list, func(a history.Anomaly) bool { return slices.Contains(causes, a.Kind) })
		for _, a := range list {
			if caused && !slices.Contains(causes, a.Kind) {
				continue
			}
			found[a.Kind] = true
			if a.Kind == history.G2 && len(a.Cycle) == 2 {
				found[history.WriteSkew] = true
			}
		}
	}
	var kinds []string
	for _, kind := range history.Showable {
		if found[kind] {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// chain draws transactions of which each shares a record with the one before, which one of them writes.
func chain(r *rand.Rand, list []sets, readers, writers map[history.Key][]int, n int) []sets {
	at := r.IntN(len(list))
	taken := []int{at}
	for len(taken) < n {
		s := list[at]
		k := s.reads[r.IntN(len(s.reads))]
		others := writers[k]
		if slices.Contains(s.writes, k) {
			others = readers[k]
		}
		if len(others) == 0 {
			return nil
		}
		if at = others[r.IntN(len(others))]; slices.Contains(taken, at) {
			return nil
		}
		taken = append(taken, at)
	}
	var group []sets
	for _, i := range taken {
		group = append(group, list[i])
	}
	return group
}

// execution is one of the ways in which the transactions could read and write without any isolation. A writer
// reads what it replaces; one in eight takes a version that another one takes as well, and one in eight leaves
// what it wrote and aborts.
func execution(r *rand.Rand, group []sets) []history.Txn {
	txns := make([]history.Txn, len(group))
	shared := map[history.Key]int{}
	var order []history.Key
	for i, s := range group {
		txns[i] = history.Txn{ID: uint64(i + 1), Session: uint32(i), End: 9}
		for _, k := range s.reads {
			if shared[k]++; shared[k] == 1 {
				order = append(order, k)
			}
		}
	}
	if r.IntN(8) == 0 && len(group[0].writes) > 0 {
		txns[0].Status = history.Aborted
	}
	for _, k := range order {
		if shared[k] == 1 {
			continue // nobody else is there
		}
		var writers []int
		for i, s := range group {
			if slices.Contains(s.writes, k) {
				writers = append(writers, i)
			}
		}
		r.Shuffle(len(writers), func(i, j int) { writers[i], writers[j] = writers[j], writers[i] })
		for n, i := range writers {
			old := uint64(2 + 2*n)
			if n > 0 && r.IntN(8) == 0 {
				old -= 2
			}
			txns[i].Reads = append(txns[i].Reads, history.Read{Key: k, Version: old})
			txns[i].Writes = append(txns[i].Writes, history.Write{Key: k, Old: old, New: uint64(4 + 2*n)})
		}
		for i, s := range group {
			if slices.Contains(s.reads, k) && !slices.Contains(s.writes, k) {
				txns[i].Reads = append(txns[i].Reads, history.Read{Key: k, Version: uint64(2 + 2*r.IntN(len(writers)+1))})
			}
		}
	}
	return txns
}

// TestShows: the sentence is in the text of a result, and nothing is said of a user's transactions.
func TestShows(t *testing.T) {
	r := mustRun(t, small(experiment.Knobs{"workload": "cycle"}))
	const want = "can show G0, G1a, lost-update; other kinds at most as a consequence of these"
	if text := r.String(); !strings.Contains(text, want) {
		t.Errorf("%s\nwant %s", text, want)
	}
	if b, err := json.Marshal(r.Checks); err != nil || !strings.Contains(string(b), `"can_show":["G0","G1a","lost-update"]`) {
		t.Errorf("%s, %v", b, err)
	}
	r = mustRun(t, small(experiment.Knobs{"workload": "tpce-cp", "workload.customers": 40, "workload.securities": 40}))
	if b, err := json.Marshal(r.Checks); err != nil || !strings.Contains(string(b), `"can_show":[]`) || !strings.Contains(r.String(), "nothing is written") {
		t.Errorf("%s, %v", b, err)
	}
	if b, err := json.Marshal(mustRun(t, small(experiment.Knobs{"workload": "micro-read"})).Checks); err != nil || strings.Contains(string(b), "can_show") {
		t.Errorf("%s, %v", b, err)
	}
}
