package workload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/testbed"
)

// Kind is a workload as the list of parts has it: its name, its knobs and rules, what it takes of memory, and how it is
// built.
type Kind struct {
	testbed.Load
	Doc string // a clause

	// Rows are the knobs that it brings, under workload.*; Knobs the names of all that it reads, those of others
	// included. Defaults are its own for some of the latter.
	Rows     []knob.Row
	Knobs    []string
	Defaults map[string]any
	// Unused says why one of these has no effect in v, "" if it has; nil: all have.
	Unused func(name string, v knob.Values) string
	Mix    []MixType // transaction types with a weight
	// Empty are the types of which a request may find nothing to do; those of all other types always find something.
	Empty []Empty
	// Rules are what may not be set together when it runs.
	Rules []func(v knob.Values) error

	// Footprint is what its tables and requests need of the host, within a factor of about two.
	Footprint func(v knob.Values) Footprint
	// Population is the knob to turn down where that is too much, Growth the knob of rows for what is to come, which
	// workload.scale does not make fewer. "": none.
	Population, Growth string

	// Messages fits r2's messages and RECVs to it; nil: those of transactions.
	Messages func(c *r2.Config, v knob.Values)
	// Requests is what its requests are, if it runs no transactions.
	Requests func(v knob.Values) Requests

	Build func(v knob.Values) (Bench, error)
	// Live puts knobs into effect that are not its own, as those of the hardware; nil: there are none.
	Live func(b Bench, v knob.Values) error
}

// MixType is a transaction type with a weight.
type MixType struct {
	Name   string
	Weight int    // by default
	Doc    string // what else there is to say of it
}

// Empty says what a request of a type finds when it finds nothing to do, and whether it belongs to the throughput all the same.
type Empty struct {
	Type string // "": each of them
	When string // a clause, of one request
	// Uncounted requests commit without having done what they are there for, and the benchmark's definition does not count
	// such. A request that reads has its answer: that nothing is there.
	Uncounted bool
}

// EmptyOf is what a type says of requests that find nothing to do; ok is false if they always find something.
func (k *Kind) EmptyOf(typ string) (e Empty, ok bool) {
	for _, e := range k.Empty {
		if e.Type == typ || e.Type == "" {
			return e, true
		}
	}
	return Empty{}, false
}

// Footprint is what tables and requests of a workload need of the host.
type Footprint struct {
	Bytes      int64   // of all rows and replicas, or of the memory that requests go to
	Indexed    int64   // records that an index of the store finds
	Apart      bool    // look-ups alone touch that index, else it counts as rows
	Fixed      bool    // keys are there for ever, so servers find their records without a look at the index
	Cached     int64   // records that location caches may have
	Rows       int64   // records, without replicas
	Old        int64   // bytes of one old version of each of them, as rows have them
	Overwrites float64 // versions of records that a request replaces
	PerRequest int64   // bytes of the host's pages with rows that a request touches
	PerLookups int64   // the same of an index that is apart
	Calls      float64 // requests to other machines that one makes if each is a message, and is answered by one
	PerSecond  float64 // requests per client thread over RDMA, in virtual time: a guess before the run
	PerWallMS  float64 // requests on one core of the host
}

// Requests is what raw requests do.
type Requests struct {
	Writes, Atomics bool
	TwoSided        bool // by RPC
	Silent          bool // without a message
	Padded          bool // what is behind them may be overwritten, so hints may pad them
	Retried         bool // clients go on behind one that failed
}

// PageBytes is a page of the host.
const PageBytes = 4096

// Reads says whether the workload reads a knob.
func (k *Kind) Reads(name string) bool { return slices.Contains(k.Knobs, name) }

// RequestsOf is what its requests are; of transactions nothing.
func (k *Kind) RequestsOf(v knob.Values) Requests {
	if k.Requests == nil {
		return Requests{}
	}
	return k.Requests(v)
}

// leastPopulation is what scaling leaves at least.
const leastPopulation = 8

// Scaled is a population times workload.scale.
func Scaled(v knob.Values, name string) int {
	return max(int(math.Round(float64(v.Int(name))*v.Float("workload.scale"))), min(leastPopulation, v.Int(name)))
}

// TooFew is the error of a population, scaled, that is below least.
func TooFew(v knob.Values, name string, least int, rule string, args ...any) error {
	next := fmt.Sprintf("set %s=%d or more", name, unscaled(v, name, least))
	if v.Float("workload.scale") < 1 {
		next += ", or a larger workload.scale"
	}
	return knob.Invalid(name, v.Int(name), next, rule, args...)
}

