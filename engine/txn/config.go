package txn

import (
	"fmt"

	"drtmx/engine/kv"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
)

// Config says how transactions run. A transaction keeps the Config it began
// with until it ends, retries included.
type Config struct {
	// The primitive of each phase (§4.3). Lock is the write set's half of the
	// thesis's Validation, Validation the read set's.
	Execution    Prim
	Lock         Prim
	Validation   Prim
	Logging      Prim
	Commit       Prim
	RORead       Prim
	ROValidation Prim

	// Opt has the optimisations of §2.2.3 by phase. Those that Table 4-1 does
	// not allow with the phase's primitive are ignored.
	Opt [metrics.NumPhases]r2.Mode

	// Replicas counts the primary. Three in the thesis; 1 turns logging off.
	// Fixed when the database is opened.
	Replicas int

	// CacheEnabled looks record locations up in, and fills, the location cache
	// of the machine. Off, a one-sided execution READs index buckets each time.
	CacheEnabled bool
	// CacheBytes is the budget of that cache per machine; 300 MB in §4.3.1.
	CacheBytes uint64

	// Speculative lets the fetches that a transaction announces by Prefetch
	// run in parallel (§4.4.1). Off, records are fetched one by one.
	Speculative bool

	// ReadRetries bounds how often a fetch tries again that found its record
	// locked; then the attempt aborts. Each waits ReadRetryNS. Higher spends
	// time in place of aborts.
	ReadRetries int
	ReadRetryNS int64

	// After an abort a coroutine sleeps a random time below a bound that
	// doubles from BackoffMinNS to BackoffMaxNS. Too small and hot records
	// live-lock, too large and they idle.
	BackoffMinNS int64
	BackoffMaxNS int64
	// MaxAttempts ends a transaction with an error instead of retrying for
	// ever: a sign of a protocol bug, not of contention.
	MaxAttempts int

	// NoRDMA says that the NICs have no one-sided verbs: Auto is two-sided in every
	// phase, and nothing else is possible.
	NoRDMA bool

	// What the Auto rule has to know, see Decide. LocalPercent is the share of the
	// locks, in per cent, that are of records on the machine that locks them.
	// Overloaded says that the CPUs of the servers are what limits throughput.
	LocalPercent int
	Overloaded   bool

	// Variant plants a known fault. Tests only.
	Variant Variant
}

// Defaults of the fields that presets do not set. All assumed: the thesis does
// not state its retry policy.
const (
	DefaultReplicas     = 3
	DefaultCacheBytes   = 300 << 20
	defaultReadRetries  = 8
	defaultReadRetryNS  = 1_000
	defaultBackoffMinNS = 2_000
	defaultBackoffMaxNS = 64_000
	defaultMaxAttempts  = 100_000
)

func (c Config) withDefaults() Config {
	if c.Replicas == 0 {
		c.Replicas = DefaultReplicas
	}
	if c.CacheBytes == 0 {
		c.CacheBytes = DefaultCacheBytes
	}
	if c.ReadRetries == 0 {
		c.ReadRetries = defaultReadRetries
	}
	if c.ReadRetryNS == 0 {
		c.ReadRetryNS = defaultReadRetryNS
	}
	if c.BackoffMinNS == 0 {
		c.BackoffMinNS = defaultBackoffMinNS
	}
	if c.BackoffMaxNS == 0 {
		c.BackoffMaxNS = max(defaultBackoffMaxNS, c.BackoffMinNS)
	}
	if c.MaxAttempts == 0 {
		c.MaxAttempts = defaultMaxAttempts
	}
	return c
}

// Validate reports the first field that cannot be, with the reason.
func (c Config) Validate() error {
	c = c.withDefaults().Resolved()
	for _, p := range c.phases() {
		if c.NoRDMA && *p.prim != TwoSided {
			return fmt.Errorf("%s %v: the NICs have no RDMA; use two-sided or auto", p.name, *p.prim)
		}
		if *p.prim == Hybrid && p.prim != &c.Execution && p.prim != &c.RORead {
			return fmt.Errorf("%s hybrid: only execution and ro_read look records up; use one-sided, two-sided or auto", p.name)
		}
	}
	// The other way round is sound: the word is nonzero while it is held, so a
	// CPU's compare-and-swap fails whether it comes before or after the
	// holder's WRITE of 0, and an 8-byte DMA write is one store to the CPU.
	// Figure 4-4 measures that combination.
	if c.Lock == OneSided && c.Commit == TwoSided {
		return fmt.Errorf("phase.lock one-sided with phase.commit two-sided: the RNIC's ATOMIC is not atomic with the CPU's unlock (thesis 4.3.2, 4.3.3); make lock two-sided or auto, or commit one-sided or auto")
	}
	switch {
	case c.Replicas < 1 || c.Replicas > maxReplicas:
		return fmt.Errorf("replicas %d: from 1 (no backup) to %d", c.Replicas, maxReplicas)
	case c.ReadRetries < 0 || c.ReadRetryNS < 1:
		return fmt.Errorf("read retries %d every %d ns: at least 0 and 1 ns", c.ReadRetries, c.ReadRetryNS)
	case c.BackoffMinNS < 1 || c.BackoffMaxNS < c.BackoffMinNS:
		return fmt.Errorf("back-off from %d to %d ns: at least 1 ns, rising", c.BackoffMinNS, c.BackoffMaxNS)
	case c.CacheBytes < kv.MinCacheBytes:
		return fmt.Errorf("cache.bytes %d: at least %d; to run without, set cache.enabled=false", c.CacheBytes, kv.MinCacheBytes)
	case c.MaxAttempts < 1:
		return fmt.Errorf("max attempts %d: at least 1", c.MaxAttempts)
	}
	return nil
}

type phasePrim struct {
	name  string
	phase metrics.Phase
	prim  *Prim
}

// phases are the primitives of c with the knobs they are set by.
func (c *Config) phases() []phasePrim {
	return []phasePrim{
		{"phase.execution", metrics.Execution, &c.Execution}, {"phase.lock", metrics.Lock, &c.Lock},
		{"phase.validation", metrics.Validation, &c.Validation}, {"phase.logging", metrics.Logging, &c.Logging},
		{"phase.commit", metrics.Commit, &c.Commit}, {"phase.ro_read", metrics.RORead, &c.RORead},
		{"phase.ro_validation", metrics.ROValidation, &c.ROValidation},
	}
}

// NeedsDrain reports whether a change from old to new must wait until no
// transaction is in flight: when the RNIC takes over the lock words from the
// CPUs or the reverse. The two are not atomic with each other (§4.3.2).
func NeedsDrain(old, new Config) bool {
	return old.Resolved().Lock != new.Resolved().Lock
}

// mode is what a phase posts with: what is on and Table 4-1 allows.
func (c *Config) mode(phase metrics.Phase, p Prim) r2.Mode {
	on, may := c.Opt[phase], Allowed(phase, p)
	return r2.Mode{
		Outstanding: on.Outstanding && may.Outstanding,
		Doorbell:    on.Doorbell && may.Doorbell,
		Passive:     on.Passive && may.Passive,
	}
}
