package engine

import (
	"slices"

	"drtmx/engine/metrics"
)

const (
	// keptWindows is how many windows a system remembers.
	keptWindows = 20_000
	// manyWindows is more than batch runs have. A system that comes so far, about a minute at the
	// pace of a live one, gets the memory for all windows at once: from then on it needs no more.
	manyWindows = 1000
)

// record is a window in little memory: 20,000 of them, for four systems in a process, are kept.
type record struct {
	index   int
	version int
	t0, t1  int64 // ps
	counts  counts
	lost    uint64
	latency Latency
	flight  float32
	phases  [metrics.NumPhases]packedPhase
	limit   Bottleneck
	util    []packedUtil // by resource, in the system's order of names
	nodes   []float32    // node-major: busiest unit of each resource on each node
	checked uint64       // transactions checked so far,
	seen    uint64       // of so many seen
	nvm     *NVMStat     // nil without NVM
	dimms   []dimm
	bus     packedBus
	met     packedContention
	checks  *Checks // shared by windows between which nothing but these counts changed
}

type packedPhase struct{ mean, p50, share, trips float32 }

type packedUtil struct{ mean, max float32 }

// ring keeps the last records. Their slices are its own.
type ring struct {
	recs []record
	next int // index of the next window
}

func (r *ring) add(rec record) {
	rec.index = r.next
	at := r.next % keptWindows
	if at == cap(r.recs) {
		r.grow(&rec)
	}
	if at == len(r.recs) {
		r.recs = r.recs[:at+1]
	}
	slot := &r.recs[at]
	rec.util = append(slot.util[:0], rec.util...)
	rec.nodes = append(slot.nodes[:0], rec.nodes...)
	rec.dimms = append(slot.dimms[:0], rec.dimms...)
	*slot = rec
	r.next++
}

// grow makes room: for a few records while there are few, else for all that will be kept, if they
// are like this one. All of it is written to: memory that is not is none yet.
func (r *ring) grow(like *record) {
	if len(r.recs) < manyWindows {
		r.recs = slices.Grow(r.recs, 1)
		return
	}
	recs := make([]record, keptWindows)
	utils, nodes, dimms := written[packedUtil](len(like.util)), written[float32](len(like.nodes)), written[dimm](len(like.dimms))
	for i := range recs {
		recs[i].util, recs[i].nodes, recs[i].dimms = part(utils, i), part(nodes, i), part(dimms, i)
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

// latest is the last record, which there has to be.
func (r *ring) latest() *record { return &r.recs[(r.next-1)%keptWindows] }

// from calls f for the kept records from index on.
func (r *ring) from(index int, f func(*record)) {
	for i := max(index, r.next-len(r.recs), 0); i < r.next; i++ {
		f(&r.recs[i%keptWindows])
	}
}

// resources is the order of resource names in packed windows, the machines' roles and the DIMMs.
type resources struct {
	names []string
	nodes []NodeUtil // Node, Type and Role
	dimms []DIMMStat // Node, Socket and DIMM
	table func(id uint8) string
}

func (r *resources) index(name string) int {
	for i, n := range r.names {
		if n == name {
			return i
		}
	}
	r.names = append(r.names, name)
	return len(r.names) - 1
}

// pack writes a utilisation into a record.
func (r *resources) pack(rec *record, u metrics.Utilization) {
	for _, x := range u.Resources {
		r.index(x.Resource)
	}
	n := len(r.names)
	rec.util = make([]packedUtil, n)
	rec.nodes = make([]float32, n*len(r.nodes))
	for _, x := range u.Resources {
		rec.util[r.index(x.Resource)] = packedUtil{float32(x.Mean), float32(x.Max)}
	}
	for _, x := range u.Nodes {
		rec.nodes[x.Node*n+r.index(x.Resource)] = float32(x.Max)
	}
	rec.limit = u.Bottleneck
}

// window unpacks a record.
func (r *resources) window(rec *record) Window {
	ps := rec.t1 - rec.t0
	w := Window{
		Index: rec.index, T0NS: rec.t0 / 1000, T1NS: rec.t1 / 1000, KnobsVersion: rec.version,
		Throughput: perSecond(rec.counts.commits, ps), Commits: rec.counts.commits, Aborts: rec.counts.aborts,
		Rollbacks: rec.counts.rollbacks, Failed: rec.counts.failed, Lost: rec.lost, AbortRate: rec.counts.abortRate(), LatencyUS: rec.latency,
		Phases: map[string]PhaseStat{}, RoundTripsPerTxn: rec.counts.tripsPerTxn(), InFlight: float64(rec.flight),
		Utilization: map[string]Util{},
	}
	for p := range metrics.NumPhases {
		if x := rec.phases[p]; x != (packedPhase{}) {
			w.Phases[p.String()] = PhaseStat{MeanUS: float64(x.mean), P50US: float64(x.p50), Share: float64(x.share), RoundTrips: float64(x.trips)}
		}
	}
	n := len(rec.util)
	for i, u := range rec.util {
		w.Utilization[r.names[i]] = Util{float64(u.mean), float64(u.max)}
	}
	for i, node := range r.nodes {
		node.Utilization = map[string]float64{}
		for j := range n {
			node.Utilization[r.names[j]] = float64(rec.nodes[i*n+j])
		}
		w.Nodes = append(w.Nodes, node)
	}
	if rec.limit.Resource != "" {
		limit := rec.limit
		w.Bottleneck = &limit
	}
	w.Contention = rec.met.unpack(r.table)
	w.Limit = w.limits().verdict()
	if rec.nvm != nil {
		x := *rec.nvm
		x.DIMMs = unpack(r.dimms, rec.dimms)
		w.NVM = &x
	}
	bus := rec.bus
	w.PCIe, w.Caches = &bus.pcie, &bus.caches
	if rec.checks != nil {
		c := *rec.checks
		c.Transactions, c.Seen = rec.checked, rec.seen
		w.Checks = &c
	}
	return w
}
