package store

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// Kind is an implementation of unordered tables and of the client caches for them: a part that a list of parts names. Its
// values are comparable.
type Kind interface {
	Name() string // the value of the knob store
	Doc() string  // a few words, for the knob's help
	// Make makes a table on the machines of a cluster. Rows have the layout.
	Make(cl *r2.Cluster, s Spec, l record.Layout, p Placement) (Table, error)
	// Caches prepares the caches of all machines for tables of the kind. Each has a budget of so many bytes.
	Caches(cl *r2.Cluster, tables []Table, bytes, seed uint64) (Caches, error)
	// Needs is what it needs of memory.
	Needs() Memory
	// Halves are the ways in which records come and go.
	Halves() Halves
}

// Halves are who inserts and removes records.
type Halves uint8

const (
	Served   Halves = 1 << iota // the CPU of a record's server, which others ask by RPC: Table.Insert, Remove and Free
	OneSided                    // any machine, by requests that no CPU serves: tables are Claimed
)

// String names them.
func (h Halves) String() string {
	switch h {
	case Served:
		return "by RPC"
	case OneSided:
		return "one-sided"
	case Served | OneSided:
		return "by RPC or one-sided"
	}
	return "never"
}

// Memory are bytes beside the rows.
type Memory struct {
	Index int64 // of the host's, for each record, when all is touched
	Entry int64 // of a client's cache, for each record that it knows; 0: none
}

// Configured is a Kind with knobs of its own.
type Configured interface {
	Kind
	Rows() []knob.Row
	// With is the kind as resolved values have it.
	With(v knob.Values) Kind
}

// Fitting is a Kind whose caches do not take every budget.
type Fitting interface {
	Kind
	// Fits refuses one for caches of these tables, with the reason.
	Fits(cl *r2.Cluster, tables []Table, bytes uint64) error
}

// Spec describes a table that is to be made, whatever makes it.
type Spec struct {
	ID         uint8  // names the table in messages, logs and histories; unique in the cluster
	Name       string // for messages to people
	ValueBytes int    // of every record
	Aligned    bool   // spend memory so that no row of at most a line straddles one; default packed, see package record
	AlignLong  bool   // rows longer than a line begin on one; shorter ones are packed
	// Init writes the value that a record has from the start into value, which is zero. It must be a pure
	// function of the key: it runs when memory is first touched, on the primary and on each backup. Nil
	// leaves zeros.
	Init func(key uint64, value []byte)
	// Mutable is the number of leading bytes of a value that transactions change: locks cover the record, but write-back
	// and log carry only these. The rest is what Init or the transaction that inserts the record wrote. 0: all.
	Mutable int
	// Constant says that no transaction writes the table: what is read of it needs no validation.
	Constant bool
	// Local says that only the machine of a record reads it: location caches leave it out.
	Local bool
	// Sequential says that records are used in the order of their keys, as those of a table that grows are:
	// a hash table lets neighbours share pages, in random buckets of the page, so that unused records take
	// no memory. It makes hot neighbours worse, which otherwise are far apart.
	Sequential bool
	// Fixed says that records are neither inserted nor deleted while the system runs; attempts fail. A lookup on its own
	// server may run ahead of the event order then: nothing in the table changes.
	Fixed bool
	// Spare is the number of rows per socket of a server kept for records that are inserted while the system
	// runs. It costs address space, and memory only when used. Inserts fail when it is used up.
	Spare uint64
	// Tree says that a B+tree finds the records on the CPU of their server, where a hash table would. No READ finds them:
	// another machine asks by RPC. A kind that has no trees takes its own structure. Order is that of the tree's entries;
	// nil: that of the keys, in which the partition then numbers those that a server has from the start.
	Tree  bool
	Order *Order
	Seed  uint64 // of a hash function
}

// Order is that of a tree's entries, where it is not that of the keys.
type Order struct {
	// Of is where a key stands. No two keys stand in one place.
	Of func(key uint64) uint64
	// Key is the i-th lowest in it of the keys that a server has from the start.
	Key func(server int, i uint64) uint64
}

// AllowsInserts says that there is room for more records than there are at the start.
func (s Spec) AllowsInserts() bool { return s.Spare > 0 }

// State is how far a search is.
type State uint8

// The states.
const (
	More    State = iota // another READ was posted
	Found                // the record is at the location
	Missing              // there is no such record
	Failed               // see the error
)

// Search finds a record of another machine by one-sided READs, several that depend on each other.
// After c.Wait, call Next. While it says More, another READ is under way: c.Wait and call Next again.
type Search interface {
	Next(c *r2.Co) (Location, State, error)
}

// Locate is where the record of a key is: looked up on the own machine, and on another searched step by step. found is false where there is
// none.
func Locate(c *r2.Co, t Table, key uint64) (at Location, found bool, err error) {
	if t.Primary(key) == c.Machine() {
		return t.LookupLocal(c, key)
	}
	for x := t.Search(c, key, nil); ; {
		if err := c.Wait(); err != nil {
			return Location{}, false, err
		}
		if at, state, err := x.Next(c); state != More {
			return at, state == Found, err
		}
	}
}