// TooMany is the error of a population, scaled, that is above most.
func TooMany(v knob.Values, name string, most int, rule string, args ...any) error {
	return knob.Invalid(name, v.Int(name), fmt.Sprintf("set %s=%d or fewer, or a smaller workload.scale", name, unscaled(v, name, most+1)-1), rule, args...)
}

// unscaled is the smallest value of a population that scaling leaves at least so large.
func unscaled(v knob.Values, name string, least int) int {
	w := v.Clone()
	return sort.Search(math.MaxInt32, func(n int) bool {
		w[name] = n
		return Scaled(w, name) >= least
	})
}

// Anywhere is the share of locks on the own machine where records are drawn from all machines alike.
func Anywhere(v knob.Values) int {
	if testbed.Asymmetric(v) {
		return 0
	}
	return 100 / v.Int("nodes")
}

// Records are those of a table, and what a transaction does to them on average.
type Records struct {
	Count    int64
	Bytes    int     // of a value
	Written  int     // of them by an update; 0: all
	Fixed    bool    // none is inserted or deleted
	Accessed float64 // records that it reads or writes
	Updated  float64 // those of them that it writes
	Local    int     // per cent of them on the client's machine
}

// Footprint is that of small records; others have a PerSecond of their own. A row lies in one page, or in more by as much as it is
// long; an update goes to each replica. Calls: one to read a record, for an update one to lock it and one to write it, and the log's
// to each backup.
func (r Records) Footprint(v knob.Values) Footprint {
	copies, row := int64(v.Int("replicas")), int64(record.LockSeq.Bytes+r.Bytes)
	written, remote := cmp.Or(r.Written, r.Bytes), 1-float64(r.Local)/100
	return Footprint{
		Bytes: r.Count * row * copies, Indexed: r.Count, Apart: true, Fixed: r.Fixed, Cached: r.Count, Rows: r.Count, Old: r.Count * int64(record.SlotBytes(written)), Overwrites: r.Updated,
		PerRequest: int64((r.Accessed + r.Updated*float64(copies-1)) * float64(PageBytes+row)), PerLookups: int64(r.Accessed * PageBytes),
		Calls: remote*(r.Accessed+2*r.Updated) + min(r.Updated, 1)*float64(copies-1), PerSecond: 500_000, PerWallMS: 20,
	}
}

// SmallRecords is the footprint of transactions that update two small records each, of any machine.
func SmallRecords(v knob.Values, records int64, valueBytes int) Footprint {
	return Records{Count: records, Bytes: valueBytes, Accessed: 2, Updated: 2, Local: Anywhere(v)}.Footprint(v)
}

// RawFootprint is the footprint of raw requests of so many bytes to places of memory.
func RawFootprint(bytes, each int64) Footprint {
	return Footprint{Bytes: bytes, PerRequest: max(each, PageBytes), Calls: 1, PerSecond: 8_000_000, PerWallMS: 1_000}
}

// ValidOneSided refuses a workload without a two-sided form where the NICs have no RDMA.
func ValidOneSided(name string) func(v knob.Values) error {
	return func(v knob.Values) error {
		if testbed.HasRDMA(v) {
			return nil
		}
		return knob.Invalid("workload", name, "use a workload with a two-sided form, such as smallbank with preset=fasst", "%s", testbed.NoRDMA(v))
	}
}

// validMix holds the rule that some type runs.
func (k *Kind) validMix(v knob.Values) error {
	if len(k.Mix) == 0 {
		return nil
	}
	for _, t := range k.Mix {
		if v.Int("workload.mix."+t.Name) > 0 {
			return nil
		}
	}
	return knob.Invalid("workload.mix."+k.Mix[0].Name, 0, "give at least one type a weight", "all weights are 0")
}

// Valid reports the first rule that is broken.
func (k *Kind) Valid(v knob.Values) error {
	for _, rule := range append([]func(knob.Values) error{k.validMix, k.validShared}, k.Rules...) {
		if err := rule(v); err != nil {
			return err
		}
	}
	return nil
}

// validShared holds the rules of knobs that several workloads read.
func (k *Kind) validShared(v knob.Values) error {
	for _, name := range []string{"workload.align", "workload.pad"} {
		if n := v.Int(name); k.Reads(name) && n&(n-1) != 0 {
			return knob.Invalid(name, n, "use 1, 2, 4, ... 64", "must be a power of 2")
		}
	}
	if n := v.Int("workload.value_bytes"); k.Reads("workload.value_bytes") && n%8 != 0 {
		return knob.Invalid("workload.value_bytes", n, fmt.Sprintf("use %d or %d", n&^7, n&^7+8), "must be a multiple of 8")
	}
	return nil
}
