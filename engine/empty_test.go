package engine

import (
	"context"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// Requests that find nothing to do have a number of their own: no more INSERTs did something than there were free keys.
func TestRequestsThatFindNothingToDo(t *testing.T) {
	var even []uint64
	for k := range uint64(32) {
		even = append(even, 2*k)
	}
	r, err := Run(context.Background(), experiment.Spec{Workload: "ycsb-d", Set: experiment.Knobs{
		"servers": 1, "clients": 1, "replicas": 1, "threads": 1, "coroutines": 2, "xstore.trainers": 1, "workload.dataset": "sosd:" + keysFile(t, even...), "workload.keys": 32,
		"workload.mix.insert": 100, "workload.mix.get": 0, "warmup_ns": "0", "duration_ns": "1ms",
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if free := uint64(31); r.Commits < 2*free || r.Commits-r.Empty > free || r.Checks.Failed() {
		t.Errorf("%d INSERTs, %d of them found their key taken, and %d keys were free; %v", r.Commits, r.Empty, free, r.Checks)
	}
	if x := r.ByType["insert"]; x.Empty != r.Empty || x.Uncounted != r.Empty {
		t.Errorf("%d INSERTs found nothing to do, %d of them do not count, %d requests in all", x.Empty, x.Uncounted, r.Empty)
	}
	if did := float64(r.Commits-r.Empty) / (float64(r.VirtualNS) / 1e9); r.Throughput != did {
		t.Errorf("throughput %g/s, where %g/s inserted a key", r.Throughput, did)
	}
	if text := r.String(); !strings.Contains(text, "insert: its key is taken; not in the throughput") {
		t.Error(text)
	}
}

// Transactions that find nothing to do are told apart as well: with pairs that are often empty or full, and districts without an order.
func TestTransactionsThatFindNothingToDo(t *testing.T) {
	for _, c := range []struct {
		workload string
		set      experiment.Knobs
		types    []string // that find nothing to do now and then
		never    []string
	}{
		{"churn", experiment.Knobs{"workload.keys": 16}, []string{"move", "take", "put", "count", "look", "look-one"}, nil},
		{"tpce", experiment.Knobs{"workload.scale": 0.01, "workload.mix.trade-order": 0, "workload.mix.trade-result": 0, "workload.mix.broker-volume": 50}, []string{"broker-volume"}, nil}, // nobody orders
		{"tpcc", experiment.Knobs{"cc": "rococo", "workload.mix.new-order": 1, "workload.mix.payment": 10, "workload.mix.delivery": 80, "workload.warehouses": 1, "workload.districts": 2, "workload.scale": 0.01}, []string{"delivery"}, []string{"new-order", "payment"}},
		{"tpce", experiment.Knobs{"workload.scale": 0.01, "workload.trades": 2, "coroutines": 8, "duration_ns": "10ms", "workload.mix.trade-lookup": 20, "workload.mix.trade-update": 40, "workload.mix.market-watch": 30, "workload.mix.broker-volume": 30, "workload.mix.market-feed": 5}, []string{"trade-lookup", "trade-update", "market-watch"}, []string{"customer-position", "trade-order", "trade-result", "security-detail", "trade-status", "market-feed"}},
		{"tpcc", experiment.Knobs{"workload.mix.new-order": 1, "workload.mix.payment": 10, "workload.mix.delivery": 80, "workload.warehouses": 1, "workload.districts": 2, "workload.scale": 0.01}, []string{"delivery"}, []string{"new-order", "payment"}},
	} {
		set := experiment.Knobs{"nodes": 2, "threads": 1, "coroutines": 2, "replicas": 1, "warmup_ns": "0", "duration_ns": "2ms", "workload.scale": 1}
		for k, v := range c.set { // order-free: fills a map
			set[k] = v
		}
		r, err := Run(context.Background(), experiment.Spec{Workload: c.workload, Set: set}, nil)
		if err != nil {
			t.Fatal(c.workload, err)
		}
		sum := uint64(0)
		for _, x := range r.ByType { // order-free: a sum
			sum += x.Empty
		}
		if sum != r.Empty || r.Empty >= r.Commits {
			t.Errorf("%s: %d of %d found nothing to do, by type %d", c.workload, r.Empty, r.Commits, sum)
		}
		for _, name := range c.types {
			if x, ok := r.ByType[name]; !ok || x.Empty == 0 {
				t.Errorf("%s: no %s of %d found nothing to do", c.workload, name, x.Commits)
			}
		}
		for _, name := range c.never {
			if x, ok := r.ByType[name]; !ok || x.Commits == 0 || x.Empty > 0 {
				t.Errorf("%s: %d of %s found nothing to do", c.workload, x.Empty, name)
			}
		}
	}
}

// A workload declares what its requests find that find nothing to do: each type that it names exists, and no other type is ever empty.
func TestWorkloadsDeclareEmptyRequests(t *testing.T) {
	for i := range experiment.Workloads {
		kind := &experiment.Workloads[i]
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			set := experiment.Knobs{"threads": 1, "coroutines": 2, "warmup_ns": "0", "duration_ns": "300us", "workload.scale": 0.01, "check": "off"}
			if kind.Ordered {
				set["xstore.trainers"] = 1
			}
			for name := range set { // order-free: takes out what a workload does not read
				if strings.HasPrefix(name, "workload.") && !kind.Reads(name) {
					delete(set, name)
				}
			}
			v, err := experiment.Resolve(experiment.Spec{Workload: kind.Name, Set: set})
			if err != nil {
				t.Fatal(err)
			}
			bench, err := kind.Build(v)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range kind.Empty {
				if e.When == "" || e.Type != "" && !slices.Contains(bench.Types(), e.Type) {
					t.Errorf("%q is empty when %q: the types are %v", e.Type, e.When, bench.Types())
				}
			}
			r, err := Run(t.Context(), experiment.Spec{Workload: kind.Name, Set: set}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, x := range r.ByType { // order-free: an error each
				if _, ok := kind.EmptyOf(name); x.Empty > 0 && !ok {
					t.Errorf("%d requests of type %s found nothing to do, which the workload does not declare", x.Empty, name)
				}
			}
		})
	}
}
