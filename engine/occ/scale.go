package occ

import (
	"drtmx/engine/txn"
)

// The costs that a txn.Scale may change: cycles of the coordinator and of the handlers of
// Table 4-2, by the phase that they belong to, and the waits.
const (
	CostBegin         = "coordinator.begin"
	CostExecution     = "coordinator.execution"
	CostLock          = "coordinator.lock"
	CostValidation    = "coordinator.validation"
	CostLogging       = "coordinator.logging"
	CostCommit        = "coordinator.commit"
	CostReclaim       = txn.CostReclaim
	CostServeFetch    = "handler.execution"
	CostServeValidate = "handler.validation" // locks and validates, see Costs
	CostServeLog      = "handler.logging"
	CostServeCommit   = "handler.commit"
	CostReadRetry     = "wait.read_retry"
	CostFullLog       = "wait.full_log"
)

// ScaledCosts are all of them but txn.CostHeld, in the order in which a transaction comes to them.
func ScaledCosts() []txn.Cost {
	return []txn.Cost{
		{Name: CostBegin, What: "begin and end of an attempt"},
		{Name: CostExecution, What: "execution, on the coordinator"},
		{Name: CostServeFetch, What: "execution, in the handler (Table 4-2)"},
		{Name: CostLock, What: "lock, on the coordinator"},
		{Name: CostValidation, What: "validation, on the coordinator"},
		{Name: CostServeValidate, What: "lock and validation, in the handler (Table 4-2)"},
		{Name: CostLogging, What: "logging, on the coordinator"},
		{Name: CostServeLog, What: "logging, in the handler (Table 4-2)"},
		{Name: CostCommit, What: "commit, on the coordinator"},
		{Name: CostServeCommit, What: "commit, in the handler (Table 4-2)"},
		{Name: CostReclaim, What: "applying log entries, on the backup"},
		{Name: txn.CostBackoff, What: "back-off after an abort", Wait: true},
		{Name: CostReadRetry, What: "wait before a locked record is read again", Wait: true},
		{Name: CostFullLog, What: "wait for room in a log ring", Wait: true},
	}
}

func scaledProgram(s txn.Scale, p program) program {
	for _, x := range []struct {
		cost   string
		amount *int
	}{
		{CostBegin, &p.attempt}, {CostExecution, &p.execution}, {CostExecution, &p.executionRecord}, {CostLock, &p.lock}, {CostLock, &p.lockRecord},
		{CostValidation, &p.validation}, {CostValidation, &p.validationRec}, {CostLogging, &p.logging}, {CostLogging, &p.loggingRecord},
		{CostCommit, &p.commitRecord}, {CostReclaim, &p.reclaim}, {CostReclaim, &p.reclaimRecord},
	} {
		*x.amount = s.Of(x.cost, *x.amount)
	}
	return p
}

func scaledHandlers(s txn.Scale, c txn.Costs) txn.Costs {
	c.Execution, c.Validation = s.Of(CostServeFetch, c.Execution), s.Of(CostServeValidate, c.Validation)
	c.Logging, c.Commit = s.Of(CostServeLog, c.Logging), s.Of(CostServeCommit, c.Commit)
	return c
}
