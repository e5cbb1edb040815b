package store

import (
	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// Kind makes tables of one implementation, and the client caches for them. Its values are comparable.
type Kind interface {
	// Caches prepares the caches of all machines for tables of the kind. Each has a budget of so many bytes.
	Caches(cl *r2.Cluster, tables []Table, bytes, seed uint64) (Caches, error)
}

// Spec describes a table that is to be made.
type Spec interface {
	Traits() Traits
	Kind() Kind
	// Make makes the table on the machines of a cluster. Rows have the header in front of the value.
	Make(cl *r2.Cluster, h record.Header, p Placement) (Table, error)
}

// Traits is what all descriptions of tables say.
type Traits struct {
	ID         uint8  // names the table in messages, logs and histories; unique in the cluster
	Name       string // for messages to people
	ValueBytes int    // of every record
	Mutable    int    // leading bytes of a value that transactions change; 0: all
	Constant   bool   // no transaction writes the table
	Local      bool   // only the machine of a record reads it: client caches leave it out
	Fixed      bool   // records are neither inserted nor deleted
}

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

// Table is an unordered table of a cluster. Its methods run on any machine.
type Table interface {
	// RowBytes is the length of a row: header and value.
	RowBytes() int
	// Header is what rows have in front of the value.
	Header() record.Header

	// Primary is the server that a key belongs to.
	Primary(key uint64) int
	// Location makes the location of a key from its compact form, as it comes in a reply.
	Location(key uint64, r Ref) Location
	// LookupLocal finds a record on the CPU of its own machine.
	LookupLocal(c *r2.Co, key uint64) (loc Location, ok bool, err error)
	// Search posts the first READ of a search for a record of another machine. used is one that has
	// ended, whose memory the new one may take, or nil.
	Search(c *r2.Co, key uint64, used Search) Search

	// BackupAddr is where the backup on a machine keeps a record: the start of its row. ok is false when
	// the machine is no backup of the key. The lookup is charged to c, which runs on that machine.
	BackupAddr(c *r2.Co, machine int, key uint64) (a r2.Addr, ok bool)
	// AheadBackup asks the host for what BackupAddr, and who goes to the row then, will need.
	AheadBackup(machine int, key uint64)

	// What follows is for checks and displays: it is free of time, and the run is the same whether or
	// not somebody looks.

	// Find is where a record is now.
	Find(key uint64) (Location, bool)
	// Row copies the row of a record as it is now on a machine, its primary or one of its backups, to dst,
	// which has room for RowBytes. ok is false if the record is not there.
	Row(machine int, key uint64, dst []byte) (ok bool)
	// Lines names the memory that accesses to a record go through, for caches that start warm.
	Lines(key uint64, f func(machine int, a r2.Addr, n int))
}