// AnyVersion is that of a gap whose version is unknown.
const AnyVersion = ^uint64(0)

// Change is what an insert or a delete did.
type Change struct {
	Ref           Ref    // of the row
	Before, After uint32 // the version of the gap
}

// Table is an unordered table of a cluster. Its methods run on any machine.
type Table interface {
	// RowBytes is the length of a row: header and value.
	RowBytes() int
	// Rows is the geometry of its rows, and what they have in front of the value.
	Rows() *record.Rows

	// Primary is the server that a key belongs to.
	Primary(key uint64) int
	// Location makes the location of a key from its compact form, as it comes in a reply.
	Location(key uint64, r Ref) Location
	// Known reports whether a key was there from the start.
	Known(key uint64) bool
	// Gap is where a key would be that is not there: a word whose low 32 bits are another even number
	// after every insert and delete of a record near it, and odd in the middle of one.
	Gap(key uint64) r2.Loc
	// LookupLocal finds a record on the CPU of its own machine. Where it is missing, loc is its gap.
	LookupLocal(c *r2.Co, key uint64) (loc Location, ok bool, err error)
	// Search posts the first READ of a search for a record of another machine. used is one that has
	// ended, whose memory the new one may take, or nil.
	Search(c *r2.Co, key uint64, used Search) Search

	// Insert gives a key that is not there a free row, on the CPU of its primary, and makes it known. The
	// row's first bytes become own, which has the Own bytes of the header: a lock. The stamp stays that of
	// a free row, which is not live, until the inserter writes the record. If seen is not AnyVersion, the
	// gap has to have that version: else ErrChanged. ErrExists comes with the Ref of the record.
	Insert(c *r2.Co, key uint64, own []byte, seen uint64) (Change, error)
	// Remove makes a record unknown that is at a place, on the CPU of its primary. Then Free gives the row its
	// next incarnation, which is not live and tells those that remember the location, and makes it one that
	// can be inserted into. The caller holds the record's lock, which stays in the row, so that no transaction
	// that remembers the location can take it.
	Remove(c *r2.Co, key uint64, at Ref) (Change, error)
	Free(c *r2.Co, key uint64, at Ref)

	// LogRow is what a log entry has to say of the row of a record, see record.Update.
	LogRow(key uint64, at Ref) uint32
	// BackupAddr is where the backup on a machine keeps a record whose log entry says row. ok is false when
	// the machine is no backup of the key. The lookup is charged to c, which runs on that machine.
	BackupAddr(c *r2.Co, machine int, key uint64, row uint32) (a r2.Addr, ok bool)
	// AheadBackup asks the host for what BackupAddr, and then the access to the row, will need.
	AheadBackup(machine int, key uint64, row uint32)

	// What follows is for checks and displays: it is free of time, and the run is the same whether or
	// not they are called.

	// Find is where a record is now.
	Find(key uint64) (Location, bool)
	// Row copies the row of a record as it is now on a machine, its primary or one of its backups, to dst,
	// which has room for RowBytes. ok is false if the record is not there.
	Row(machine int, key uint64, dst []byte) (ok bool)
	// Audit looks at a table at rest: at its free rows, on the primaries and on the backups, and at what was
	// inserted. It calls bad with a sentence for each fault.
	Audit(bad func(text string))
	// Lines names the memory that accesses to a record go through, for caches that start warm.
	Lines(key uint64, f func(machine int, a r2.Addr, n int))
}

// CheckOn refuses a table whose records come and go on a machine that has no threads, which the kind's halves need.
func (h Halves) CheckOn(s Spec, machine, threads int) error {
	if s.Fixed || threads > 0 || h&OneSided != 0 {
		return nil
	}
	return fmt.Errorf("table %s: its records come and go, and machine %d has no threads; tables of the store change %v: use a store with a one-sided half, or a Fixed table", s.Name, machine, h)
}

// Claimed is a Table with a one-sided half. Locate finds its records.
type Claimed interface {
	Table
	// Claim is Table.Insert from any machine.
	Claim(c *r2.Co, key uint64, own []byte, seen uint64) (Change, error)
	// Release is Table.Remove and then Free from any machine.
	Release(c *r2.Co, key uint64, at Ref) (Change, error)
}

// Mirrored is a Table whose clients know where backups have rows, and may write them.
type Mirrored interface {
	// CopyAt is where a machine, a backup of the record, has its copy of the row. ok is false if it has none.
	CopyAt(machine int, key uint64, at Ref) (loc r2.Loc, ok bool)
}

// Placed is a Table that says where rows are, free of time.
type Placed interface {
	// RowAddr is where a machine, the primary of a record or one of its backups, has its row. ok is false if the record
	// is not there.
	RowAddr(machine int, key uint64) (a r2.Addr, ok bool)
}
