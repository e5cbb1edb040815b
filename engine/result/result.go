package result

import (
	"fmt"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/history"
	"drtmx/engine/metrics"
)

// The parts of a result that the rooms below compute.
type (
	// Latency is a distribution in microseconds. A percentile without enough samples is 0 and
	// absent from JSON.
	Latency = metrics.Latency
	// PhaseStat is what one phase contributes to a transaction.
	PhaseStat = metrics.PhaseStat
	// Little compares an independently measured time average of requests in flight with
	// throughput x latency; the two must agree.
	Little = metrics.Little
	// Bottleneck is the unit that is closest to saturation.
	Bottleneck = metrics.Limit
	// Checks is the verdict on the history, the replicas and the workload's invariants. Most
	// invariants it has after the final drain only; before, it says that they wait for it.
	Checks = history.Report
	// Anomaly is a violation of the claimed isolation level, with the cycle that shows it.
	Anomaly = history.Anomaly
)

// TypeStat is one transaction type's part of a result.
type TypeStat struct {
	Commits   uint64  `json:"commits"`
	Aborts    uint64  `json:"aborts"`
	Rollbacks uint64  `json:"rollbacks"`
	Empty     uint64  `json:"empty,omitempty"`     // as in Result
	Uncounted uint64  `json:"uncounted,omitempty"` // likewise
	LatencyUS Latency `json:"latency_us"`
	// Histogram is its distribution. Of a workload with a single type it is the result's, and is not repeated.
	Histogram *metrics.Histogram `json:"latency_histogram,omitempty"`
}

// MilestoneStat is the share of latency that went by at one point of the way of a verb.
type MilestoneStat struct {
	Share float64 `json:"share"`
}

