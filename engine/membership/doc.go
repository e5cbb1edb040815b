// Package membership says what each machine of a cluster is there for, and which of them holds which copy of a record.
//
// A Table has the roles, and gives the Placement of an epoch: the ring of backups is computed here and nowhere else. Tables lay their copies out
// by it, logs go where it says, and workloads, timestamps and displays ask the table which machines run requests and which is the oracle.
//
// Left out: machines that come and go. There is one epoch, which lasts for ever; with crashes a later one will have another placement.
package membership
