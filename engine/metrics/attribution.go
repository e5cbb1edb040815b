package metrics

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Phase is the part of a transaction to which a span of its time belongs. Parts whose time passes in phases make them known
// with NewPhase; what belongs to none of them is PhaseOther, and Backoff comes between two attempts.
type Phase uint8

// MostPhases is how many a program can have: a PhaseSet has a bit for each.
const MostPhases = 64

// PhaseInfo is how a phase is named and drawn, by page, notebook, figure and trace alike.
type PhaseInfo struct {
	Name   string // in results: "lock"
	Label  string // for people
	Colour string // #rrggbb
	Order  int    // among the others, as a transaction passes them; legends list them so
	// Of says that those who pass through it pass through others of the same group only, besides the ones that are everybody's:
	// it need be told apart from these alone. "": transactions.
	Of string
}

// phases are those that are known. The first two are everybody's.
var phases = []PhaseInfo{ // program: a list
	PhaseOther: {Name: "other", Label: "other", Colour: "#CCCCCC", Order: 1000},
	Backoff:    {Name: "backoff", Label: "back-off", Colour: "#AA4499", Order: 900},
}

const (
	PhaseOther Phase = iota // begin, bookkeeping, user code outside any phase; of open arrivals, the wait for a coroutine
	Backoff                 // the pause after an attempt that aborted
)

// NewPhase makes a phase known. It is called while the program starts, by the part that enters it; parts that share one
// take it from a room below them. A cell of a notebook may be run again: then it is the one that is known.
func NewPhase(x PhaseInfo) Phase {
	for i, o := range phases {
		if o == x {
			return Phase(i)
		}
		if o.Name == x.Name {
			panic("metrics: another phase is called " + x.Name + " already: choose another name")
		}
	}
	if len(phases) == MostPhases {
		panic(fmt.Sprintf("metrics: phase %s is one too many: a program has at most %d", x.Name, MostPhases))
	}
	phases = append(phases, x)
	return Phase(len(phases) - 1)
}

// Phases are those that are known, in their order.
func Phases() []Phase {
	out := make([]Phase, len(phases))
	for i := range out {
		out[i] = Phase(i)
	}
	slices.SortStableFunc(out, func(a, b Phase) int { return cmp.Compare(phases[a].Order, phases[b].Order) })
	return out
}

// Info is how a phase is named and drawn.
func (p Phase) Info() PhaseInfo { return phases[p] }

func (p Phase) String() string {
	if int(p) < len(phases) {
		return phases[p].Name
	}
	return "phase?"
}

// Milestone is the station on a verb's way at which a span of time was spent.
type Milestone uint8

// The milestones, in the order in which a verb passes them.
const (
	Post         Milestone = iota // CPU of posting, and waiting for the flush that rings the doorbell
	Doorbell                      // MMIO, and the NIC's fetch of the WQE
	NICSend                       // queueing and service in the requester's send pipeline
	Wire                          // link, switch, propagation
	NICReceive                    // queueing and service in a receive pipeline, and the conflict slot
	PCIe                          // DMA between a NIC and its machine
	Memory                        // LLC, DRAM or NVM behind the DMA
	HandlerQueue                  // a request lies in a CQ until the callee's worker gets to it
	Handler                       // the callee's handler
	Completion                    // DMA of the CQE
	Poll                          // CQE ready until it is polled and the coroutine runs again
	Compute                       // transaction code on its own core
	Asleep                        // waiting on purpose: back-off; or for a coroutine
	LockWait                      // the callee holds a request back until it can be answered: a lock queue
	NumMilestones
)

var milestoneNames = [NumMilestones]string{
	"post", "doorbell", "nic_send", "wire", "nic_receive", "pcie", "memory",
	"handler_queue", "handler", "completion", "poll", "compute", "asleep", "lock_wait",
}

func (m Milestone) String() string {
	if m < NumMilestones {
		return milestoneNames[m]
	}
	return "milestone?"
}

// Stamp holds how long one verb or RPC spent at each milestone, in ps, up to
// 4.3 ms each.
type Stamp [NumMilestones]uint32

// Spend adds d to milestone m.
func (s *Stamp) Spend(m Milestone, d int64) {
	s[m] = uint32(min(int64(s[m])+d, math.MaxUint32))
}

// Add adds o to s.
func (s *Stamp) Add(o *Stamp) {
	for m, d := range o {
		if d != 0 {
			s.Spend(Milestone(m), int64(d))
		}
	}
}

// Total is the verb's whole time.
func (s *Stamp) Total() int64 {
	var t int64
	for _, d := range s {
		t += int64(d)
	}
	return t
}

// ForPhases makes room for a value of each phase that is known. A phase that becomes known later is of other systems: see At.
func ForPhases[T any]() []T { return make([]T, len(phases)) }

// At is a phase's of such values; the zero value where they are older than the phase.
func At[T any](values []T, p Phase) (v T) {
	if int(p) < len(values) {
		v = values[p]
	}
	return v
}

// Spent is the time spent at each milestone, in ps.
type Spent [NumMilestones]int64

// Total is the time spent at all of them.
func (s *Spent) Total() int64 {
	var t int64
	for _, d := range s {
		t += d
	}
	return t
}

// add adds o to s and returns the total of o.
func (s *Spent) add(o *Spent) int64 {
	var t int64
	for m, d := range o {
		s[m] += d
		t += d
	}
	return t
}

// Breakdown is where a transaction's time went, by phase and milestone.
type Breakdown []Spent

