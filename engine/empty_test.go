package engine

import (
	"context"
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
	if x := r.ByType["insert"]; x.Empty != r.Empty {
		t.Errorf("%d INSERTs found nothing to do, %d requests in all", x.Empty, r.Empty)
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
		{"churn", experiment.Knobs{"workload.keys": 16}, []string{"move", "take", "put", "count", "look-one"}, []string{"look"}},
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
			if x, ok := r.ByType[name]; !ok || x.Empty > 0 {
				t.Errorf("%s: %d of %s found nothing to do", c.workload, x.Empty, name)
			}
		}
	}
}
