package txn

import "drtmx/engine/r2"

// Scale maps a cost, by its name, to the one that takes its place.
type Scale func(cost string, amount int) int

// The costs that a Scale may change: cycles of the coordinator and of the handlers of
// Table 4-2, by the phase that they belong to, and the waits.
const (
	CostBegin         = "coordinator.begin"
	CostExecution     = "coordinator.execution"
	CostLock          = "coordinator.lock"
	CostValidation    = "coordinator.validation"
	CostLogging       = "coordinator.logging"
	CostCommit        = "coordinator.commit"
	CostReclaim       = "handler.reclaim"
	CostServeFetch    = "handler.execution"
	CostServeValidate = "handler.validation" // locks and validates, see Costs
	CostServeLog      = "handler.logging"
	CostServeCommit   = "handler.commit"
	CostBackoff       = "wait.backoff"
	CostReadRetry     = "wait.read_retry"
	CostFullLog       = "wait.full_log"
	// CostHeld is how long locks are held, in thousandths of what it takes: see Tx.hold.
	CostHeld = "held"
)

// CostNames are all of them but CostHeld, in the order in which a transaction comes to them.
func CostNames() []string {
	return []string{CostBegin, CostExecution, CostServeFetch, CostLock, CostValidation, CostServeValidate, CostLogging, CostServeLog, CostCommit, CostServeCommit, CostReclaim,
		CostBackoff, CostReadRetry, CostFullLog}
}

// asLong is CostHeld as it is.
const asLong = 1000

func (s Scale) of(cost string, amount int) int {
	if s == nil {
		return amount
	}
	return s(cost, amount)
}

func (s Scale) program(p program) program {
	for _, x := range []struct {
		cost   string
		amount *int
	}{
		{CostBegin, &p.attempt}, {CostExecution, &p.execution}, {CostExecution, &p.executionRecord}, {CostLock, &p.lock}, {CostLock, &p.lockRecord},
		{CostValidation, &p.validation}, {CostValidation, &p.validationRec}, {CostLogging, &p.logging}, {CostLogging, &p.loggingRecord},
		{CostCommit, &p.commitRecord}, {CostReclaim, &p.reclaim}, {CostReclaim, &p.reclaimRecord},
	} {
		*x.amount = s.of(x.cost, *x.amount)
	}
	return p
}

func (s Scale) handlers(c Costs) Costs {
	c.Execution, c.Validation = s.of(CostServeFetch, c.Execution), s.of(CostServeValidate, c.Validation)
	c.Logging, c.Commit = s.of(CostServeLog, c.Logging), s.of(CostServeCommit, c.Commit)
	return c
}

func (s Scale) waits(c *Config) {
	c.BackoffMinNS, c.BackoffMaxNS = int64(s.of(CostBackoff, int(c.BackoffMinNS))), int64(s.of(CostBackoff, int(c.BackoffMaxNS)))
	c.ReadRetryNS = int64(s.of(CostReadRetry, int(c.ReadRetryNS)))
}

// hold lets the transaction keep its locks for longer than it needs them, where a Scale says so:
// by a share of the time since it had them all. Its core is free meanwhile. Shorter it cannot be.
func (tx *Tx) hold() {
	more := r2.Time(tx.db.held - asLong)
	if more <= 0 || tx.lockedAt == 0 {
		return
	}
	tx.c.Sleep((tx.c.Now() - tx.lockedAt) * more / asLong)
}
