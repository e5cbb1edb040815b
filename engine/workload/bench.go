package workload

import (
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/membership"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
)

// Env is what a workload is opened in.
type Env struct {
	Cluster *r2.Cluster
	Members *membership.Table // what the machines are there for; nil: all hold data and run clients

	// Txn configures workloads that run transactions. Their handler costs are
	// the workload's own.
	Txn       txn.Config
	Store     store.Kind
	Schemes   timestamp.Kinds // see txn.Options
	Recorder  *history.Recorder
	Log       replication.Choice
	Conflicts txn.Conflicts
	Scale     txn.Scale // of the costs in code; nil: as they are
	Open      bool      // requests arrive: a client does not begin the next one by itself
	// Indexes prepares the ordered tables of transactions, for a workload that has some.
	Indexes func() (store.Indexes, error)

	// Ordered is the key-value store for workloads of requests to one, Values are the resolved ones for it.
	Ordered *store.KVKind
	Values  knob.Values

	OnBegin        func(machine, thread int, at r2.Time)
	OnDone         func(machine, thread int, o *txn.Outcome)
	OnAbort        func(machine int, typ uint8)         // see txn.Options
	OnSnapshotRead func(machine int, staleness r2.Time) // likewise
}

// Machines says what they are there for.
func (e Env) Machines() *membership.Table {
	if e.Members == nil {
		return membership.New(e.Cluster.Machines(), membership.Symmetric)
	}
	return e.Members
}

// ServerCount is the number of those that hold data.
func (e Env) ServerCount() int { return e.Machines().Servers() }

// Symmetric says that each machine that holds data runs clients too.
func (e Env) Symmetric() bool { return e.Machines().Roles(0).Has(membership.Client) }

// Clients are the machines that run clients.
func (e Env) Clients() []int { return e.Machines().Of(membership.Client) }

// OpenDB opens the database of a transactional workload.
func (e Env) OpenDB(costs txn.Costs) (*txn.DB, error) {
	return txn.Open(e.Cluster, txn.Options{
		Config: e.Txn, Store: e.Store, Schemes: e.Schemes, Members: e.Machines(), Costs: costs.Payloads(e.Values), Log: e.Log, Scale: e.Scale,
		Recorder: e.Recorder, Conflicts: e.Conflicts, OnBegin: e.OnBegin, OnDone: e.OnDone, OnAbort: e.OnAbort, OnSnapshotRead: e.OnSnapshotRead,
	})
}

// OpenIndexes prepares the ordered tables of a database.
func (e Env) OpenIndexes(db *txn.DB) (store.Indexes, error) {
	x, err := e.Indexes()
	if err == nil {
		err = db.UseIndexes(x)
	}
	return x, err
}

// OpenKV opens the store of a workload of requests to an ordered key-value store.
func (e Env) OpenKV(s store.KVSpec) (store.KV, error) {
	if err := s.Check(e.Cluster); err != nil {
		return nil, err
	}
	return e.Ordered.Open(e.Cluster, s, e.Values)
}

// Between is called between two steps of long work, done of total so far. Its error
// ends the work. nil: it cannot be given up.
type Between func(done, total int) error

// Step asks, unless it is nil.
func (b Between) Step(done, total int) error {
	if b == nil {
		return nil
	}
	return b(done, total)
}

// Halves are for work in two parts that take about as long.
func (b Between) Halves() (first, second Between) {
	if b == nil {
		return nil, nil
	}
	return func(done, total int) error { return b(done, 2*total) }, func(done, total int) error { return b(total+done, 2*total) }
}

// Runner is one coroutine's part of a workload.
type Runner interface {
	// Next runs one request to its end. What the request's own code may well do,
	// like giving up for lack of funds, is no error.
	Next() error
}

// Invariant is the verdict of a consistency check.
type Invariant struct {
	Name string
	OK   bool
	Rule string // what has to hold, in a clause
	Text string // where it does not, when it does not: the records and the numbers
	// Needs is the weakest claim whose transactions keep it: under weaker ones it is not checked. "": any.
	Needs history.Claim
}

// Violation says what is broken, and where, to a reader that has the name alone.
func (i Invariant) Violation() string {
	if i.Rule == "" || i.Text == "" {
		return i.Rule + i.Text
	}
	return i.Rule + ": " + i.Text
}

// Bench is a workload.
type Bench interface {
	Name() string
	// Types names the request types, in the order of Outcome.Type.
	Types() []string
	// Open creates tables or memory regions on the cluster. Nothing runs yet.
	Open(env Env) error
	// DB is the database, nil for workloads that run no transactions.
	DB() *txn.DB
	// Warm fills caches as a long run would have, before time 0. It calls between
	// as it goes.
	Warm(between Between) error
	// Runner is called once on each client coroutine.
	Runner(c *r2.Co) Runner
	// Set changes a live parameter: the knob's name without "workload.".
	Set(name string, value any) error
	// Check looks at the contents after a drain.
	Check() []Invariant
}

// Extensible workloads take in transactions of the user's.
type Extensible interface {
	AddTransaction(name string, weight int, body func(tx *txn.Tx) error) error
}

// Online workloads can look at some of their invariants while transactions run.
type Online interface {
	// CheckOnline looks where nothing is half done at this moment. It returns the
	// invariants that it has looked at by now; one that was broken once stays so.
	CheckOnline() []Invariant
}

// Merging workloads have machines write down what they see, and judge it together.
type Merging interface {
	// Merge takes in what machines have written down of before a time, at the end of each window and while none of them runs. Nothing of
	// before it is written down afterwards. Check does the same with all that is left.
	Merge(before r2.Time)
}

// OnKV workloads send their requests to an ordered key-value store.
type OnKV interface{ KV() store.KV }

// Counting workloads count their requests in flight: those of several verbs, between which the network may be quiet. A
// drain waits until there is none.
type Counting interface{ InFlight() int }

// Finite workloads have a list of requests. Finished says that all of them have ended: nothing follows.
type Finite interface{ Finished() bool }

// Crashing workloads are told when a machine has crashed: requests of its clients are gone, and what a server had is not there
// until it comes back.
type Crashing interface{ Crashed(machine int) }

// Showing workloads say which anomalies their transactions can have at all, however wrong
// the protocol is: those of history.Showable that follow from what they read and write, in
// that order, and without those that only come with a lost update or an aborted version.
// Empty is none.
type Showing interface{ CanShow() []string }

// UnknownParameter is the error of Set for a name the workload does not have.
func UnknownParameter(bench, name string) error {
	return fmt.Errorf("workload.%s: %s has no such live parameter; reset to change others", name, bench)
}
