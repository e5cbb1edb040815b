package engine

import (
	"errors"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/txn"
	"drtmx/engine/workload/smallbank"
)

// swap exchanges the checking balances of two customers, which keeps the bank's total.
func swap(tx *txn.Tx) error {
	a := tx.Rand().Uint64n(1000)
	b := (a + 1 + tx.Rand().Uint64n(999)) % 1000
	x, err := tx.GetInt(smallbank.Checking, a)
	if err != nil {
		return err
	}
	y, err := tx.GetInt(smallbank.Checking, b)
	if err != nil {
		return err
	}
	if err := tx.PutInt(smallbank.Checking, a, y); err != nil {
		return err
	}
	return tx.PutInt(smallbank.Checking, b, x)
}

func TestAddedTransactionRunsAndIsChecked(t *testing.T) {
	s := open(t, small(nil))
	advance(t, s, 200_000)
	if err := s.AddTransaction("swap", 50, swap); err != nil {
		t.Fatal(err)
	}
	s.Mark()
	advance(t, s, 1_000_000)
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	r := s.Result()
	n := r.ByType["swap"].Commits
	if share := float64(n) / float64(r.Commits); n == 0 || share < 0.2 || share > 0.45 {
		t.Errorf("%d of %d commits are swaps", n, r.Commits)
	}
	if !r.Checks.Passed() {
		t.Errorf("%+v", r.Checks)
	}
}

func TestAddedTransactionThatFailsIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		body func(tx *txn.Tx) error
		says string
	}{
		"error":     {func(tx *txn.Tx) error { return errors.New("no money") }, "transaction bad: no money"},
		"not found": {func(tx *txn.Tx) error { _, err := tx.Read(smallbank.Checking, 1<<40); return err }, "transaction bad: "},
		"no key":    {func(tx *txn.Tx) error { _, err := tx.Read(smallbank.Checking, 1<<60); return err }, "transaction bad: key 1152921504606846976 of table checking: key not found"},
		"no table":  {func(tx *txn.Tx) error { _, err := tx.Read(99, 1); return err }, "transaction bad: table 99 does not exist: the tables are 1 savings, 2 checking"},
		"panic":     {func(tx *txn.Tx) error { panic("oops") }, "transaction bad panicked: oops"},
	} {
		s := open(t, small(nil))
		if err := s.AddTransaction("bad", 10, c.body); err != nil {
			t.Fatal(err)
		}
		err := s.Advance(1_000_000)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if s.State() != StateFailed {
			t.Errorf("%s: %s", name, s.State())
		}
	}
	s := open(t, small(nil))
	if err := s.AddTransaction("never", 10, func(tx *txn.Tx) error { return tx.Rollback() }); err != nil {
		t.Fatal(err)
	}
	advance(t, s, 500_000)
	if r := s.Result(); r.ByType["never"].Rollbacks == 0 {
		t.Errorf("%+v", r.ByType["never"])
	}
}

func TestAddTransactionRefuses(t *testing.T) {
	s := open(t, small(nil))
	for name, err := range map[string]error{
		"weight": s.AddTransaction("x", 0, swap),
		"name":   s.AddTransaction("", 1, swap),
		"taken":  s.AddTransaction("balance", 1, swap),
		"body":   s.AddTransaction("x", 1, nil),
	} {
		if !experiment.IsSpecError(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.AddTransaction("balance", 1, swap); strings.Count(err.Error(), "choose another") != 1 {
		t.Errorf("%v: what to do is said once", err)
	}
	raw, err := Open(experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"nodes": 2, "threads": 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if err := raw.AddTransaction("x", 1, swap); !experiment.IsSpecError(err) {
		t.Errorf("micro-read: %v", err)
	}
}
