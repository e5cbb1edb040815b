package testbed

import "drtmx/engine/knob"

// Load is what the rooms below the workloads have to know of the workload that runs.
type Load struct {
	Name         string
	Transactions bool // it runs transactions, else raw verbs
	ReadOnly     bool // it has read-only transactions
	Indexes      bool // they have ordered tables, as secondary indexes
	Pieces       bool // its read-write transactions are pieces too, see txn.Op
	Ordered      bool // its requests, which are no transactions, go to an ordered key-value store

	// Inserts says whether transactions insert or delete records. nil: none does.
	Inserts func(v knob.Values) bool
	// Unpieced says what the values ask of transactions that is no piece, although Pieces; "": nothing. nil: never anything.
	Unpieced func(v knob.Values) string
	// Declares says whether its transactions name all their records before they touch any (txn.Tx.Declare), or why those of these values do
	// not. nil: none does.
	Declares func(v knob.Values) (whyNot string)
	// LocalLocks says how many of a hundred locks are of records on the machine that locks them. nil: only
	// the run can tell.
	LocalLocks func(v knob.Values) int
	// Scans says whether requests to an ordered key-value store may be SCANs. nil: none is.
	Scans func(v knob.Values) bool
	// KeyBytes is the length of the longest key of such requests, where they are byte strings of different lengths; nil, or 0: they
	// are words.
	KeyBytes func(v knob.Values) int
	// IgnoresAborts says whether transactions commit whatever they meet, as under a switch of the released code.
	// nil: they never do.
	IgnoresAborts func(v knob.Values) bool
}

// Always is Inserts of a workload whose records come and go under all values.
func Always(knob.Values) bool { return true }

// LongestKey is KeyBytes, of any load.
func (l *Load) LongestKey(v knob.Values) int {
	if l.KeyBytes == nil {
		return 0
	}
	return l.KeyBytes(v)
}

// Undeclared says why transactions do not name all their records beforehand; "" where they do.
func (l *Load) Undeclared(v knob.Values) string {
	if l.Declares == nil {
		return "the transactions of workload " + l.Name + " do not declare them"
	}
	return l.Declares(v)
}

// AllDeclared is the Declares of a workload whose transactions do, whatever the values.
func AllDeclared(knob.Values) (whyNot string) { return "" }

// LoadOf is the load that resolved values name.
type LoadOf func(v knob.Values) *Load

// NoTransactions says why a knob of transactions has nothing to act on; "" where it has.
func (l *Load) NoTransactions() string {
	if l.Transactions {
		return ""
	}
	return "workload " + l.Name + " runs no transactions"
}
