package locking

import "drtmx/engine/txn"

// Program is what the transaction's own program takes on its core, in cycles.
type Program struct {
	Attempt       int
	Growing       int // each time that records are locked together
	GrowingRecord int // a lock request, and what the body does with the record
	Upgrade       int // of a shared lock
	Logging       int // reclaim messages and their receipts included
	LoggingRecord int
	CommitRecord  int // written back or released, or a server at which the attempt ends
	Reclaim       int // of a handler
	ReclaimRecord int
}

// Coordinator is the program, scaled.
func Coordinator(s txn.Scale) Program {
	return Program{
		Attempt:       s.Of(CostBegin, txn.OnBroadwell(1000)),
		Growing:       s.Of(CostLock, txn.OnBroadwell(400)),
		GrowingRecord: s.Of(CostLock, txn.OnBroadwell(240)),
		Upgrade:       s.Of(CostLock, txn.OnBroadwell(230)),
		Logging:       s.Of(CostLogging, txn.OnBroadwell(700)),
		LoggingRecord: s.Of(CostLogging, txn.OnBroadwell(90)),
		CommitRecord:  s.Of(CostCommit, txn.OnBroadwell(40)),
		Reclaim:       s.Of(CostReclaim, txn.OnBroadwell(250)),
		ReclaimRecord: s.Of(CostReclaim, txn.OnBroadwell(30)),
	}
}

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

// Costs are all of them, in the order in which a transaction comes to them, and last txn.CostHeld.
func Costs() []txn.Cost {
	return []txn.Cost{
		{Name: CostBegin, What: "begin and end of an attempt"},
		{Name: CostLock, What: "growing phase, on the coordinator"},
		{Name: CostLogging, What: "logging, on the coordinator"},
		{Name: CostServeLog, What: "logging, in the handler (Table 4-2)"},
		{Name: CostCommit, What: "commit and release, on the coordinator"},
		{Name: CostReclaim, What: "applying log entries, on the backup"},
		{Name: txn.CostBackoff, What: "back-off after an abort", Wait: true},
		{Name: CostFullLog, What: "wait for room in a log ring", Wait: true},
		txn.HeldCost("from the first lock to the decision"),
	}
}
