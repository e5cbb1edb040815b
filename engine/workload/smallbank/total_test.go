package smallbank

import (
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// TestTotal: a cent from nowhere on either account is noticed, one that moves is not.
func TestTotal(t *testing.T) {
	for _, x := range []struct {
		what string
		body func(tx *txn.Tx) error
		ok   bool
	}{
		{"savings grow", func(tx *txn.Tx) error { return tx.AddInt(Savings, 3, 1) }, false},
		{"a check is lost", func(tx *txn.Tx) error { return tx.AddInt(Checking, 3, -1) }, false},
		{"money moves", func(tx *txn.Tx) error {
			if err := tx.AddInt(Savings, 3, -100); err != nil {
				return err
			}
			return tx.AddInt(Checking, 4, 100)
		}, true},
	} {
		b, err := New(Options{Customers: 50})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.AddTransaction("rogue", 50, x.body); err != nil {
			t.Fatal(err)
		}
		cfg, _ := occ.Preset("drtm+h")
		bed := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 2, Txn: cfg, Mode: history.Full, Requests: 20}, b)
		bad := strings.Join(bed.Verdict(), "\n")
		if inv := b.Check()[0]; inv.OK != x.ok || strings.Contains(bad, "smallbank.total: ") == x.ok || bed.ByType[len(types)] == 0 {
			t.Errorf("%s, %d times: %+v\n%s", x.what, bed.ByType[len(types)], inv, bad)
		}
		bed.Close()
	}
}
