package twopl

import "drtmx/engine/txn"

// program is what the transaction's own program takes on its core, in cycles. The numbers are
// assumed to be those that engine/occ was measured to take (see its coordinator.go) where the work
// is the same: begin and end, finding a record and what the body does with it, a lock request,
// log entries, write-backs. To end an attempt at a server is counted as a record more.
type program struct {
	attempt       int
	growing       int // each time that records are locked together
	growingRecord int // a lock request, and what the body does with the record
	upgrade       int // of a shared lock
	logging       int // reclaim messages and their receipts included
	loggingRecord int
	commitRecord  int // written back, or a server at which the attempt ends
	reclaim       int // of a handler
	reclaimRecord int
}

var coordinator = program{
	attempt: txn.OnBroadwell(1000),
	growing: txn.OnBroadwell(400), growingRecord: txn.OnBroadwell(240), upgrade: txn.OnBroadwell(230),
	logging: txn.OnBroadwell(700), loggingRecord: txn.OnBroadwell(90),
	commitRecord: txn.OnBroadwell(40),
	reclaim:      txn.OnBroadwell(250), reclaimRecord: txn.OnBroadwell(30),
}
