// Package membership says which machine holds which copy of a record, and what machines are there for.
//
// The ring of backups is computed here and nowhere else: tables lay their copies out by a Placement, and logs go where it says.
//
// Left out: machines that come and go. There is one epoch, which lasts for ever.
package membership
