package occ

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/txn"
)

// The costs of handlers and waits that a txn.Scale may change, beside those of all coordinators.
const (
	CostServeFetch    = "handler.execution"
	CostServeValidate = "handler.validation" // locks and validates, see Costs
	CostServeCommit   = "handler.commit"
	CostReadRetry     = "wait.read_retry"
)

// ScaledCosts are all of them but txn.CostHeld, in the order in which a transaction comes to them.
func ScaledCosts() []txn.Cost {
	return []txn.Cost{
		{Name: coordinator.CostBegin, What: "begin and end of an attempt"},
		{Name: coordinator.CostExecution, What: "execution, on the coordinator"},
		{Name: CostServeFetch, What: "execution, in the handler (Table 4-2)"},
		{Name: coordinator.CostLock, What: "lock, on the coordinator"},
		{Name: coordinator.CostValidation, What: "validation, on the coordinator"},
		{Name: CostServeValidate, What: "lock and validation, in the handler (Table 4-2)"},
		{Name: coordinator.CostLogging, What: "logging, on the coordinator"},
		{Name: coordinator.CostServeLog, What: "logging, in the handler (Table 4-2)"},
		{Name: coordinator.CostCommit, What: "commit, on the coordinator"},
		{Name: CostServeCommit, What: "commit, in the handler (Table 4-2)"},
		{Name: coordinator.CostReclaim, What: "applying log entries, on the backup"},
		{Name: txn.CostBackoff, What: "back-off after an abort", Wait: true},
		{Name: CostReadRetry, What: "wait before a locked record is read again", Wait: true},
		{Name: coordinator.CostFullLog, What: "wait for room in a log ring", Wait: true},
	}
}

func scaledHandlers(s txn.Scale, c txn.Costs) txn.Costs {
	c.Execution, c.Validation = s.Of(CostServeFetch, c.Execution), s.Of(CostServeValidate, c.Validation)
	c.Logging, c.Commit = s.Of(coordinator.CostServeLog, c.Logging), s.Of(CostServeCommit, c.Commit)
	return c
}