// NewBreakdown has room for the phases that are known.
func NewBreakdown() Breakdown { return ForPhases[Spent]() }

// Add adds o to b, which has as many phases.
func (b Breakdown) Add(o Breakdown) {
	for p := range o {
		b[p].add(&o[p])
	}
}

// Clear forgets what was spent in some phases.
func (b Breakdown) Clear(in PhaseSet) {
	for ; in != 0; in &= in - 1 {
		b[in.First()] = Spent{}
	}
}

// Phase is the time spent in phase p.
func (b Breakdown) Phase(p Phase) int64 {
	s := At(b, p)
	return s.Total()
}

// Milestone is the time spent at milestone m, over all phases.
func (b Breakdown) Milestone(m Milestone) int64 {
	var t int64
	for p := range b {
		t += b[p][m]
	}
	return t
}

// Total is the time of the whole transaction.
func (b Breakdown) Total() int64 {
	var t int64
	for p := range b {
		t += b[p].Total()
	}
	return t
}

// PhaseSet has bit p for phase p.
type PhaseSet uint64

// SetOf is a set of one.
func SetOf(p Phase) PhaseSet { return 1 << p }

// AllPhases are all that there can be.
const AllPhases PhaseSet = math.MaxUint64

// Has says whether a phase is in the set.
func (in PhaseSet) Has(p Phase) bool { return in>>p&1 != 0 }

// First is the first phase of a set that is not empty.
func (in PhaseSet) First() Phase { return Phase(bits.TrailingZeros64(uint64(in))) }

// below is the part of the set whose phases come before the n-th.
func (in PhaseSet) below(n int) PhaseSet { return in & (1<<n - 1) }

// Attribution sums breakdowns of many transactions. The zero value is ready.
type Attribution struct {
	n      uint64
	phases []phaseSum
}

type phaseSum struct {
	spent Spent
	trips uint64
	hist  Hist
}

// fit makes room for as many phases.
func (a *Attribution) fit(n int) {
	if n > len(a.phases) {
		a.phases = append(a.phases, make([]phaseSum, n-len(a.phases))...)
	}
}

// PhaseStat is what the transactions of a window spent in one phase.
type PhaseStat struct {
	MeanUS     float64 `json:"mean_us"`          // over all transactions, so that the phases add up to the mean latency
	P50US      float64 `json:"p50_us,omitempty"` // over the transactions that were in the phase; absent with too few
	Share      float64 `json:"share"`            // of all time of all transactions
	RoundTrips float64 `json:"round_trips"`      // per transaction
	// ComputeUS is the part of MeanUS in which the transaction's own core worked for it.
	ComputeUS float64 `json:"compute_us,omitempty"`
}

// Record adds one finished transaction: its breakdown and its round trips by phase.
func (a *Attribution) Record(b Breakdown, trips []uint32) { a.RecordPhases(AllPhases, b, trips) }

// RecordPhases is Record of a transaction that was in these phases only: a
// breakdown is large, and the rest of it need not be looked at.
func (a *Attribution) RecordPhases(in PhaseSet, b Breakdown, trips []uint32) {
	a.n++
	a.fit(len(b))
	for in = in.below(len(b)); in != 0; in &= in - 1 {
		p := in.First()
		sum := &a.phases[p]
		if t := sum.spent.add(&b[p]); t > 0 {
			sum.hist.Coarse = true
			sum.hist.Record(t)
		}
		if trips != nil {
			sum.trips += uint64(trips[p])
		}
	}
}

// Count is the number of transactions recorded.
func (a *Attribution) Count() uint64 { return a.n }

// total is the time of all transactions.
func (a *Attribution) total() (t int64) {
	for p := range a.phases {
		t += a.phases[p].spent.Total()
	}
	return t
}

// Phase summarises one phase; ok is false when no transaction was in it.
func (a *Attribution) Phase(p Phase) (s PhaseStat, ok bool) {
	if int(p) >= len(a.phases) {
		return s, false
	}
	sum := &a.phases[p]
	t := sum.spent.Total()
	if t == 0 && sum.trips == 0 {
		return s, false
	}
	n := float64(a.n)
	s.MeanUS = float64(t) / n / 1e6
	s.ComputeUS = float64(sum.spent[Compute]) / n / 1e6
	if total := a.total(); total > 0 {
		s.Share = float64(t) / float64(total)
	}
	s.RoundTrips = float64(sum.trips) / n
	if ns, ok := sum.hist.QuantileNS(0.5); ok {
		s.P50US = float64(ns) / 1e3
	}
	return s, true
}

// Share is the part of all time that was spent at milestone m.
func (a *Attribution) Share(m Milestone) float64 {
	total := a.total()
	if total == 0 {
		return 0
	}
	var t int64
	for p := range a.phases {
		t += a.phases[p].spent[m]
	}
	return float64(t) / float64(total)
}

// Merge adds what o recorded.
func (a *Attribution) Merge(o *Attribution) {
	a.n += o.n
	a.fit(len(o.phases))
	for p := range o.phases {
		sum, more := &a.phases[p], &o.phases[p]
		sum.spent.add(&more.spent)
		sum.trips += more.trips
		sum.hist.Coarse = true
		sum.hist.Merge(&more.hist)
	}
}

// Reset forgets everything and keeps the memory.
func (a *Attribution) Reset() {
	a.n = 0
	for p := range a.phases {
		sum := &a.phases[p]
		sum.spent, sum.trips = Spent{}, 0
		sum.hist.Reset()
	}
}
