// Package replication keeps the backups of records: redo logs in ring buffers of the backups'
// registered memory (thesis §4.3.4).
//
// Every backup machine of a written record gets the whole write set of a transaction in one entry,
// in the ring that belongs to the transaction's thread in its memory. The transaction is committed
// when all of them have it. A backup applies the entry to its replica when it is told to reclaim
// the space; the receipt of that message gives the space in the ring back.
//
// A protocol plans an entry before it locks anything (Writer.Begin, Add, Plan), for an entry that
// does not fit has to be refused then, sends it when it has validated (Send), and has it reclaimed
// when the records are written back (Reclaim).
//
// The message that has an entry reclaimed names it: the backup has it in its ring (Reclaim). The released code
// sends the write set once more there, and without passive ACK waits for the answers (ReclaimAndWait).
//
// Left out: recovery. A machine that fails takes what is in its rings with it.
package replication
