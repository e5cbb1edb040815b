package experiment

import (
	"cmp"
	"fmt"
	"strconv"

	"drtmx/dst"
	"drtmx/engine/knob"
	"drtmx/engine/record"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// Estimate is what a spec is going to need, within a factor of about two.
type Estimate struct {
	MemoryBytes    int64 `json:"memory_bytes"`     // at the end of a batch run; pages of tables exist from their first write on
	MaxMemoryBytes int64 `json:"max_memory_bytes"` // when every page has been touched, as in a long live session
	WallMS         int64 `json:"wall_ms"`          // of a batch run on one core
}

// What a part costs on the host. Measured as the resident set of `drtmx run` on amd64.
const (
	baseBytes      = 40 << 20 // program, profile, histograms, windows
	machineBytes   = 1 << 20  // cache tags of one machine
	qpBytes        = 1 << 10
	coroutineBytes = 24 << 10 // two stacks, scratch, a transaction's sets
	recvBytes      = 4 << 10  // a RECV buffer
	ringBytes      = 32 << 10 // a log ring: one per thread of the cluster in each server
	guardBytes     = 1 << 19  // of a server's gaps
	versionBytes   = 250      // an old version, with what measures staleness and collects it

	messagesPerCommit = 4
	warmedPerWallMS   = 30_000 // records that enter a location cache
	autoSpanNS        = 5_000_000
)

// EstimateOf estimates a spec's needs.
func EstimateOf(spec Spec) (Estimate, error) {
	v, err := Resolve(spec)
	if err != nil {
		return Estimate{}, err
	}
	return EstimateOfValues(v), nil
}

func EstimateOfValues(v Knobs) Estimate {
	all, servers := testbed.Machines(v)
	threads, clients, _ := testbed.ThreadCounts(v)
	seconds := float64(v.Int("warmup_ns")+v.Int("duration_ns")) / 1e9
	if v.Int("duration_ns") == 0 {
		seconds += autoSpanNS / 1e9
	}
	count := func(perThread float64) int64 { return int64(perThread * float64(clients) * seconds) }

	fixed := int64(baseBytes+all*machineBytes) + HeapBytes(v) + testbed.MoreBytes(v)
	w := Workloads.Of(v)
	f := w.Footprint(v)
	if k := orderedOf(v); k != nil {
		f.Bytes += k.Footprint(v, uint64(workload.Scaled(v, "workload.keys")), v.Int("workload.value_bytes")+w.LongestKey(v))
	}
	requests := count(f.PerSecond)
	if !w.Transactions && !w.Ordered {
		return Estimate{
			MemoryBytes: fixed + min(f.Bytes, requests*f.PerRequest), MaxMemoryBytes: fixed + f.Bytes,
			WallMS: 1 + int64(float64(requests)/f.PerWallMS),
		}
	}
	messages := R2Config(v)
	buffer := int64(cmp.Or(messages.MaxMessage, recvBytes))
	var recv int64
	for m, n := range messages.PerMachine {
		recv += int64(n) * int64(messages.RecvDepth[m]) * buffer
	}
	if v.Int("replicas") > 1 && w.Transactions {
		fixed += int64(servers*threads) * ringBytes
	}
	rows, old := versionsOf(v, &f, seconds)
	fixed, f.Bytes = fixed+old, f.Bytes+rows
	e := Estimate{
		MaxMemoryBytes: fixed + f.Bytes + recv,
		MemoryBytes:    fixed + min(f.Bytes, requests*f.PerRequest) + min(recv, requests*messagesPerCommit*buffer),
		WallMS:         100 + int64(float64(requests)/f.PerWallMS),
	}
	if v.Bool("cache.enabled") && v.Bool("warm") && w.Transactions {
		e.WallMS += f.Cached * int64(all) / warmedPerWallMS
	}
	return e
}

// versionsOf is what versions of records need: more bytes in rows, and the heaps of old versions. A heap uses the places first
// that were freed last, so of its room only as much is touched as there are versions at a time: those that were overwritten
// since the oldest snapshot that may run.
func versionsOf(v Knobs, f *workload.Footprint, seconds float64) (rows, old int64) {
	o := dst.OptionsOf(v)
	if !o.Versions() || !Workloads.Of(v).Transactions {
		return 0, 0
	}
	_, servers := testbed.Machines(v)
	_, clients, _ := testbed.ThreadCounts(v)
	kept := float64(o.StalenessNS+2*(o.DriftNS+o.GCNS)) / 1e9
	versions := int64(f.PerSecond * float64(clients) * min(kept, seconds) * float64(f.Overwrites))
	rows = f.Rows * int64(v.Int("replicas")) * int64(record.Versioned.Bytes-record.LockSeq.Bytes)
	return rows, int64(servers)*guardBytes + versions*versionBytes
}

// HeapBytes is what queue pairs and coroutines need.
func HeapBytes(v Knobs) int64 {
	all, _ := testbed.Machines(v)
	threads, clients, _ := testbed.ThreadCounts(v)
	return int64(threads*max(all, v.Int("emulated_nodes"))*qpBytes + clients*testbed.Coroutines(v)*coroutineBytes)
}

// RefuseTooBig compares the estimate with what this computer has to offer now.
func RefuseTooBig(v Knobs) error {
	free := AvailableMemory()
	e := EstimateOfValues(v)
	if free == 0 || e.MemoryBytes <= free {
		return nil
	}
	field := cmp.Or(Workloads.Of(v).Population, "nodes")
	next := "use fewer nodes or threads, or a smaller workload.scale"
	if testbed.MoreBytes(v) > e.MemoryBytes/2 {
		field, next = testbed.Costliest(v), "use smaller caches, or fewer nodes"
	}
	return &SpecError{
		Field: field, Value: knob.Format(field, v[field]),
		Rule: fmt.Sprintf("the system needs about %s of memory, %s are available", BytesText(e.MemoryBytes), BytesText(free)),
		Next: next,
	}
}

func BytesText(n int64) string {
	if n >= 10e9 {
		return strconv.FormatInt(n/1e9, 10) + " GB"
	}
	return strconv.FormatInt(n/1e6, 10) + " MB"
}
