package txn

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
)

// CostNames are all of them, in the order in which a transaction comes to them.
func CostNames() []string {
	return []string{CostBegin, CostExecution, CostServeFetch, CostLock, CostValidation, CostServeValidate, CostLogging, CostServeLog, CostCommit, CostServeCommit, CostReclaim,
		CostBackoff, CostReadRetry, CostFullLog}
}

// HeldCosts are those of the work that is done while a transaction holds its locks: from
// the answer to its lock requests to the write-back. The lock phase itself is not in it:
// most of it is before the locks are there.
func HeldCosts() []string {
	return []string{CostValidation, CostLogging, CostServeLog, CostCommit, CostServeCommit}
}

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
