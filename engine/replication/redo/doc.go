// Package redo keeps the backups of records by redo logs in ring buffers of the backups' registered memory (thesis §4.3.4).
//
// Every backup machine of a written record gets the whole write set of a transaction in one entry,
// in the ring that belongs to the transaction's thread in its memory. The transaction is committed
// when all of them have it. A backup applies the entry to its replica when it is told to reclaim
// the space; the receipt of that message gives the space in the ring back.
//
// The message that has an entry reclaimed names it: the backup has it in its ring. The released code sends the write set once more
// there (replication.Resent), and without passive ACK waits for the answers (replication.Awaited).
package redo
