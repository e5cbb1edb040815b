package explore

import (
	"context"
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// A gap in which somebody finds nothing, and which another one fills. The one who fills it comes when the other is done; two read
// snapshots meanwhile, in either order.
const (
	gapThere = "r8 w1; r7 | r7 | i8; r7 | r7 | r7 | r7 | r8 r1; r7 | r7 | r7 | r7 | r7 | r7 | r7 | r1 r8" // of another machine than the one that inserts
	gapHere  = "r9 w1; r7 | r7 | i9; r7 | r7 | r7 | r7 | r9 r1; r7 | r7 | r7 | r7 | r7 | r7 | r7 | r1 r9" // of its own
	late     = "r0 w1; r7 | r7 | w0; r7 | r7 | r7 | r7 | r0 r1; r7 | r7 | r7 | r7 | r7 | r7 | r7 | r1 r0" // without a gap
	gapWhole = "r8 d12 w0; r7 | r7 | i8; r7 | r7 | r7 | r7 | r8 r0; r7 | r7 | r7 | r7 | r7 | r7 | r7 | r0 r8"
)

// Two records that all want, or one; gaps that two fill; a record that two delete.
const (
	pairOfReads = "w0 r1; w1 r0; r0 r1"
	crossWrites = "r0 w1; w0 r1; w0 w1"
	sameRecord  = "w0; w0; w0"
	upgrade     = "r0; w0; w0"
	fillGaps    = "r8 i9; r9 i8; r8 r9"
	deleteTwice = "d0; d0; w0"
	crossing    = "w0 w1; w1 w0; r0 r1"       // two that write the same two records in either order; a third reads both
	tearing     = "w0; r2 | r2 | r2 | r0; r1" // with longRecords
)

var longRecords = experiment.Knobs{"workload.value_bytes": 488, "explore.unit_ns": 2000}

// scripts are what correct systems do in few runs; testdata of engine/planted says which bugs each of them shows.
var scripts = []struct {
	name    string
	shipped string // spec
	script  string
	set     experiment.Knobs
	steps   int // units of a delay at most
	runs    int // at most; 0: all with one delay
}{
	// A timestamp of a gap is raised by who has found nothing there, and taken by who fills it.
	{"gap-there/occ", "snapshots", gapThere, ahead(0, experiment.Knobs{"cc": "occ"}), 1, 20},
	{"gap-here/occ", "snapshots", gapHere, ahead(0, experiment.Knobs{"cc": "occ"}), 1, 20},
	{"gap-there/2pl", "snapshots", gapThere, ahead(0, experiment.Knobs{"cc": "2pl"}), 1, 20},
	{"gap/rococo", "snapshots", gapWhole, ahead(0, with(alone, experiment.Knobs{"cc": "rococo"})), 1, 20},
	// Under vectors, gaps and records remember their readers.
	{"readers-of-gap-there/occ", "snapshots", gapThere, remembered("occ"), 1, 0},
	{"readers-of-gap-here/occ", "snapshots", gapHere, remembered("occ"), 1, 0},
	{"readers-of-gap-there/2pl", "snapshots", gapThere, remembered("2pl"), 2, 0},
	{"readers-of-aborted/occ", "snapshots", "r0 w1; r7 | r7 | r2 r6 w0; r7 | r7 | w2 | w2 | w2; r7 | r7 | r7 | r7 | r7 | r0 r1 | r0 r1 | r0 r1",
		with(remembered("occ"), experiment.Knobs{"nodes": 5}), 4, 150},
	{"readers-of-deleted/occ", "snapshots", "d4; r6 | r6 | r4 w1; " + strings.Repeat("r6 | ", 10) + "i4; " + strings.Repeat("r6 | ", 11) + "r4 r1 | r4 r1",
		with(remembered("occ"), experiment.Knobs{"nodes": 5, "ts.gc_ns": "10us", "duration_ns": "400us", "explore.unit_ns": "30us"}), 2, 160},
	// Who shares the lock of a gap and inserts into it has to have it alone.
	{"shared-gap-there/nowait", "transactions", "r8 i8; r9 i9; r8 r9", byCPU, 1, 20},
	{"shared-gap-here/nowait", "transactions", "r9 r1 r4 w0 i9; r9 r0; r7", byCPU, 2, 0},
	{"shared-gap-by-rnic/nowait", "transactions", "r8 r9 i8; r8 r9 i9; r8 r9", experiment.Knobs{"cc": "nowait", "nowait.mode": "E/S"}, 1, 0},
	// A record is announced and not awaited, and its transaction commits, or gives up over another one.
	{"announced/occ", "transactions", "a0 w1; w1 r0; r0 r1", experiment.Knobs{"txn.speculative": true}, 1, 0},
	{"announced/nowait", "transactions", "a0 w1; w1 r0; r0 r1", experiment.Knobs{"cc": "nowait", "txn.speculative": true}, 1, 20},
	{"announced/2pl", "transactions", "a0 w1; w1 r0; r0 r1", experiment.Knobs{"cc": "2pl", "2pl.timeout_ns": "500us", "txn.speculative": true}, 1, 0},
	// Records and gaps that all want, under the optimistic protocol.
	{"records/occ", "transactions", pairOfReads, nil, 3, 0},
	{"crossed/occ", "transactions", crossWrites, nil, 3, 0},
	{"same/occ", "transactions", sameRecord, nil, 3, 0},
	{"upgrades/occ", "transactions", upgrade, nil, 3, 0},
	{"torn/occ", "transactions", tearing, longRecords, 3, 0},
	{"gaps/occ", "transactions", fillGaps, nil, 3, 0},
	{"deleted/occ", "transactions", deleteTwice, nil, 3, 0},
	// Snapshots of what others write meanwhile.
	{"two-readers/occ", "snapshots", twoReaders, experiment.Knobs{"cc": "occ"}, 4, 0},
	{"two-readers/2pl", "snapshots", twoReaders, experiment.Knobs{"cc": "2pl"}, 4, 0},
	{"two-readers-counted/2pl", "snapshots", twoReaders, with(counted, experiment.Knobs{"cc": "2pl"}), 4, 0},
	{"skewed/occ", "snapshots", skewed, experiment.Knobs{"cc": "occ"}, 4, 0},
	{"overwritten/occ", "snapshots", overwritten, ahead(2, experiment.Knobs{"cc": "occ"}), 4, 0},
	{"overwritten-truetime/occ", "snapshots", overwritten, ahead(2, experiment.Knobs{"cc": "occ", "ts.scheme": "truetime"}), 4, 0},
	{"deleted-snapshots/occ", "snapshots", again, ahead(1, with(slow, experiment.Knobs{"cc": "occ"})), 1, 0},
	// The one who overwrites comes when the other has let go of what it has read.
	{"readers-of-overwritten/occ", "snapshots", late, remembered("occ"), 4, 0},
	{"readers-of-overwritten/2pl", "snapshots", late, remembered("2pl"), 4, 0},
	// Records that all want, and gaps that they fill, under each kind of lock of no-wait.
	{"records/nowait", "transactions", pairOfReads, experiment.Knobs{"cc": "nowait"}, 3, 0},
	{"records-here/nowait", "transactions", "w0 r1; w1 r0; r0 r1; w0 r1; w1 r0; r0 r1", with(byCPU, experiment.Knobs{"threads": 2, "explore.unit_ns": 500}), 8, 0},
	{"upgrades/nowait", "transactions", "r0; r0; w0", experiment.Knobs{"cc": "nowait", "nowait.mode": "E/S"}, 3, 0},
	{"upgrades-here/nowait", "transactions", "r0; r0; w0", byCPU, 3, 0},
	{"shared/nowait", "transactions", "w0; r0; r1", experiment.Knobs{"cc": "nowait", "nowait.mode": "E/S"}, 3, 0},
	{"gaps/nowait", "transactions", fillGaps, experiment.Knobs{"cc": "nowait"}, 3, 0},
	{"gaps-here/nowait", "transactions", fillGaps, byCPU, 3, 0},
	// The same under queues.
	{"records/2pl", "transactions", pairOfReads, queues, 3, 0},
	{"crossed/2pl", "transactions", "r0 w1; r1 w0; r0 r1", queues, 3, 0},
	{"both/2pl", "transactions", "w0 w1; r0 r1; r1 r0", queues, 3, 0},
	{"gaps/2pl", "transactions", fillGaps, queues, 3, 0},
	// A record that is missing is read without a lock; before its reader inserts it, another one does and deletes it again.
	{"refilled/2pl", "transactions", "r8 r1 r2 r4 r5 i8; i8 | d8", experiment.Knobs{"cc": "2pl", "2pl.isolation": "read-committed"}, 1, 20},
	{"skewed/2pl", "snapshots", skewed, experiment.Knobs{"cc": "2pl"}, 4, 0},
	// Cycles of Rococo's, and read-only transactions between writers.
	{"crossing/rococo", "transactions", crossing, experiment.Knobs{"cc": "rococo"}, 3, 0},
	{"between/rococo", "transactions", "r0 r1; w0 w1", experiment.Knobs{"cc": "rococo", "explore.unit_ns": 20_000}, 3, 0}, // who writes begins and ends between two reads
	// The rounds of a body whose reads depend on reads.
	{"rounds/rococo", "transactions", "f0 r2; w0 | w0 w1; r7 | r7", experiment.Knobs{"cc": "rococo"}, 1, 0},
	// A body runs whole on a server where others have started.
	{"whole-after-readers/rococo", "snapshots", "r0 w1; w0 i8; r6 | r0 r1; r7 | r7 | r1 r0", ahead(1, with(alone, experiment.Knobs{"cc": "rococo"})), 1, 20},
	{"whole-after-writers/rococo", "snapshots", "w0 w1; r0 w4 d8; r6 | r0 r4; r7 | r7 | r4 r0", ahead(1, with(alone, experiment.Knobs{"cc": "rococo"})), 1, 20},
	{"whole-inserts/rococo", "transactions", "i9 w0; i9; r0 r9", experiment.Knobs{"cc": "rococo"}, 1, 0},
	// A stale snapshot has what its own session has committed.
	{"session/occ", "snapshots", ownWrites, stale("occ", "dst"), 1, 1},
	{"session/2pl", "snapshots", ownWrites, stale("2pl", "dst"), 1, 1},
	{"session/rococo", "snapshots", ownWrites, stale("rococo", "dst"), 1, 1},
	{"session/dst", "snapshots", ownWrites, stale("occ", "dst"), 1, 1},
	{"session/truetime", "snapshots", ownWrites, stale("occ", "truetime"), 1, 1},
	{"session/gts", "snapshots", ownWrites, with(stale("occ", "gts"), experiment.Knobs{"oracle": true}), 1, 0},
	{"session/vts", "snapshots", "w0; r7 | w0 | r0; r6", with(stale("occ", "vts"), experiment.Knobs{"oracle": true}), 4, 0}, // which depends on another one's
}

// byCPU has the CPUs of servers lock.
var byCPU = experiment.Knobs{"cc": "nowait", "nowait.mode": "E/S", "phase.lock": "two-sided", "phase.commit": "two-sided"}

// queues end a deadlock soon.
var queues = experiment.Knobs{"cc": "2pl", "2pl.timeout_ns": "500us"}

const ownWrites = "w0 | r0 r1; w1 | r1 r0"

// remembered has writers depend on readers.
func remembered(cc string) experiment.Knobs {
	return experiment.Knobs{"cc": cc, "ts.scheme": "vts", "ts.readers": true, "oracle": true, "explore.unit_ns": "10us"}
}

// stale has snapshots read what was there long before.
func stale(cc, scheme string) experiment.Knobs {
	return with(alone, experiment.Knobs{"cc": cc, "ts.scheme": scheme, "ts.staleness_ns": "100us"})
}

// Nothing is wrong in any of them.
func TestScripts(t *testing.T) {
	for _, x := range scripts {
		t.Run(x.name, func(t *testing.T) {
			spec, _ := Shipped(x.shipped)
			spec, err := spec.With(with(x.set, experiment.Knobs{"workload.script": x.script}))
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(context.Background(), spec, Options{Bound: 1, Steps: x.steps, Budget: x.runs})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Found) > 0 || r.Complete != (x.runs == 0 || r.Runs < x.runs) {
				t.Errorf("%s:\n%s", x.name, r)
			}
		})
	}
}
