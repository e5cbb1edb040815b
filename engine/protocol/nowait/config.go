package nowait

import (
	"fmt"
	"strings"

	"drtmx/engine/coordinator"
	"drtmx/engine/knob"
	"drtmx/engine/txn"
)

// What the primitives of phases are and the knobs of both are the coordinators' of all protocols. One that is Auto is one-sided where
// there is RDMA.
type (
	Prim       = coordinator.Prim
	Primitives = coordinator.Primitives
)

const (
	Auto     = coordinator.Auto
	OneSided = coordinator.OneSided
	TwoSided = coordinator.TwoSided
)

// Phases are those that have a primitive.
var Phases = coordinator.LockingPhases

// Mode says which locks reads take.
type Mode uint8

const (
	// Exclusive takes exclusive locks for reads too: one round trip each.
	Exclusive Mode = iota
	// Shared lets readers share a record, at two round trips for each lock and two for its
	// release.
	Shared
)

var modeNames = [...]string{"E", "E/S"}

func (m Mode) String() string { return knob.NameOf(modeNames[:], uint8(m)) }

// Config says how transactions run. A transaction keeps the Config it began
// with until it ends, retries included.
type Config struct {
	// Mode is which locks reads take. Shared pays where transactions read the same records
	// and seldom write them.
	Mode Mode

	// Primitives is how the phases Lock, Logging and Commit are done. Lock locks and reads, Commit writes back and
	// releases: they are the same, see Validate. One that is Auto follows the other.
	Primitives

	txn.Settings

	// Speculative lets the locks of records that a transaction announces by Prefetch or Fetch
	// be taken in parallel. Off, records are locked one by one.
	Speculative bool

	// AsPublished writes lock word and value back with a single WRITE, as the released code does. It is sound where a row
	// lies in one line.
	AsPublished bool
}

// Default has all optimisations on that are always correct: all but passive acknowledgement
// and speculation, as the presets of engine/protocol/occ.
func Default() Config {
	c := Config{Settings: txn.Settings{CacheEnabled: true}}
	c.AllowAll()
	return c.withDefaults()
}

func (c Config) withDefaults() Config {
	c.Settings = c.Settings.WithDefaults()
	return c
}

// Resolved replaces every Auto: one-sided where there is RDMA, else two-sided. If one of Lock
// and Commit is given the other follows.
func (c Config) Resolved() Config {
	best := OneSided
	if c.NoRDMA {
		best = TwoSided
	}
	if c.Lock == Auto {
		c.Lock = c.Commit
	}
	for _, p := range []*Prim{&c.Lock, &c.Logging} {
		if *p == Auto {
			*p = best
		}
	}
	if c.Commit == Auto {
		c.Commit = c.Lock
	}
	return c
}

// Validate reports the first field that cannot be, with the reason.
func (c Config) Validate() error {
	c = c.withDefaults().Resolved()
	if err := c.Check(Phases); err != nil {
		return err
	}
	if c.Lock != c.Commit {
		return fmt.Errorf("phase.lock %v with phase.commit %v: shared locks are taken and released by atomics, and those of RNIC and CPU are not atomic with each other (thesis 4.3.2); make both the same, or one auto", c.Lock, c.Commit)
	}
	if c.Mode > Shared {
		return fmt.Errorf("mode %v: use %s", c.Mode, strings.Join(modeNames[:], " or "))
	}
	return c.Settings.Validate()
}

// NeedsDrain reports whether a change must wait until no transaction is in flight: when the RNIC
// takes over the lock words from the CPUs or the reverse (§4.3.2). Lock words mean the same in
// both modes, so a change of mode need not wait.
func NeedsDrain(from, to Config) bool { return from.Resolved().Lock != to.Resolved().Lock }
