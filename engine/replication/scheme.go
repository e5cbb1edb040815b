package replication

import (
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/membership"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// Kind is a scheme as the list of parts has it.
type Kind struct {
	Name string
	Doc  string // a clause
	// InPlace says that Append writes the records themselves, on all machines with a copy. The protocol says what was there before, see InPlaceWriter,
	// its write-back only releases locks, and it has Decide called with false if it aborts after Append.
	InPlace bool
	// Single says that there is one copy of each record.
	Single bool
	// Applies says that backups apply entries behind the decision, when they hear of it as KnobReclaim says.
	Applies bool
	// Footprint is what logs take of the machines' memory, in bytes. nil: nothing.
	Footprint func(w Writers) int64
	// Open prepares the machines of a cluster.
	Open func(cl *r2.Cluster, o Options) (Scheme, error)
}

// Writers are the coroutines of a cluster, whose transactions write logs.
type Writers struct {
	Servers    int   // machines with records
	Threads    []int // by machine
	Coroutines int   // of a thread
	Replicas   int   // of each record
}

// Scheme keeps the copies of a database's records in step.
type Scheme interface {
	// Writer is what the transactions of a coroutine tell their changes.
	Writer(c *r2.Co) Writer
	// Unreclaimed counts the entries that transactions have left in logs: none when all is quiet.
	Unreclaimed() int
	// Full counts how often a transaction found no room in a log.
	Full() uint64
	// Backups are the machines with copies of the records of a primary.
	Backups(primary int) []int
	// Audit compares the copies of a record at rest with its row at the primary. It calls bad with a sentence for each that differs.
	Audit(r Row, bad func(text string))
	metrics.Gauged
}

// Writer takes the write sets of one coroutine's transactions, one after the other.
type Writer interface {
	// Begin forgets the write set of before.
	Begin(how Reclaiming)
	// Add adds a record that changes, and returns its number in the write set. Its value has to stay until Reclaim.
	Add(primary int, u record.Update) (n int)
	// SetRow says, before Append, which row a record has got that is inserted, and its stamp.
	SetRow(n int, row uint32, stamp uint64)
	// Stamp says, before Append, which stamp the versions get.
	Stamp(s uint64)
	// Plan refuses a write set that does not fit into a log, or into a message if it is to go by RPC.
	Plan(byRPC bool) error
	// Needed says that Append has something to send.
	Needed() bool
	// Append sends the write set by one-sided verbs or by RPC, and waits: when it returns nil the transaction may commit.
	Append(byRPC bool) error
	// Decide says whether it does.
	Decide(commit bool) error
	// Awaited says that Reclaim waits for answers, and is called before the records are written back. Else it comes at the very end.
	Awaited() bool
	// Reclaim gives the room in the logs back.
	Reclaim() error
	// Ahead asks the host for what Append and Reclaim touch.
	Ahead()
}

// InPlaceWriter is the Writer of a Kind with InPlace.
type InPlaceWriter interface {
	Writer
	// Replaces says of a change where its row is at the primary, and what the row has from Layout.Own on. Those bytes have to stay until Decide.
	Replaces(n int, at store.Location, before []byte)
}

// Choice is what a database says of its copies.
type Choice struct {
	Kind  Kind   // which scheme keeps them
	Bytes uint64 // of a log: one per thread of the cluster, in the memory of each server. 0: the scheme's default. Small logs make transactions wait
	Check bool   // look into the logs at every decision, free of time: what Append has sent must be there
}

// Options are what a scheme is opened with.
type Options struct {
	Choice
	Members  *membership.Table // says which machines hold records
	Replicas int               // of each record, the primary included; 1: no backups and no logs
	// FullNS is the time between two looks at a full log; 0 is DefaultFullNS.
	FullNS int64
	Costs  Costs
	// InPlace says that the protocol is made for a Kind with InPlace.
	InPlace bool
	// Layout is what rows have in front of the value. If it has versions, entries carry their stamp.
	Layout record.Layout
	// Store is the store of a table.
	Store func(table uint8) store.Table
	// Note takes in anomalies that a machine finds; nil: they are dropped.
	Note func(machine int, a history.Anomaly)
}

// Costs of a scheme, in cycles.
type Costs struct {
	// Serve is of the handler that stores an entry (Table 4-2): it covers its memory accesses. 0: they are charged.
	Serve int
	// Apply is of applying an entry to a copy, ApplyRecord of each of its records.
	Apply, ApplyRecord int
	// EntryBytes is the least size of an entry (Table 4-2): what is missing is zeros.
	EntryBytes int
}

// DefaultFullNS is the time between two looks at a full log.
const DefaultFullNS = 2_000

// Missing is the kind of anomaly of a transaction that was decided, or was to be
// applied, while a machine did not have its log entry.
const Missing = "log-missing"

// Missing notes such an anomaly.
func (o *Options) Missing(c *r2.Co, format string, args ...any) {
	if o.Note != nil {
		o.Note(c.Machine(), history.Anomaly{Kind: Missing, Text: fmt.Sprintf(format, args...)})
	}
}

// OwnerOf names a coroutine in lock words and log entries.
func OwnerOf(c *r2.Co) record.Owner {
	return record.OwnerOf(c.Machine(), c.Thread(), c.Index())
}
