package occ

// The transaction's own program takes time on its core as well: read and write set, the
// body, log entries, the applying of them at a backup. No source says how much; Table
// 4-2 is about handlers. These are the cycles that this package takes itself, measured
// in the host's caches by `go run ./cluster/bench -coordinator 20s` (Xeon of 2023,
// 3.6 GHz) and rounded to a line through the three workloads:
//
//	           records  written  transaction  execution  validation  logging  commit  reclaim
//	smallbank     1.85      1.4         1341        680         500      941      60      620
//	cycle            3        3         1022        923         264      825      99     1022
//	tpcc-no         35       23         3536       5228         923     2921    1076        -
//
// Of tpcc-no the host's cache misses hide what reclaims take. What is charged in other
// ways is not in them: posting and polling (r2), the index, and memory beyond the core's
// own caches. A core of another make and a program in another language would take
// others; nothing here was adjusted to a result of the thesis.
type program struct {
	attempt         int
	execution       int // each time that records are fetched together
	executionRecord int // what the body does with the record included
	lock            int // of the lock phase
	lockRecord      int
	validation      int // of the validation of the rest
	validationRec   int
	logging         int // reclaim messages and their receipts included
	loggingRecord   int
	commitRecord    int
	reclaim         int // of a handler; Table 4-2 has the others
	reclaimRecord   int
}

var coordinator = program{
	attempt: 1000, execution: 400, executionRecord: 210, lock: 200, lockRecord: 30, validation: 200, validationRec: 30,
	logging: 700, loggingRecord: 90, commitRecord: 40, reclaim: 250, reclaimRecord: 30,
}