// Util is a resource's utilisation over all its instances; Max is the busiest one.
type Util struct {
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

// NodeUtil is one machine's utilisation by resource.
type NodeUtil struct {
	Node        int                `json:"node"`
	Type        string             `json:"type"`
	Role        string             `json:"role"` // "symmetric", "server", "client" or "oracle"
	Utilization map[string]float64 `json:"utilization"`
}

// Scale says by how much populations, and the capacities that go with them, were shrunk.
type Scale struct {
	Populations float64 `json:"populations"`
}

// Result is a run as a value: spec, seed, profile and code versions in, numbers, checks and digest
// out.
type Result struct {
	Spec             experiment.Knobs                 `json:"spec"` // every knob, resolved
	PresetDiff       experiment.Knobs                 `json:"preset_diff"`
	Inputs           map[string]string                `json:"inputs,omitempty"` // of a point of a sweep or figure: content of the files that knobs name, see experiment.Inputs
	Name             string                           `json:"name,omitempty"`
	Code             string                           `json:"code"`
	Profile          string                           `json:"profile"`
	Scope            string                           `json:"scope"`
	FromNS           int64                            `json:"from_ns"`    // where the measured interval began
	VirtualNS        int64                            `json:"virtual_ns"` // its length
	WallMS           int64                            `json:"wall_ms"`
	Events           uint64                           `json:"events"`
	Steady           bool                             `json:"steady"`
	Unsteady         string                           `json:"unsteady_because,omitempty"`
	Scale            Scale                            `json:"scale"`
	Throughput       float64                          `json:"throughput"`
	ThroughputCI95   float64                          `json:"throughput_ci95"`   // half-width of the 95 % interval as a share; 0: there is none
	CI95             map[string]float64               `json:"ci95,omitempty"`    // likewise of throughput, p50, p90, p99, abort_rate and round_trips
	NoCI95           map[string]string                `json:"no_ci95,omitempty"` // why one of them has none
	Commits          uint64                           `json:"commits"`
	Aborts           uint64                           `json:"aborts"`
	AbortRate        float64                          `json:"abort_rate"`
	Rollbacks        uint64                           `json:"rollbacks"`
	Empty            uint64                           `json:"empty,omitempty"`     // of the commits, those that found nothing to do: a key that is missing or taken, no result
	Uncounted        uint64                           `json:"uncounted,omitempty"` // of those, the ones that the workload does not count: they do not belong to the throughput
	Failed           uint64                           `json:"failed,omitempty"`    // requests that ended with an error: a machine, or their client's, had crashed
	Lost             uint64                           `json:"lost,omitempty"`      // passive requests that counted as done, and that a crash left unconfirmed
	ByType           map[string]TypeStat              `json:"by_type,omitempty"`
	LatencyUS        Latency                          `json:"latency_us"`
	Histogram        *metrics.Histogram               `json:"latency_histogram,omitempty"`
	StalenessNS      *StalenessStat                   `json:"staleness_ns,omitempty"` // absent where no snapshot has read
	Phases           map[string]PhaseStat             `json:"phases,omitempty"`
	Milestones       map[string]MilestoneStat         `json:"milestones,omitempty"`
	Verbs            map[string]uint64                `json:"verbs"`
	RoundTripsPerTxn float64                          `json:"round_trips_per_txn"`
	Utilization      map[string]Util                  `json:"utilization"`
	Nodes            []NodeUtil                       `json:"nodes,omitempty"`
	Inside           []NodeInside                     `json:"-"` // of each machine; a result that was read from a file has none
	Bottleneck       *Bottleneck                      `json:"bottleneck,omitempty"`
	Contention       *ContentionStat                  `json:"contention,omitempty"` // absent where no transactions met
	Limit            *Verdict                         `json:"limit,omitempty"`      // saturated, latency-bound or contended
	Little           *Little                          `json:"little,omitempty"`
	Open             *Open                            `json:"open,omitempty"` // absent where clients wait for their requests
	NVM              *NVMStat                         `json:"nvm,omitempty"`
	Parts            map[string]Part                  `json:"parts,omitempty"` // what parts of the system show of themselves, a section each
	Drain            *DrainStat                       `json:"drain,omitempty"`
	Checks           *Checks                          `json:"checks,omitempty"`
	Changes          []Change                         `json:"changes,omitempty"`           // live knob changes, oldest first
	UserTransactions []string                         `json:"user_transactions,omitempty"` // types that AddTransaction has added
	Timeline         []Moment                         `json:"timeline,omitempty"`          // from time 0, where it was asked for
	Sections         map[string]Section               `json:"-"`                           // of parts that have one, each under its part's name beside these fields
	Auto             map[string]experiment.AutoChoice `json:"auto,omitempty"`              // of what is auto, by knob
	AutoChanges      []AutoChange                     `json:"auto_changes,omitempty"`      // of what was measured, oldest first
	History          *HistoryStat                     `json:"history,omitempty"`           // of the file with all accesses, if one was asked for
	Digest           string                           `json:"digest"`
	Digests          Digests                          `json:"digests"` // its parts: what has changed where two differ
}

// Open is how open clients fare: at which rates requests arrive and end.
type Open struct {
	Offered    float64 `json:"offered"`   // requests that arrived, by virtual second
	Served     float64 `json:"served"`    // that ended, whatever way
	InFlight   uint64  `json:"in_flight"` // at the end of the interval: they wait or are served
	Overloaded bool    `json:"overloaded"`
}

// Text says what arrived and what was served.
func (o *Open) Text() string {
	text := fmt.Sprintf("%s/s offered, %s/s served, %s in flight at the end", Number(o.Offered), Number(o.Served), Number(float64(o.InFlight)))
	if o.Overloaded {
		text += ", and more all the time"
	}
	return text
}

// Unsteady is why nothing of an overloaded system holds but what it serves.
func (o *Open) Unsteady() string {
	return fmt.Sprintf("%s requests a second arrive and %s are served: the queue grows by %s a second, and latencies as long as you measure; lower clients.arrival below %s, or use clients.arrival=closed to see what the system can do",
		Number(o.Offered), Number(o.Served), Number(o.Offered-o.Served), Number(o.Served))
}

// Part is a section of a result: the gauges of one part, by name.
type Part map[string]float64

// PartsOf has a section for each part of which gauges show something.
func PartsOf(gauges map[string]float64) map[string]Part {
	if gauges == nil {
		return nil
	}
	out := map[string]Part{}
	for key, x := range gauges { // order-free: fills a map
		part, name, _ := strings.Cut(key, ".")
		if out[part] == nil {
			out[part] = Part{}
		}
		out[part][name] = x
	}
	return out
}

// Window is a fixed length of virtual time, cut at multiples of window_ns from 0.
type Window struct {
	Index            int                  `json:"index"`
	T0NS             int64                `json:"t0_ns"`
	T1NS             int64                `json:"t1_ns"`
	KnobsVersion     int                  `json:"knobs_version"`
	Throughput       float64              `json:"throughput"`
	Commits          uint64               `json:"commits"`
	Aborts           uint64               `json:"aborts"`
	Rollbacks        uint64               `json:"rollbacks"`
	Empty            uint64               `json:"empty,omitempty"`
	Uncounted        uint64               `json:"uncounted,omitempty"`
	Failed           uint64               `json:"failed,omitempty"`
	Lost             uint64               `json:"lost,omitempty"`
	AbortRate        float64              `json:"abort_rate"`
	LatencyUS        Latency              `json:"latency_us"`
	Merged           *MergedLatency       `json:"merged,omitempty"` // nil: the window has requests enough for its own, or neighbours do not yet help
	StalenessNS      *StalenessStat       `json:"staleness_ns,omitempty"`
	Phases           map[string]PhaseStat `json:"phases,omitempty"`
	RoundTripsPerTxn float64              `json:"round_trips_per_txn"`
	InFlight         float64              `json:"in_flight"`
	Utilization      map[string]Util      `json:"utilization,omitempty"`
	Nodes            []NodeUtil           `json:"nodes,omitempty"`
	Bottleneck       *Bottleneck          `json:"bottleneck,omitempty"`
	Contention       *ContentionStat      `json:"contention,omitempty"`
	Limit            *Verdict             `json:"limit,omitempty"`
	NVM              *NVMStat             `json:"nvm,omitempty"`
	PCIe             *PCIeStat            `json:"pcie,omitempty"`
	Caches           *CacheStat           `json:"caches,omitempty"`
	Gauges           map[string]float64   `json:"gauges,omitempty"` // what parts show of themselves, by part.name: see metrics.Gauge
	Checks           *Checks              `json:"checks,omitempty"`
}

// MergedLatency has the percentiles that a window has too few requests for, of it and so many windows right before it that
// together they have enough. Windows under other knobs are not merged, and no window is in two of them.
type MergedLatency struct {
	P50US      float64 `json:"p50_us,omitempty"` // 0: absent
	P50Windows int     `json:"p50_windows,omitempty"`
	P99US      float64 `json:"p99_us,omitempty"`
	P99Windows int     `json:"p99_windows,omitempty"`
}

// StalenessStat is how old what snapshots read was: the begin of a snapshot less the commit of the oldest version newer
// than the one it read, 0 where there was none. Over reads of records, in nanoseconds.
type StalenessStat struct {
	Reads uint64 `json:"reads"`
	P50   *int64 `json:"p50,omitempty"` // nil: too few reads
	P99   *int64 `json:"p99,omitempty"`
	Max   int64  `json:"max"`
	Bound *int64 `json:"bound,omitempty"` // of the scheme, as its knobs are now; nil: it promises none
}

// Moment is a window in short, of a run's timeline.
type Moment struct {
	T0NS       int64              `json:"t0_ns"`
	T1NS       int64              `json:"t1_ns"`
	Throughput float64            `json:"throughput"`
	Gauges     map[string]float64 `json:"gauges,omitempty"` // as a window's
}

// Change is a live knob change as it was accepted.
type Change struct {
	Version   int              `json:"version"`    // of the knobs, from 1 at the start
	VirtualNS int64            `json:"virtual_ns"` // when it took effect, or when its drain began
	Pending   bool             `json:"pending"`    // waits for the drain barrier
	By        string           `json:"by,omitempty"`
	Set       experiment.Knobs `json:"set,omitempty"`
}

// AutoChange is a primitive that changed by itself, by what was measured.
type AutoChange struct {
	VirtualNS int64  `json:"virtual_ns"` // when it was decided; a change of the lock's primitive drains first
	Phase     string `json:"phase"`
	From      string `json:"from"`
	To        string `json:"to"`
	Because   string `json:"because"`
}

// Digests are what a run did, in parts: where two digests differ, the part that differs tells
// whether the system behaves otherwise or only its events do.
type Digests struct {
	// Behaviour is over what a user sees: counts, round trips and latencies of every window, and
	// after Drain the values of all rows.
	Behaviour string `json:"behaviour"`
	// History is over what every checked attempt read and wrote, its versions, values, begin and end;
	// "" where the check is off or no transaction runs. It depends on the check's mode.
	History string `json:"history,omitempty"`
	// Trace is over the sequence of events, and after Drain over all bytes of simulated memory.
	Trace string `json:"trace"`
}

// DrainStat is how a drain went.
type DrainStat struct {
	NS       int64  `json:"ns"` // virtual time until all was at rest, or the drain was given up
	BudgetNS int64  `json:"budget_ns"`
	Left     string `json:"left,omitempty"` // what was still under way when it was given up, and why it was
}

// Undrained says that the drain was given up, and what was still under way; "" of a result whose drain
// ended, or that has none. Its numbers hold, for they were measured before; its checks are incomplete.
func (r *Result) Undrained() string {
	if r.Drain == nil {
		return ""
	}
	return r.Drain.Left
}

// HistoryStat is what became of the history that a run was asked for.
type HistoryStat struct {
	File     string `json:"file"`
	Attempts uint64 `json:"attempts"`        // of transactions, that have ended
	Error    string `json:"error,omitempty"` // why the file is not whole
}

// String tells what is in the file.
func (h *HistoryStat) String() string {
	if h.Error != "" {
		return fmt.Sprintf("%s is not whole: %s", h.File, h.Error)
	}
	return fmt.Sprintf("%d attempts of transactions in %s", h.Attempts, h.File)
}
