// Package undo keeps the copies of records in step by logs of what records were.
//
// A transaction writes, by one-sided WRITEs alone, one entry into the memory of each machine that has a copy of what it changes, the primary among
// them: what each record was. When all entries are there it writes the records where they lie, on all those machines. When that is done
// too it may commit. If it does, its entries are cleared; if it does not, the records become what they were, and then the
// entries are cleared. No CPU of those machines does anything, and they need not have one. Each coroutine has one slot on each machine: it
// has one transaction at a time.
//
// Entries lie in NVM where the machine has some. The scheme asks the store where the copies are (store.Mirrored), and the protocol what the record was
// (replication.InPlaceWriter): no other transaction may see, or write, a record from Append to Decide.
//
// Left out: recovery, which would undo what entries say; records that come and go; flushing entries out of the
// caches of a machine whose RNIC writes there.
package undo
