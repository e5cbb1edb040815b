package twopl

import (
	"drtmx/engine/txn"
)

// The costs that a txn.Scale may change: cycles of the coordinator and of the handlers of logs, by
// the phase that they belong to, and the waits.
const (
	CostBegin    = "coordinator.begin"
	CostLock     = "coordinator.lock"
	CostLogging  = "coordinator.logging"
	CostCommit   = "coordinator.commit"
	CostReclaim  = txn.CostReclaim
	CostServeLog = "handler.logging"
	CostFullLog  = "wait.full_log"
)

// ScaledCosts are all of them but txn.CostHeld, in the order in which a transaction comes to them.
func ScaledCosts() []txn.Cost {
	return []txn.Cost{
		{Name: CostBegin, What: "begin and end of an attempt"},
		{Name: CostLock, What: "growing phase, on the coordinator"},
		{Name: CostLogging, What: "logging, on the coordinator"},
		{Name: CostServeLog, What: "logging, in the handler (Table 4-2)"},
		{Name: CostCommit, What: "commit and release, on the coordinator"},
		{Name: CostReclaim, What: "applying log entries, on the backup"},
		{Name: txn.CostBackoff, What: "back-off after an abort", Wait: true},
		{Name: CostFullLog, What: "wait for room in a log ring", Wait: true},
	}
}

func scaledProgram(s txn.Scale, p program) program {
	for _, x := range []struct {
		cost   string
		amount *int
	}{
		{CostBegin, &p.attempt}, {CostLock, &p.growing}, {CostLock, &p.growingRecord}, {CostLock, &p.upgrade},
		{CostLogging, &p.logging}, {CostLogging, &p.loggingRecord}, {CostCommit, &p.commitRecord},
		{CostReclaim, &p.reclaim}, {CostReclaim, &p.reclaimRecord},
	} {
		*x.amount = s.Of(x.cost, *x.amount)
	}
	return p
}
