// Package replication keeps the copies of records in step: what a scheme of logs is, and how copies are audited.
//
// A protocol opens the Scheme that its database was given and has a Writer for each coroutine. A write set goes through it in this
// order: Begin forgets the attempt before; Add names the records, and Plan refuses, before anything is locked, what the scheme cannot carry; Append
// sends, and where it returns nil the transaction may commit; Decide says whether it does; Reclaim gives the room in the logs back.
//
// Schemes are parts, as protocols are: package redo has the rings of the thesis, package undo logs of what records were, and None keeps one copy.
// Audit compares the copies of records at rest, whatever scheme kept them.
//
// Left out: recovery. A machine that fails takes what is in its logs with it.
package replication
