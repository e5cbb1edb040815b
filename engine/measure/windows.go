package measure

import (
	"slices"

	"drtmx/engine/metrics"
	"drtmx/engine/result"
)

const (
	// keptWindows is how many windows a system remembers.
	keptWindows = 20_000
	// manyWindows is more than batch runs have. A system that comes so far, about a minute at the
	// pace of a live one, gets the memory for all windows at once: from then on it needs no more.
	manyWindows = 1000
)

// Record is a window in little memory: 20,000 of them, for four systems in a process, are kept.
type Record struct {
	index          int
	Version        int
	T0, T1         int64 // ps
	Counts         Counts
	Lost           uint64
	Latency        result.Latency
	Merged         result.MergedLatency // without any: the zero value
	Flight         float32
	Phases         []PackedPhase // by phase
	Limit          result.Bottleneck
	util           []packedUtil    // by resource, in the system's order of names
	nodes          []float32       // node-major: busiest unit of each resource on each node
	Checked        uint64          // transactions checked so far,
	Seen           uint64          // of so many seen
	StaleSnapshots uint64          // of those checked, see history.Report.Stale
	NVM            *result.NVMStat // nil without NVM
	DIMMs          []DIMM
	Bus            packedBus
	Met            packedContention
	Gauges         []float32             // see metrics.Between
	Stale          *result.StalenessStat // nil where no snapshot has read
	Checks         *result.Checks        // shared by windows between which nothing but these counts changed
}

type PackedPhase struct{ Mean, P50, Share, Trips float32 }

type packedUtil struct{ mean, max float32 }

// Ring keeps the last records. Their slices are its own.
type Ring struct {
	recs []Record
	Next int // index of the next window
}

func (r *Ring) Add(rec Record) {
	rec.index = r.Next
	at := r.Next % keptWindows
	if at == cap(r.recs) {
		r.grow(&rec)
	}
	if at == len(r.recs) {
		r.recs = r.recs[:at+1]
	}
	slot := &r.recs[at]
	rec.Phases = append(slot.Phases[:0], rec.Phases...)
	rec.util = append(slot.util[:0], rec.util...)
	rec.nodes = append(slot.nodes[:0], rec.nodes...)
	rec.DIMMs = append(slot.DIMMs[:0], rec.DIMMs...)
	rec.Gauges = append(slot.Gauges[:0], rec.Gauges...)
	*slot = rec
	r.Next++
}

// grow makes room: for a few records while there are few, else for all that will be kept, if they
// are like this one. All of it is written to: memory that is not is none yet.
func (r *Ring) grow(like *Record) {
	if len(r.recs) < manyWindows {
		r.recs = slices.Grow(r.recs, 1)
		return
	}
	recs := make([]Record, keptWindows)
	phases, utils, nodes, dimms, gauges := written[PackedPhase](len(like.Phases)), written[packedUtil](len(like.util)), written[float32](len(like.nodes)), written[DIMM](len(like.DIMMs)), written[float32](len(like.Gauges))
	for i := range recs {
		recs[i].Phases, recs[i].util, recs[i].nodes, recs[i].DIMMs, recs[i].Gauges = part(phases, i), part(utils, i), part(nodes, i), part(dimms, i), part(gauges, i)
	}
	copy(recs, r.recs)
	r.recs = recs[:len(r.recs)]
}

// written is memory for n values of each kept record.
func written[T any](n int) []T {
	s := make([]T, n*keptWindows)
	clear(s)
	return s
}

// part is a record's part of what is written for all, empty.
func part[T any](all []T, i int) []T {
	n := len(all) / keptWindows
	return all[i*n : i*n : (i+1)*n]
}

// Latest is the last record, which there has to be.
func (r *Ring) Latest() *Record { return &r.recs[(r.Next-1)%keptWindows] }

// From calls f for the kept records from index on.
func (r *Ring) From(index int, f func(*Record)) {
	for i := max(index, r.Next-len(r.recs), 0); i < r.Next; i++ {
		f(&r.recs[i%keptWindows])
	}
}

// Resources is the order of resource names in packed windows, the machines' roles and the DIMMs.
type Resources struct {
	names []string
	Nodes []result.NodeUtil // Node, Type and Role
	DIMMs []result.DIMMStat // Node, Socket and DIMM
	Table func(id uint8) string
}

func (r *Resources) index(name string) int {
	for i, n := range r.names {
		if n == name {
			return i
		}
	}
	r.names = append(r.names, name)
	return len(r.names) - 1
}

