package txn

import (
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn/audit"
)

// Config says which concurrency control a database has, and how it runs.
type Config interface {
	// Common is what the transaction layer has to know of it.
	Common() Settings
	// Open makes the protocol ready on a database that has no tables yet.
	Open(db *DB) (Protocol, error)
}

// Protocol is a concurrency control on a database: what its transactions do to
// records, and when.
type Protocol interface {
	// Set changes the configuration of attempts of transactions that begin from now
	// on. Its type is that of the configuration which opened the protocol.
	Set(cfg Config) error
	// NeedsDrain reports whether a change to cfg must wait until no transaction is in
	// flight.
	NeedsDrain(cfg Config) bool
	// Config is that of transactions that begin now.
	Config() Config
	// Session makes the session of a coroutine. Its transactions run in it one after the other.
	Session(tx *Tx) Session

	// Layout is what its rows have in front of the value.
	Layout() record.Layout

	// Unserved counts what ended transactions have left for others to do: commit and
	// unlock requests that are not served.
	Unserved() int
	// Locked says whether a row at rest is locked, and by which transaction.
	Locked(row []byte) (who string, held bool)
}

// Auditor is a protocol with locks that are not in rows. Audit calls bad with a sentence for each that is left
// behind when nothing runs.
type Auditor interface{ Audit(bad func(text string)) }

// Waiting is a protocol that can say what its transactions wait for, where r2 only knows that a coroutine waits. Stuck has a few sentences for a
// run in which nothing ends.
type Waiting interface{ Stuck(few int) []string }

// Resetting is a protocol that cannot take in every configuration while the system runs.
type Resetting interface {
	// NeedsReset names the knob that needs another system, and says why; "": none does.
	NeedsReset(cfg Config) (knob, why string)
}

// Preparing is a protocol that makes something which all machines share when the tables and the clients' coroutines are there.
type Preparing interface {
	// Prepare says whether there are snapshots.
	Prepare() (snapshots bool)
}

// Session runs the transactions of one coroutine for a protocol. The transaction
// layer calls Begin, then Add, Fetch, Start and Write as the body touches records,
// and at last Commit or Abandon.
type Session interface {
	// Begin begins an attempt. first is that of a transaction's first attempt.
	Begin(first bool)
	// Add returns a new member of the attempt's set. The protocol keeps what it has to
	// know of an access around it.
	Add() *Access
	// Eager says that fetches which do not depend on each other run in parallel; queued is about those of Tx.Queue.
	Eager(queued bool) bool
	// Fetch gets the records of the set from index first on and waits for them.
	// parallel says that they were announced together.
	Fetch(first int, parallel bool) error
	// Start begins to fetch the newest record and does not wait.
	Start(a *Access)
	// Write is told that the body writes a record, when it does so first: one that was fetched, or, with
	// NewRow, one that is missing. See Access for what may change until Commit.
	Write(a *Access) error
	// Validate reports whether what the attempt has read is still so: an error of the body that follows from it
	// counts only then. The attempt has no write set any more.
	Validate() error
	// Commit ends an attempt whose body has ended well. It calls Tx.Decided, and where
	// it returns nil Tx.Done.
	Commit() error
	// Abandon ends an attempt that fails before Commit.
	Abandon()
}

// Runner is a session that runs the body of an attempt itself, once or several times; others have it called. The body's error is its own, or
// what Run makes of it.
type Runner interface {
	Run(tx *Tx, body func(*Tx) error) error
}

// Killable is a session whose transaction others may abort while it runs. It is asked at each access of the body.
type Killable interface {
	// Killed is why the attempt cannot go on, ErrAborted, or nil.
	Killed() error
}

// Declaring is a session that has to know all that an attempt touches before it touches anything, see Kind.NeedsSets and Tx.Declare.
type Declaring interface {
	// Declared gets the records of the set, and waits for them: the body is going to read them all and, with ToWrite, to write them. It comes
	// once in an attempt. Fetch has no others to get then.
	Declared() error
}

// Access is one record that an attempt has touched.
type Access struct {
	Table   *Table
	Key     uint64
	Machine int16 // its primary
	at      int16 // its number in the set
	State   State
	ToWrite bool   // the body asked for it to write it
	Insert  bool   // of a record that has its row from the start, see Tx.Insert, and on the coroutine's own machine
	added   bool   // by Insert, on whatever machine
	Value   []byte // private copy of what was read
	Out     []byte // if it is in the write set: 8 bytes for the protocol, then the value to be
	Version uint64 // of what was read, for the history: see audit.Table.Version and Tx.Lacks
	Next    uint64 // of what is to be: see audit.UpdatedVersion and DeletedVersion

	// NewRow says that the record is missing and the attempt inserts it: the protocol calls the store's
	// Insert at its primary, and Tx.NoteInsert. If the body deletes it again, NewRow is false and Out nil.
	NewRow bool
	// Blind says that it was not looked up whether it is missing. If it is not, the protocol calls Tx.InsertMetRecord
	// and aborts. Without NewRow a blind access is none.
	Blind bool
	// Delete says that the attempt deletes a record that it has fetched: Out has no value. When the attempt has
	// committed, the protocol calls the store's Remove at the primary, and audit.Table.NoteDeletion. If the body
	// inserts it again, Delete is false and Out has a value.
	Delete bool

	sum uint64 // of the value that was read, for the history; 0: not checked
}

// State is how far the fetch of a record is.
type State uint8

const (
	Wanted State = iota // not fetched yet
	Asked               // a request is under way
	Fetched
	Missing // there is no such record; where tables grow, the protocol has to see to it that this stays so
)

// Index is its number in the attempt's set.
func (a *Access) Index() int { return int(a.at) }

// Arrived says that the fetch of the record has ended.
func (a *Access) Arrived() bool { return a.State >= Fetched }

// OutValue is what the transaction writes of the value, behind what Access.Out has of the header.
func (a *Access) OutValue() []byte { return a.Out[a.Table.OutHeaderBytes:] }

// Logged is what a log entry carries beside the stamp: words of the header that its layout says so of, and the value.
func (a *Access) Logged() []byte { return a.Out[a.Table.logged:] }

// Table is a table with what transactions ask of it often.
type Table struct {
	ID             uint8
	Name           string
	Store          store.Table
	RowBytes       int
	OutHeaderBytes int  // bytes of Access.Out before the value: the header from the stamp on
	logged         int  // of these, those before what log entries carry
	Written        int  // leading bytes of a value that an update writes back
	Constant       bool // it is never written
	Fixed          bool // records are neither inserted nor deleted
	AllowsInserts  bool // else an insert of a record that has its row from the start is an update
	UnorderedReads bool // both: a CPU's read may run ahead of the event order, for nothing changes
	Cached         bool // location caches have it
	Audit          audit.Table
}

// ValueBytes is the length of a value.
func (t *Table) ValueBytes() int { return t.RowBytes - t.Store.Rows().Layout.Bytes }

// What a session asks of its transaction.

// DB is the database.
func (tx *Tx) DB() *DB { return tx.db }

// ReadOnly says that it was begun as a transaction that writes nothing.
func (tx *Tx) ReadOnly() bool { return tx.readOnly }

// Failed is why the attempt cannot commit; nil: it can.
func (tx *Tx) Failed() error { return tx.failed }

// Writes counts the records of the write set.
func (tx *Tx) Writes() int { return tx.writes }

// Alloc is n bytes that stay where they are until the attempt ends.
func (tx *Tx) Alloc(n int) []byte { return tx.mem.alloc(n) }
