package coordinator

import "drtmx/engine/txn"

// The transaction's own program takes time on its core as well: read and write set, the
// body, log entries, the applying of them at a backup. No source says how much; Table
// 4-2 is about handlers. These are the cycles that engine/protocol/occ takes itself, measured
// in the host's caches by `go run ./cluster/bench -coordinator 20s` (Xeon of 2023,
// 3.6 GHz) and rounded to a line through the three workloads:
//
//	           records  written  transaction  execution  validation  logging  commit  reclaim
//	smallbank     1.85      1.4         1341        680         500      941      60      620
//	cycle            3        3         1022        923         264      825      99     1022
//	tpcc-no         35       23         3536       5228         923     2921    1076        -
//
// The line is not each of its points: of tpcc-no it has 7,750 cycles for execution where 5,228 were measured, and
// less for begin and end; a transaction's sums nearly agree, 13,890 for 13,684. Of tpcc-no the host's cache misses hide what reclaims take.
// What is charged in other ways is not in them: posting and polling (r2), the index, and
// memory beyond the core's own caches.
//
// A core of VAL takes more cycles for the same, txn.OnBroadwell says how many and from which source. A program
// in another language would take others: results of chapter 4 have a band from 1/1.4 to 1.4
// of these numbers. Nothing here was adjusted to a result of the thesis.
//
// Protocols that lock as they go are assumed to take the same where the work is the same: a lock request of the growing phase is a fetch
// and a lock; to release a record, or to end an attempt at a server, is counted as to write one back.

// Program is what the transaction's own program takes on its core, in cycles.
type Program struct {
	Attempt          int // begin and end
	Execution        int // each time that records are fetched together
	ExecutionRecord  int // what the body does with the record included
	Lock             int // of a lock phase
	LockRecord       int
	Growing          int // each time that records are locked together, and read
	GrowingRecord    int // what the body does with the record included
	Upgrade          int // of a shared lock
	Validation       int // of the validation of the rest
	ValidationRecord int
	Logging          int // reclaim messages and their receipts included
	LoggingRecord    int
	CommitRecord     int // written back or released, or a server at which the attempt ends
	Reclaim          int // of a handler; Table 4-2 has the others
	ReclaimRecord    int
}

// ScaledProgram is the program, scaled.
func ScaledProgram(s txn.Scale) Program {
	of := func(cost string, cycles int) int { return s.Of(cost, txn.OnBroadwell(cycles)) }
	return Program{
		Attempt:   of(CostBegin, 1000),
		Execution: of(CostExecution, 400), ExecutionRecord: of(CostExecution, 210),
		Lock: of(CostLock, 200), LockRecord: of(CostLock, 30),
		Growing: of(CostLock, 400), GrowingRecord: of(CostLock, 240), Upgrade: of(CostLock, 230),
		Validation: of(CostValidation, 200), ValidationRecord: of(CostValidation, 30),
		Logging: of(CostLogging, 700), LoggingRecord: of(CostLogging, 90),
		CommitRecord: of(CostCommit, 40),
		Reclaim:      of(CostReclaim, 250), ReclaimRecord: of(CostReclaim, 30),
	}
}

// The costs that a txn.Scale may change: cycles of the coordinator and of the handlers of Table 4-2, by the phase that they belong to, and
// the waits.
const (
	CostBegin      = "coordinator.begin"
	CostExecution  = "coordinator.execution"
	CostLock       = "coordinator.lock"
	CostValidation = "coordinator.validation"
	CostLogging    = "coordinator.logging"
	CostCommit     = "coordinator.commit"
	CostReclaim    = txn.CostReclaim
	CostServeLog   = "handler.logging"
	CostFullLog    = "wait.full_log"
)

// LockingCosts are those of protocols that lock as they go, in the order in which a transaction comes to them, and last txn.CostHeld.
func LockingCosts() []txn.Cost {
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
