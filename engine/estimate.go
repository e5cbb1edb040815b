package engine

import (
	"cmp"
	"fmt"
	"strconv"

	"drtmx/engine/knob"

	"drtmx/engine/workload/octopus"
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
	rowBytes       = 24       // header and value of a small record
	indexBytes     = 28       // of a record, in its bucket
	pageBytes      = 4096

	messagesPerCommit = 4
	recordsPerCommit  = 2
	commitsPerSecond  = 500_000 // per client thread, in virtual time: a guess before the run
	verbsPerSecond    = 8_000_000
	commitsPerWallMS  = 20 // SmallBank with full checks, on one core
	verbsPerWallMS    = 1_000
	warmedPerWallMS   = 30_000 // records that enter a location cache
	autoSpanNS        = 5_000_000
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
	threads, clients, dataThreads := threadCounts(v)
	seconds := float64(v.Int("warmup_ns")+v.Int("duration_ns")) / 1e9
	if v.Int("duration_ns") == 0 {
		seconds += autoSpanNS / 1e9
	}
	count := func(perThread float64) int64 { return int64(perThread * float64(clients) * seconds) }

	fixed := int64(baseBytes+all*machineBytes) + heapBytes(v) + moreBytes(v)
	w := workloadOf(v)
	if !w.transactions {
		each := int64(v.Int("workload.payload"))
		places := int64(servers) * int64(scaled(v, "workload.keys")) * (each + 63)
		if w.reads("workload.files") {
			places = int64(servers) * int64(scaled(v, "workload.files")) * octopus.FileBytes
		}
		verbs := count(verbsPerSecond)
		return Estimate{
			MemoryBytes: fixed + min(places, verbs*max(each, pageBytes)), MaxMemoryBytes: fixed + places,
			WallMS: 1 + verbs/verbsPerWallMS,
		}
	}
	copies := int64(v.Int("replicas"))
	records := int64(scaled(v, "workload.keys"))
	if w.reads("workload.accounts") {
		records = 2 * int64(scaled(v, "workload.accounts")) * int64(dataThreads)
	}
	p := population{tables: records * (rowBytes*copies + indexBytes), cached: records, perSecond: commitsPerSecond, perWallMS: commitsPerWallMS,
		perCommit: recordsPerCommit * (copies + 1) * pageBytes}
	if w.reads("workload.warehouses") {
		p = tpccPopulation(v, servers)
	}
	if w.reads("workload.trades") {
		p = tpcePopulation(v, servers)
	}
	commits := count(p.perSecond)
	messages := r2Config(v)
	buffer := int64(cmp.Or(messages.MaxMessage, recvBytes))
	var recv int64
	for m, n := range messages.PerMachine {
		recv += int64(n) * int64(messages.RecvDepth[m]) * buffer
	}
	if copies > 1 {
		fixed += int64(servers*threads) * ringBytes
	}
	e := Estimate{
		MaxMemoryBytes: fixed + p.tables + recv,
		MemoryBytes:    fixed + min(p.tables, commits*p.perCommit) + min(recv, commits*messagesPerCommit*buffer),
		WallMS:         100 + int64(float64(commits)/p.perWallMS),
	}
	if v.Bool("cache.enabled") && v.Bool("warm") {
		e.WallMS += p.cached * int64(all) / warmedPerWallMS
	}
	return e
}

// threadCounts are all threads of a cluster, those that run transactions, and those with data.
func threadCounts(v Knobs) (threads, clients, data int) {
	all, servers := machines(v)
	for m := range all {
		n := threadsOf(v, m)
		threads += n
		if m < servers {
			data += n
		}
		if m >= servers || !asymmetric(v) {
			clients += n
		}
	}
	return threads, clients, data
}

// heapBytes is what queue pairs and coroutines need.
func heapBytes(v Knobs) int64 {
	all, _ := machines(v)
	threads, clients, _ := threadCounts(v)
	return int64(threads*max(all, v.Int("emulated_nodes"))*qpBytes + clients*coroutines(v)*coroutineBytes)
}

// population is what a workload's tables and transactions need.
type population struct {
	tables    int64   // bytes of all rows, replicas and buckets
	cached    int64   // records that location caches may have
	perCommit int64   // bytes that a transaction touches for the first time, at the begin
	perSecond float64 // commits per client thread, in virtual time
	perWallMS float64 // commits on one core of the host
}

// AvailableMemory is what this computer has to offer now, in bytes; 0 is unknown.
func AvailableMemory() int64 { return availableMemory() }

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
	next := "use fewer nodes or threads, or a smaller workload.scale"
	if moreBytes(v) > e.MemoryBytes/2 {
		field, next = costliest(v), "use smaller caches, or fewer nodes"
	}
	return &SpecError{
		Field: field, Value: knob.Format(field, v[field]),
		Rule: fmt.Sprintf("the system needs about %s of memory, %s are available", bytesText(e.MemoryBytes), bytesText(free)),
		Next: next,
	}
}

func bytesText(n int64) string {
	if n >= 10e9 {
		return strconv.FormatInt(n/1e9, 10) + " GB"
	}
	return strconv.FormatInt(n/1e6, 10) + " MB"
}
