package agent

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/dashboard/charts"
	"drtmx/engine/txn"
)

// AddTransaction adds user code to the workload of a system. Its session then
// cannot be replayed from a file.
func (a *Agent) AddTransaction(ctx context.Context, sys, name string, weight int, body func(tx *txn.Tx) error) error {
	marked := body
	if body != nil {
		marked = func(tx *txn.Tx) error { return callBody(body, tx) }
	}
	return a.call(ctx, sys, func(m *member) error {
		return m.addTransaction(addedCode{session.AddedTxn{Name: name, Weight: weight}, func(s system.System) error {
			return s.AddTransaction(name, weight, marked)
		}})
	})
}

// callBody is what stands on the stack of whatever a transaction's body calls.
//
//go:noinline
func callBody(body func(tx *txn.Tx) error, tx *txn.Tx) error {
	defer charts.NamePlace()
	return body(tx)
}

var callBodyName = runtime.FuncForPC(reflect.ValueOf(callBody).Pointer()).Name()

var errInBody = errors.New("a transaction cannot call Run, Set and the like: the cluster would wait for itself; call them outside of it")

// inBody is true for code called by a transaction's body. The loop that would take
// its command is the one that waits for it.
func inBody() bool {
	pcs := make([]uintptr, 64)
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs)
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			if f, more = frames.Next(); f.Function == callBodyName {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

// userCode are the names of the transactions that users added to a system.
func userCode(added []addedCode) []string {
	var names []string
	for i := range added {
		names = append(names, added[i].Name)
	}
	return slices.Clip(names)
}
