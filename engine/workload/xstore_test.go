package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
	"drtmx/xstore"
)

// onXStore is stress with the indexes in XStore, and what XStore's own audit finds.
func onXStore(t *testing.T, cfg txn.Config, shape func(*workloadtest.Setup), seed, commits uint64, o xstore.Options, bench workload.Bench) (bad []string, stats xstore.Stats) {
	t.Helper()
	s := workloadtest.Small(cfg)
	s.Seed = seed
	shape(&s)
	var x *xstore.Indexes
	s.Indexes = func(cl *r2.Cluster) store.Indexes {
		x = xstore.NewIndexes(cl, func(*store.KVSpec) xstore.Options { return o })
		return x
	}
	b := workloadtest.New(t, s, bench)
	defer b.Close()
	bad = b.Stress(commits)
	x.Audit(func(text string) { bad = append(bad, text) })
	return bad, x.Stats()
}

// forgetful are indexes that lose every fortieth new entry.
type forgetful struct{ store.Indexes }

func (x forgetful) Add(s store.IndexSpec) (store.OrderedTable, error) {
	t, err := x.Indexes.Add(s)
	return &forgetfulTable{t, 0}, err
}

type forgetfulTable struct {
	store.OrderedTable
	inserts int
}

func (x *forgetfulTable) Insert(c *r2.Co, part, key, value uint64) error {
	if x.inserts++; x.inserts%40 == 0 {
		return nil
	}
	return x.OrderedTable.Insert(c, part, key, value)
}

// Entries that an index loses are found by the workloads' own checks, or by the transaction that takes one out.
func TestForgetfulIndexes(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	for _, w := range []workload.Bench{company(t), house(t)} {
		s := workloadtest.Small(cfg)
		s.Indexes = func(cl *r2.Cluster) store.Indexes {
			return forgetful{xstore.NewIndexes(cl, func(*store.KVSpec) xstore.Options { return xstore.Options{} })}
		}
		b := workloadtest.New(t, s, w)
		if bad := b.Stress(600); len(bad) == 0 {
			t.Errorf("%s: not found", w.Name())
		}
		b.Close()
	}
}

// TestTPCOnXStore: TPC-C and TPC-E with their indexes in XStore pass the checker and their own checks with every preset and with
// no-wait locking, whatever clients cache, under contention, with torn reads and lost datagrams, on servers and from elsewhere.
func TestTPCOnXStore(t *testing.T) {
	commits := uint64(500)
	if testing.Short() {
		commits = 60
	}
	type protocol struct {
		name string
		cfg  txn.Config
	}
	var list []protocol
	for _, p := range occ.PresetNames() {
		cfg, _ := occ.Preset(p)
		list = append(list, protocol{p, cfg})
	}
	for i, c := range lockers() {
		if i%3 == 0 { // of both modes, with either primitive
			cfg := c
			cfg.BackoffMaxNS = 4_000_000
			list = append(list, protocol{lockerName(cfg), cfg})
		}
	}
	modes := []xstore.Mode{xstore.Full, xstore.Full, xstore.Model, xstore.Full, xstore.Top, xstore.Tree, xstore.Full, xstore.None}
	tops := []string{"lr", "mlr", "pieces"}
	var sum xstore.Stats
	for i, p := range list {
		for k, w := range []workload.Bench{company(t), house(t)} {
			if !workloadtest.Soak && (i+i/4)%2 != k { // each preset and each mode of locking meets one of them
				continue
			}
			o := xstore.Options{Cache: modes[(i+3*k)%len(modes)], TopModel: tops[i%len(tops)], Trainers: 1 + i%2, ExpandAt: 400}
			bad, stats := onXStore(t, p.cfg, shapes[i%len(shapes)], uint64(i+1), commits, o, w)
			if len(bad) > 0 {
				t.Fatalf("%s on %s, %v, %s:\n%s", w.Name(), p.name, o.Cache, o.TopModel, strings.Join(bad, "\n"))
			}
			sum.Add(&stats)
		}
	}
	text := fmt.Sprintf("%+v", sum)
	t.Log(text)
	if sum.Lookups == 0 || sum.Fallbacks == 0 || !testing.Short() && (sum.Splits == 0 || sum.Retrained == 0) {
		t.Errorf("a path was never taken: %s", text)
	}
}
