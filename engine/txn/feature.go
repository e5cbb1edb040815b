package txn

import "drtmx/engine/replication"

// Feature is something that a protocol has, or does, which a knob that protocols share is about. A knob names the one that it needs, and
// a protocol lists those that it has, so that neither a new knob nor a new protocol changes the other.
type Feature string

// Features of the knobs of this package.
const (
	HasLog       = replication.HasLog  // entries go to backups
	HasLocations = "locations"         // machines remember where records of others are
	HasAnnounced = "announced records" // it can fetch several records at once
	HasAborts    = "aborts"            // attempts are made again
	HasProgram   = "a program"         // it charges a core for its own work on a transaction
)
