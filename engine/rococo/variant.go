package rococo

// Variant is a known fault, for tests of the checkers.
type Variant uint8

const (
	// Correct has none.
	Correct Variant = iota
	// Reversed has one server run the transactions of a cycle from the highest number down.
	Reversed
	// Hasty does not wait for a transaction's ancestors: it runs when its commit comes.
	Hasty
	// Forgetful keeps no edges of a transaction that has run, though another server may still look for a cycle through it.
	Forgetful
	// StampsReversed gives the transactions of a cycle their timestamps the other way round.
	StampsReversed
	// OneRound has read-only transactions read once.
	OneRound
	// Unblocked has them not wait for transactions that have started.
	Unblocked
)

// Variants are the faults.
var Variants = []struct {
	Name string
	Variant
}{
	{"cycle-reversed", Reversed},
	{"no-wait-for-ancestors", Hasty},
	{"edges-forgotten", Forgetful},
	{"one-round-of-reads", OneRound},
	{"reads-do-not-wait", Unblocked},
}

func (v Variant) String() string {
	if v == StampsReversed {
		return "stamps-reversed"
	}
	for _, x := range Variants {
		if x.Variant == v {
			return x.Name
		}
	}
	return "correct"
}

// firstOf is which of two transactions of a cycle runs first on a server.
func (v Variant) firstOf(server int) func(a, b txnID) bool {
	if v == Reversed && server == 0 {
		return func(a, b txnID) bool { return a > b }
	}
	return func(a, b txnID) bool { return a < b }
}
