package twopl

import (
	"fmt"
	"strings"

	"drtmx/engine/coordinator"
	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/txn"
)

// Deadlock says what is done about transactions that wait for each other.
type Deadlock uint8

const (
	// Timeout refuses a lock request that has waited for TimeoutNS.
	Timeout Deadlock = iota
	// WaitDie lets a transaction wait only for younger ones; else it aborts at once, and keeps its age. There are no deadlocks.
	WaitDie
)

var deadlockNames = [...]string{"timeout", "wait-die"}

func (d Deadlock) String() string { return knob.NameOf(deadlockNames[:], uint8(d)) }

// Isolation says whether reads take locks.
type Isolation uint8

const (
	// Serializable has reads take shared locks, which are held until the end.
	Serializable Isolation = iota
	// ReadCommitted has reads take none: they return what was committed last.
	ReadCommitted
)

var isolationNames = [...]string{"serializable", "read-committed"}

func (i Isolation) String() string { return knob.NameOf(isolationNames[:], uint8(i)) }

// Config says how transactions run. A transaction keeps the Config it began with until it ends, retries included; what
// servers do follows the one that holds.
type Config struct {
	Deadlock  Deadlock
	Isolation Isolation
	// TimeoutNS is how long a message may wait for its locks under Timeout. 0: DefaultTimeoutNS.
	TimeoutNS int64

	// ReadNS and WriteNS are what a server's core takes for a record that is read, and for one that is written: from the
	// lock request to the end of the transaction, memory accesses included. Below 0 there are none but the memory
	// accesses; 0: the defaults. HostScale, in thousandths, multiplies them; 0: 1,000.
	ReadNS, WriteNS int64
	HostScale       int

	// Primitives has the optimisations of §2.2.3 for the phases Lock, Logging and Commit. All are two-sided, whatever it says.
	coordinator.Primitives

	txn.Settings

	// Speculative lets the locks of records that a transaction announces by Prefetch or Fetch
	// be taken in parallel. Off, records are locked one by one.
	Speculative bool
}

const (
	// DefaultTimeoutNS is assumed. MySQL Cluster's TransactionDeadlockDetectionTimeout is 1.2 s for transactions of
	// milliseconds; those here take some ten microseconds.
	DefaultTimeoutNS = 10_000_000
	// MaxTimeoutNS is below what r2 gives a request up after. Under WaitDie, where no wait is for ever, it bounds a wait.
	MaxTimeoutNS = 200_000_000

	// DefaultReadNS and DefaultWriteNS are of MySQL Cluster 7.4's data node on two cores of 1.3 to 2.3 GHz: 589,000
	// reads and 402,000 updates a second (M. Ronström, Benchmarking MySQL Cluster 7.4 on an Intel NUC, blog, April
	// 2015). The share of them that is messages', batched there, is in them; updates are without logs on disk.
	DefaultReadNS  = 3_400
	DefaultWriteNS = 5_000
)

// Default has all optimisations on that are always correct: all but passive acknowledgement
// and speculation, as the presets of engine/protocol/occ.
func Default() Config {
	c := Config{Settings: txn.Settings{CacheEnabled: true}}
	c.AllowAll()
	return c.withDefaults()
}

func (c Config) withDefaults() Config {
	c.Settings = c.Settings.WithDefaults()
	for _, x := range []struct {
		field *int64
		def   int64
	}{{&c.TimeoutNS, DefaultTimeoutNS}, {&c.ReadNS, DefaultReadNS}, {&c.WriteNS, DefaultWriteNS}} {
		if *x.field == 0 {
			*x.field = x.def
		}
	}
	if c.HostScale == 0 {
		c.HostScale = 1000
	}
	return c
}

// phases are those whose optimisations are knobs, opt.NAME.
var phases = coordinator.LockingPhases

// Validate reports the first field that cannot be, with the reason.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case int(c.Deadlock) >= len(deadlockNames):
		return fmt.Errorf("deadlock %v: use %s", c.Deadlock, strings.Join(deadlockNames[:], " or "))
	case int(c.Isolation) >= len(isolationNames):
		return fmt.Errorf("isolation %v: use %s", c.Isolation, strings.Join(isolationNames[:], " or "))
	case c.TimeoutNS < 1 || c.TimeoutNS > MaxTimeoutNS:
		return fmt.Errorf("timeout of %d ns: from 1 to %d", c.TimeoutNS, MaxTimeoutNS)
	case c.HostScale < 1:
		return fmt.Errorf("host scale of %d thousandths: at least 1", c.HostScale)
	}
	return c.Settings.Validate()
}

// NeedsDrain reports whether a change must wait until no transaction is in flight: one of what is done about deadlocks, for a
// wait that was allowed under one rule may be in a deadlock under the other; and one of isolation, for the writers before it may
// still be passive.
func NeedsDrain(from, to Config) bool {
	return from.Deadlock != to.Deadlock || from.Isolation != to.Isolation
}

// mode is what a phase posts with: what is on and allowed. A client whose commit was passive could read without a lock what it has
// overwritten, so it is not where reads take none.
func (c *Config) mode(phase metrics.Phase) r2.Mode {
	m := c.Posts(phase, coordinator.TwoSided)
	m.Passive = m.Passive && c.Isolation == Serializable
	return m
}
