package smallbank

import (
	"math"
	"testing"

	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// §4.3: six transaction types, 100,000 accounts per thread, 4 % of the records
// for 90 % of the transactions; Table 4-2: cycles of the handlers and bytes of the messages.
func TestThesis(t *testing.T) {
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b.opt.Accounts != 100_000 || b.opt.HotPermille != 40 || b.opt.HotPercent != 90 {
		t.Errorf("defaults %+v", b.opt)
	}
	if Costs != (txn.Costs{Execution: 678, Validation: 185, Logging: 134, Commit: 87, Payload: txn.Payload{Execution: 71, Validation: 105, Logging: 149, Commit: 20}}) {
		t.Errorf("costs %+v", Costs)
	}
	total := 0
	for i, x := range types {
		want := 15
		if i == sendPayment {
			want = 25
		}
		if x.Weight != want || x.ReadOnly != (i == balance) {
			t.Errorf("%+v", x)
		}
		total += x.Weight
	}
	if total != 100 || len(b.Types()) != 6 {
		t.Errorf("%d types with %d per cent", len(b.Types()), total)
	}
}

// TestDrawsOfFew: however few are hot or not, two different customers come.
func TestDrawsOfFew(t *testing.T) {
	for _, x := range []struct {
		customers uint64
		permille  int
	}{{2, 40}, {3, 40}, {3, 700}, {2, 1000}, {100, 999}, {100, 1000}, {1000, 999}} {
		b, err := New(Options{HotPermille: x.permille})
		if err != nil {
			t.Fatal(err)
		}
		b.customers = x.customers
		if b.hot, err = workload.NewHotSet(b.customers, x.permille); err != nil {
			t.Fatal(err)
		}
		r := sim.New(sim.Options{Seed: 1}).Stream("draws", 0)
		for range 1_000 {
			if p, q := b.two(r, anywhere); p == q || p >= x.customers || q >= x.customers {
				t.Fatalf("%d customers, %d per mille hot: customers %d and %d", x.customers, x.permille, p, q)
			}
		}
	}
}

// TestDraws: nine of ten customers are hot, two are never the same.
func TestDraws(t *testing.T) {
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.customers = 10_007
	if b.hot, err = workload.NewHotSet(b.customers, b.opt.HotPermille); err != nil {
		t.Fatal(err)
	}
	if b.popular, err = workload.NewPopularity(b.customers, 0); err != nil {
		t.Fatal(err)
	}
	r := sim.New(sim.Options{Seed: 1}).Stream("draws", 0)
	share := func() float64 {
		hot, n := 0, 50_000
		for range n {
			x, y := b.two(r, anywhere)
			if x == y || x >= b.customers || y >= b.customers {
				t.Fatalf("customers %d and %d", x, y)
			}
			if !b.popular.Skewed() && b.hot.IsHot(x) != b.hot.IsHot(y) {
				t.Fatalf("one of %d and %d is hot", x, y)
			}
			if b.hot.IsHot(x) {
				hot++
			}
		}
		return float64(hot) / float64(n)
	}
	if s := share(); math.Abs(s-0.9) > 0.01 {
		t.Errorf("%.3f of the transactions are hot", s)
	}
	if err := b.Set("hot", 50); err != nil || math.Abs(share()-0.5) > 0.01 {
		t.Error("half of the transactions should be hot")
	}
	if err := b.Set("theta", 0.99); err != nil || !b.popular.Skewed() {
		t.Error(err)
	}
	share()
	if err := b.Set("theta", 0.0); err != nil || b.popular.Skewed() {
		t.Error(err)
	}
	for name, v := range map[string]any{"theta": 3.0, "hot": 101, "mix.balance": "all", "mix.deposit": 3, "payload": 64} {
		if b.Set(name, v) == nil {
			t.Errorf("%s = %v is accepted", name, v)
		}
	}
}
