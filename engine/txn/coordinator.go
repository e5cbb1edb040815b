package txn

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
const (
	attemptCycles         = 1000
	executionCycles       = 400 // each time that records are fetched together
	executionRecordCycles = 210 // what the body does with the record included
	lockCycles            = 200 // of the lock phase, and of the validation of the rest
	lockRecordCycles      = 30
	loggingCycles         = 700 // reclaim messages and their receipts included
	loggingRecordCycles   = 90
	commitRecordCycles    = 40
	reclaimCycles         = 250 // of a handler; Table 4-2 has the others
	reclaimRecordCycles   = 30
)
