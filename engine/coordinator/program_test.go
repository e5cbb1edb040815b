package coordinator

import (
	"reflect"
	"slices"
	"testing"

	"drtmx/engine/txn"
)

// Each cost that may be scaled changes the parts of the program that it is about, and no others.
func TestProgramScales(t *testing.T) {
	parts := map[string][]string{ // order-free: each cost by itself
		CostBegin:      {"Attempt"},
		CostExecution:  {"Execution", "ExecutionRecord"},
		CostLock:       {"Lock", "LockRecord", "Growing", "GrowingRecord", "Upgrade"},
		CostValidation: {"Validation", "ValidationRecord"},
		CostLogging:    {"Logging", "LoggingRecord"},
		CostCommit:     {"CommitRecord"},
		CostReclaim:    {"Reclaim", "ReclaimRecord"},
	}
	plain := reflect.ValueOf(ScaledProgram(nil))
	scaled := 0
	for cost, fields := range parts {
		twice := reflect.ValueOf(ScaledProgram(func(name string, amount int) int {
			if name == cost {
				return 2 * amount
			}
			return amount
		}))
		for i := range plain.NumField() {
			name, want := plain.Type().Field(i).Name, plain.Field(i).Int()
			if want <= 0 {
				t.Errorf("%s takes %d cycles", name, want)
			}
			if slices.Contains(fields, name) {
				want *= 2
				scaled++
			}
			if got := twice.Field(i).Int(); got != want {
				t.Errorf("twice %s: %s takes %d cycles, want %d", cost, name, got, want)
			}
		}
	}
	if scaled != plain.NumField() {
		t.Errorf("%d of %d parts are scaled by a cost", scaled, plain.NumField())
	}
}

// The list has every cost once, each with what it is, and ends with how long locks are held.
func TestLockingCosts(t *testing.T) {
	var names []string
	for _, c := range LockingCosts() {
		if c.What == "" || slices.Contains(names, c.Name) {
			t.Errorf("cost %q is what? %q, or is there twice", c.Name, c.What)
		}
		names = append(names, c.Name)
	}
	for _, name := range []string{CostBegin, CostLock, CostLogging, CostServeLog, CostCommit, CostReclaim, txn.CostBackoff, CostFullLog} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not in the list", name)
		}
	}
	if last := names[len(names)-1]; last != txn.CostHeld {
		t.Errorf("the list ends with %s, want %s", last, txn.CostHeld)
	}
}
