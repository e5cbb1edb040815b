// Package locking is what coordinators of two-phase locking have in common: what their own program takes of a core.
//
// # What is modelled
//
// The cycles of a transaction's program, phase by phase: begin and end, lock requests of the growing phase, log entries, the end of
// an attempt. The numbers are assumed to be those that engine/occ was measured to take (see its coordinator.go) where the work is the
// same: finding a record and what the body does with it, a lock request, log entries, write-backs. To release a record, or to end an
// attempt at a server, is counted as to write one back.
//
// # What is left out
//
// What handlers of locks take of a server's core, and what a lock is: the protocols (engine/nowait, engine/twopl) differ there.
package locking
