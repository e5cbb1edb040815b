package engine

import (
	"fmt"
	"strconv"
)

// Estimate is what a spec is going to need, within a factor of about two.
type Estimate struct {
	MemoryBytes    int64 `json:"memory_bytes"`     // at the end of a batch run; pages of tables exist from their first write on
	MaxMemoryBytes int64 `json:"max_memory_bytes"` // when every page has been touched, as in a long live session
	WallMS         int64 `json:"wall_ms"`          // of a batch run on one core
}

// What a part costs on the host, measured on the default cluster; see TestEstimate.
const (
	baseBytes      = 60 << 20 // program, profile, histograms
	machineBytes   = 6 << 20  // cache tags, RPC buffers of one machine
	qpBytes        = 1 << 10
	coroutineBytes = 48 << 10 // two stacks, scratch and log ring
	windowBytes    = 4 << 10
	pageBytes      = 4096
	rowBytes       = 64 // header and value of a small record

	commitsPerWallMS = 40 // SmallBank with full checks, on one core
	verbsPerWallMS   = 1200
	commitsPerSecond = 150_000 // per worker thread in virtual time: an upper guess before the run
)

// EstimateOf estimates a spec's needs.
func EstimateOf(spec Spec) (Estimate, error) {
	v, err := Resolve(spec)
	if err != nil {
		return Estimate{}, err
	}
	return estimate(v), nil
}

func estimate(v Knobs) Estimate {
	all, servers := machines(v)
	threads, dataThreads := 0, 0
	for m := range all {
		threads += threadsOf(v, m)
		if m < servers {
			dataThreads += threadsOf(v, m)
		}
	}
	co := max(v.int("coroutines"), coroutineRoom)
	peers := max(all, v.int("emulated_nodes"))
	fixed := int64(baseBytes) + int64(all)*machineBytes + int64(threads)*(int64(peers)*qpBytes+int64(co)*coroutineBytes) + keptWindows*windowBytes

	w := workloadOf(v)
	var e Estimate
	spanNS := int64(v.int("warmup_ns") + v.int("duration_ns"))
	if v.int("duration_ns") == 0 {
		spanNS += 5_000_000
	}
	if !w.transactions {
		verbs := int64(threads) * 4 * spanNS / 1000
		e.MemoryBytes = fixed + int64(servers)*int64(v.int("workload.keys"))*int64(v.int("workload.payload"))
		e.MaxMemoryBytes = e.MemoryBytes
		e.WallMS = 1 + verbs/verbsPerWallMS
		return e
	}
	commits := int64(threads) * commitsPerSecond * spanNS / 1e9
	rows := int64(v.int("workload.keys"))
	if w.reads("workload.accounts") {
		rows = 2 * int64(float64(v.int("workload.accounts"))*v.float("workload.scale")) * int64(dataThreads)
	}
	copies := int64(v.int("replicas"))
	tables := rows * rowBytes * copies * 2 // rows and their index
	cache := int64(0)
	if v.bool("cache.enabled") {
		cache = min(int64(float64(v.int("cache.bytes"))*v.float("workload.scale")), rows*32) * int64(all)
	}
	e.MaxMemoryBytes = fixed + tables + cache
	e.MemoryBytes = fixed + min(tables, commits*3*copies*pageBytes) + cache
	e.WallMS = 500 + commits/commitsPerWallMS
	return e
}

// refuseTooBig compares the estimate with what this computer has to offer now.
func refuseTooBig(v Knobs) error {
	free := availableMemory()
	e := estimate(v)
	if free == 0 || e.MemoryBytes <= free {
		return nil
	}
	field := "nodes"
	if w := workloadOf(v); w.reads("workload.accounts") {
		field = "workload.accounts"
	} else if w.reads("workload.keys") {
		field = "workload.keys"
	}
	return &SpecError{
		Field: field, Value: fmt.Sprint(v[field]),
		Rule: fmt.Sprintf("the system needs about %s of memory, %s are available", bytesText(e.MemoryBytes), bytesText(free)),
		Next: "use fewer nodes or threads, or a smaller workload.scale",
	}
}

func bytesText(n int64) string {
	if n >= 10e9 {
		return strconv.FormatInt(n/1e9, 10) + " GB"
	}
	return strconv.FormatInt(n/1e6, 10) + " MB"
}
