package experiment

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"drtmx/engine/knob"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/testbed"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/versions"
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
	baseBytes      = 50 << 20 // program, profile, histograms, windows: a run of cycle with two threads has 55 MB
	machineBytes   = 1 << 20  // cache tags of one machine
	qpBytes        = 1 << 10
	coroutineBytes = 24 << 10 // two stacks, scratch, a transaction's sets
	recvBytes      = 4 << 10  // a RECV buffer

	messagesPerCommit = 4
	warmedPerWallMS   = 30_000 // records that enter a location cache
	autoSpanNS        = 5_000_000
	autoWarmupNS      = 1_000_000 // at least
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
	_, clients, _ := testbed.ThreadCounts(v)
	seconds := float64(v.Int("warmup_ns")+v.Int("duration_ns")) / 1e9
	if v.Int("duration_ns") == 0 {
		seconds += autoSpanNS / 1e9
	}
	if v.Int("warmup_ns") == 0 {
		seconds += autoWarmupNS / 1e9
	}
	fixed := int64(baseBytes+all*machineBytes) + HeapBytes(v) + testbed.MoreBytes(v)
	w := Workloads.Of(v)
	f := w.Footprint(v)
	index := f.Indexed * Stores.Of(v).Needs().Index
	f.Bytes += index
	if !f.Apart {
		index = 0 // of its own
	}
	f.PerSecond = overTCP(v, f)
	headersOf(v, &f)
	if k := orderedOf(v); k != nil {
		f.Bytes += k.Footprint(v, uint64(workload.Scaled(v, "workload.keys")), v.Int("workload.value_bytes")+w.LongestKey(v))
	}
	requests := int64(f.PerSecond * float64(clients) * seconds)
	if !w.Transactions && !w.Ordered {
		return Estimate{
			MemoryBytes: fixed + touched(v, f, index, requests), MaxMemoryBytes: fixed + f.Bytes,
			WallMS: 1 + int64(float64(requests)/f.PerWallMS),
		}
	}
	messages := R2Config(v)
	buffer := int64(cmp.Or(messages.MaxMessage, recvBytes))
	var recv int64
	for m, n := range messages.PerMachine {
		recv += int64(n) * int64(messages.RecvDepth[m]) * buffer
	}
	if log := LogOf(v).Footprint; log != nil && w.Transactions {
		fixed += log(replication.Writers{Servers: servers, Threads: messages.PerMachine, Coroutines: messages.Coroutines, Replicas: v.Int("replicas")})
	}
	fixed += versionsOf(v, &f, seconds)
	e := Estimate{
		MaxMemoryBytes: fixed + f.Bytes + recv,
		MemoryBytes:    fixed + touched(v, f, index, requests) + min(recv, requests*messagesPerCommit*buffer),
		WallMS:         100 + int64(float64(requests)/f.PerWallMS),
	}
	if v.Bool("cache.enabled") && v.Bool("warm") && w.Transactions {
		e.WallMS += f.Cached * int64(all) / warmedPerWallMS
	}
	return e
}

// overTCP is how many requests a client thread makes in a second. Over kernel TCP each message takes of cores what an RNIC does by
// itself: of the sender's, of the receiver's, and of the one that the receive queue interrupts. A call is two messages, and each thread
// serves as many calls as it makes.
func overTCP(v Knobs, f workload.Footprint) float64 {
	tcp := testbed.Profile(v).TCP
	if tcp == nil || f.PerSecond == 0 {
		return f.PerSecond
	}
	message := (tcp.SendCall.Value + tcp.ReceiveCall.Value + tcp.Softirq.Value) / 1e9
	return 1 / (1/f.PerSecond + 2*f.Calls*message)
}

// touched is what requests touch of tables, in pages of the host. index are the bytes of the store's that look-ups alone touch.
func touched(v Knobs, f workload.Footprint, index, requests int64) int64 {
	n := partOf(f.Bytes-index, requests*f.PerRequest)
	if !f.Fixed || looksUp(v, f) {
		n += partOf(index, requests*f.PerLookups)
	}
	return n
}

// partOf is the expected number of bytes touched by drawn bytes of uniform draws from all bytes: the share of pages that no
// draw hits is e^(-drawn/all).
func partOf(all, drawn int64) int64 {
	if all == 0 {
		return 0
	}
	return int64(float64(all) * -math.Expm1(-float64(drawn)/float64(all)))
}

// looksUp says whether machines READ buckets: some protocols never do, and a cache that has all records before the start spares it.
func looksUp(v Knobs, f workload.Footprint) bool {
	cached := v.Bool("cache.enabled") && v.Bool("warm") && float64(f.Cached*Stores.Of(v).Needs().Entry) <= float64(v.Int("cache.bytes"))*v.Float("workload.scale")
	return !cached && Protocols.Of(v).LooksUp(v, Workloads.Load(v)) == ""
}

// headersOf adds to rows what the protocol's header has more than the one that workloads reckon with.
func headersOf(v Knobs, f *workload.Footprint) {
	if !Workloads.Of(v).Transactions {
		return
	}
	layout := Protocols.Of(v).Layout(TxnConfig(v, txn.Seen{}))
	more := int64(layout.Bytes - record.LockSeq.Bytes)
	f.Bytes += more * f.Rows * int64(v.Int("replicas"))
	f.PerRequest += f.PerRequest / workload.PageBytes * more
}

// versionsOf is what versions of records need: more bytes in rows, in which each request touches so many more, and old versions.
func versionsOf(v Knobs, f *workload.Footprint, seconds float64) (old int64) {
	if !timestamp.Versioned(v) || !Workloads.Of(v).Transactions || f.Rows == 0 {
		return 0
	}
	_, servers := testbed.Machines(v)
	_, clients, _ := testbed.ThreadCounts(v)
	o := TxnConfig(v, txn.Seen{}).Common().Timestamps
	more, old := versions.Footprint(&o, versions.Written{
		Servers: servers, Rows: f.Rows, Old: f.Old, PerSecond: f.PerSecond * float64(clients) * f.Overwrites, Seconds: seconds,
	})
	f.Bytes += more * int64(v.Int("replicas"))
	f.PerRequest += f.PerRequest / workload.PageBytes * (more / f.Rows)
	return old
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
