package smallbank

import (
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/sim"
	"drtmx/engine/workload/workloadtest"
)

// opened is a bank of some options on three machines.
func opened(t *testing.T, o Options) *Bank {
	t.Helper()
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := occ.Preset("drtm+h")
	workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 2, Coroutines: 2, Seed: 1, Txn: cfg, Mode: history.Off}, b)
	return b
}

// TestLocalCustomers: transactions that are not distributed take customers of one machine, as many hot ones as ever; the share of
// those that are is what was set, and it can change while the bank is open.
func TestLocalCustomers(t *testing.T) {
	for _, o := range []Options{{Customers: 30_000}, {Customers: 30_000, Theta: 0.9}, {Customers: 30_000, HotPermille: 1}, {Customers: 7}} {
		b := opened(t, o)
		for _, distributed := range []float64{1, 0.5, 0} {
			if err := b.Set("distributed", distributed); err != nil {
				t.Fatal(err)
			}
			const n, machine = 20_000, 1
			rand := *sim.New(sim.Options{Seed: 7}).Stream("test", 0)
			own, hot := 0, 0
			for range n {
				home := b.home(b.homeOf(machine), &rand)
				x, y := b.two(&rand, home)
				if x == y {
					t.Fatalf("%+v: customer %d twice", o, x)
				}
				if home == machine {
					own++
					if b.owners.Primary(x) != machine || b.owners.Primary(y) != machine {
						t.Fatalf("%+v: customers %d and %d are not on machine %d", o, x, y, machine)
					}
				}
				if b.hot.IsHot(x) {
					hot++
				}
			}
			if want := (1 - distributed) * n; float64(own) < 0.95*want || float64(own) > 1.05*want {
				t.Errorf("%+v: %d of %d transactions stay on their machine, %g are distributed", o, own, n, distributed)
			}
			if share := float64(hot) / n; o == (Options{Customers: 30_000}) && (share < 0.88 || share > 0.92) {
				t.Errorf("%+v: %.3f are hot, %g distributed", o, share, distributed)
			}
		}
	}
	b := opened(t, Options{Customers: 2}) // a machine without customers, and two with one
	for m := range 3 {
		if home := b.homeOf(m); home != anywhere {
			t.Errorf("transactions of machine %d stay there, with %d customers", m, b.owners.Count(m))
		}
	}
	for _, bad := range []any{2.0, -0.1, "x"} {
		if b.Set("distributed", bad) == nil {
			t.Errorf("%v is no share", bad)
		}
	}
}