// Pack writes a utilisation into a record.
func (r *Resources) Pack(rec *Record, u metrics.Utilization) {
	for _, x := range u.Resources {
		r.index(x.Resource)
	}
	n := len(r.names)
	rec.util = make([]packedUtil, n)
	rec.nodes = make([]float32, n*len(r.Nodes))
	for _, x := range u.Resources {
		rec.util[r.index(x.Resource)] = packedUtil{float32(x.Mean), float32(x.Max)}
	}
	for _, x := range u.Nodes {
		rec.nodes[x.Node*n+r.index(x.Resource)] = float32(x.Max)
	}
	rec.Limit = u.Bottleneck
}

// Window unpacks a record.
func (r *Resources) Window(rec *Record) result.Window {
	ps := rec.T1 - rec.T0
	w := result.Window{
		Index: rec.index, T0NS: rec.T0 / 1000, T1NS: rec.T1 / 1000, KnobsVersion: rec.Version,
		Throughput: PerSecond(rec.Counts.Counted(), ps), Commits: rec.Counts.Commits, Aborts: rec.Counts.Aborts,
		Rollbacks: rec.Counts.Rollbacks, Empty: rec.Counts.Empty, Uncounted: rec.Counts.Uncounted, Failed: rec.Counts.Failed, Lost: rec.Lost, AbortRate: rec.Counts.AbortRate(), LatencyUS: rec.Latency,
		Phases: map[string]result.PhaseStat{}, RoundTripsPerTxn: rec.Counts.TripsPerTxn(), InFlight: float64(rec.Flight),
		Utilization: map[string]result.Util{},
	}
	for _, p := range metrics.Phases() {
		if x := metrics.At(rec.Phases, p); x != (PackedPhase{}) {
			w.Phases[p.String()] = result.PhaseStat{MeanUS: float64(x.Mean), P50US: float64(x.P50), Share: float64(x.Share), RoundTrips: float64(x.Trips)}
		}
	}
	n := len(rec.util)
	for i, u := range rec.util {
		w.Utilization[r.names[i]] = result.Util{Mean: float64(u.mean), Max: float64(u.max)}
	}
	for i, node := range r.Nodes {
		node.Utilization = map[string]float64{}
		for j := range n {
			node.Utilization[r.names[j]] = float64(rec.nodes[i*n+j])
		}
		w.Nodes = append(w.Nodes, node)
	}
	if rec.Limit.Resource != "" {
		limit := rec.Limit
		w.Bottleneck = &limit
	}
	if rec.Merged != (result.MergedLatency{}) {
		m := rec.Merged
		w.Merged = &m
	}
	w.StalenessNS = rec.Stale
	w.Contention = rec.Met.unpack(r.Table)
	w.Limit = w.Limits().Verdict()
	if rec.NVM != nil {
		x := *rec.NVM
		x.DIMMs = unpack(r.DIMMs, rec.DIMMs)
		w.NVM = &x
	}
	w.Gauges = metrics.Shown(rec.Gauges)
	bus := rec.Bus
	w.PCIe, w.Caches = &bus.pcie, &bus.caches
	if rec.Checks != nil {
		c := *rec.Checks
		c.Transactions, c.Seen = rec.Checked, rec.Seen
		c.Count, c.Stale = c.Count-c.Stale+rec.StaleSnapshots, rec.StaleSnapshots
		w.Checks = &c
	}
	return w
}

// Latencies are the distributions of the latest windows, in turn.
type Latencies struct {
	Windows [InsideOver]metrics.Hist // coarse
	Version [InsideOver]int          // of the knobs
	Next    int
}

// Keep remembers the distribution of a window that ends.
func (l *Latencies) Keep(version int, of *metrics.Hist) {
	i := l.Next % InsideOver
	h := &l.Windows[i]
	h.Coarse = true
	h.Reset()
	h.Merge(of)
	l.Version[i] = version
	l.Next++
}

// Recent is the distribution in the latest windows, and only those under the knobs of the last of them; nil of none.
func (l *Latencies) Recent() *result.Histogram {
	all := metrics.Hist{Coarse: true}
	for i := l.Next - 1; i >= max(0, l.Next-InsideOver) && l.Version[i%InsideOver] == l.Version[(l.Next-1)%InsideOver]; i-- {
		all.Merge(&l.Windows[i%InsideOver])
	}
	return all.Histogram()
}

// InsideOver is how many windows the inside of the machines is a mean of, and the recent latency is of, at most.
const InsideOver = 10
