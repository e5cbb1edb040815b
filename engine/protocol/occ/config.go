package occ

import (
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/metrics"
	"drtmx/engine/txn"
)

// What the primitives of phases are, Table 4-1 and the knobs of both are the coordinators' of all protocols.
type (
	Prim       = coordinator.Prim
	Primitives = coordinator.Primitives
	Phase      = coordinator.Phase
)

const (
	Auto     = coordinator.Auto
	OneSided = coordinator.OneSided
	TwoSided = coordinator.TwoSided
	Hybrid   = coordinator.Hybrid
)

// Phases are those of the protocol: all of Figure 4-1. The last two are of those that check again what they have read.
var (
	Phases       = coordinator.Phases
	Validation   = coordinator.Validation
	ROValidation = coordinator.ROValidation
)

// Config says how transactions run. A transaction keeps the Config it began
// with until it ends, retries included.
type Config struct {
	// Primitives is how the phases are done (§4.3).
	Primitives

	txn.Settings

	// Speculative lets the fetches that a transaction announces by Prefetch
	// run in parallel (§4.4.1). Off, records are fetched one by one.
	Speculative bool

	// ChargePerRecord charges a handler the execution time of Table 4-2 for each record
	// that it looks up. By the message sizes of the released code the table has that of a message,
	// which on SmallBank asks for 1.95 records.
	ChargePerRecord bool

	// CommitTogether has commit by RPC send one message per participant. Off, it is one
	// per record, whose sizes are those of Table 4-2 (§4.3.3: a doorbell chains them).
	CommitTogether bool

	// ReadRetries bounds how often a fetch tries again that found its record
	// locked; then the attempt aborts. Each waits ReadRetryNS. Higher spends
	// time in place of aborts.
	ReadRetries int
	ReadRetryNS int64

	// What the Auto rule has to know, see Decide. LocalPercent is the share of the
	// locks, in per cent, that are of records on the machine that locks them.
	// Overloaded says that the CPUs of the servers are what limits throughput.
	LocalPercent int
	Overloaded   bool

	// ReadCommitted leaves out the validation of what was only read, see the kind of that name.
	ReadCommitted bool
}

// Defaults of the fields that presets do not set, assumed: the thesis does not
// state its retry policy.
const (
	defaultReadRetries = 8
	defaultReadRetryNS = 1_000
)

func (c Config) withDefaults() Config {
	c.Settings = c.Settings.WithDefaults()
	if c.ReadRetries == 0 {
		c.ReadRetries = defaultReadRetries
	}
	if c.ReadRetryNS == 0 {
		c.ReadRetryNS = defaultReadRetryNS
	}
	return c
}

// Validate reports the first field that cannot be, with the reason.
func (c Config) Validate() error {
	c = c.withDefaults().Resolved()
	if err := c.Check(Phases); err != nil {
		return err
	}
	// The other way round is sound: the word is nonzero while it is held, so a
	// CPU's compare-and-swap fails whether it comes before or after the
	// holder's WRITE of 0, and an 8-byte DMA write is one store to the CPU.
	// Figure 4-4 measures that combination.
	if c.Lock == OneSided && c.Commit == TwoSided {
		return fmt.Errorf("phase.lock one-sided with phase.commit two-sided: the RNIC's ATOMIC is not atomic with the CPU's unlock (thesis 4.3.2, 4.3.3); make lock two-sided or auto, or commit one-sided or auto")
	}
	if c.ReadRetries < 0 || c.ReadRetryNS < 1 {
		return fmt.Errorf("read retries %d every %d ns: at least 0 and 1 ns", c.ReadRetries, c.ReadRetryNS)
	}
	return c.Settings.Validate()
}

// NeedsDrain reports whether a change must wait until no transaction is in flight:
// when the RNIC takes over the lock words from the CPUs or the reverse. The two are
// not atomic with each other (§4.3.2).
func NeedsDrain(from, to Config) bool { return from.Resolved().Lock != to.Resolved().Lock }

// NeedsDrain is that of the configuration and another one.
func (p *protocol) NeedsDrain(to txn.Config) bool {
	c, ok := to.(Config)
	return ok && (NeedsDrain(*p.Cfg, p.resolved(c)) || p.ChangesScheme(&c.Settings))
}

// batches says that a phase which fetches by RPC asks each machine for all records that were queued with one message.
// That is what doorbell batching is there: Table 4-1 has it for two-sided execution, where nothing but these could share
// a doorbell, and the released code queues two-sided reads until a value is needed. SmallBank reads all that it reads
// first; TPC-C uses each value at once, so that by the formats of the released code its messages ask for one record.
func (c *Config) batches(phase metrics.Phase, p Prim) bool {
	return p == TwoSided && c.Posts(phase, p).Doorbell
}
