// Package coordinator is what the coordinators of protocols have in common. A protocol's folder has its locks, its validation and its
// order of steps; what those steps are made of is here, once.
//
// # What is modelled
//
// Phases (prim.go, optimisation.go, knobs.go): the RDMA primitive of a phase, the optimisations that make sense with it (Table 4-1), and
// the knobs that set both. A protocol lists the phases that it has.
//
// Participants (records.go): the records of an attempt, grouped by the machine that has them. vote.go says what an attempt may do with the
// votes of participants, and when it is in doubt.
//
// Requests (ask.go): a message to each machine with as many records as fit, the wait for answers and for what follows from them, and the
// answers that grant or refuse locks.
//
// Inserts (insert.go, session.go, gap.go): which machines give new records their rows, what a server does to its tables for another machine,
// what it answers, and what becomes of the record; and the words that lock gaps, where a record that is missing has no row to lock.
//
// The end of an attempt (session.go, protocol.go): log, decide, write back, reclaim. What cannot be written back after the decision fails
// the run.
//
// Configurations (configured.go): the one in force, and how another one takes its place while transactions run.
//
// Stamps (stamp.go): how an attempt gets a timestamp from a scheme where records have versions, and gives it back.
//
// States (table.go): a word per transaction, running, committed or aborted, in registered memory of the machine that runs it: others
// read or change it by verbs or by RPC.
//
// The program (program.go): the cycles that a transaction's own program takes of its core, phase by phase. The numbers are those that the
// optimistic protocol was measured to take. Locking protocols are assumed to take the same where the work is the same.
//
// # What is left out
//
// What locks are, what handlers of locks take of a server's core, and what validation compares: the protocols differ there. Recovery: a
// committed transaction whose machine fails ends the run.
package coordinator
