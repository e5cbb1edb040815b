package nowait

import (
	"fmt"
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/txn"
)

// Prim is the RDMA primitive of a phase.
type Prim uint8

const (
	// Auto is one-sided where there is RDMA.
	Auto Prim = iota
	// OneSided uses READ, WRITE and ATOMIC: the remote CPU does nothing.
	OneSided
	// TwoSided sends one RPC per participant machine.
	TwoSided
)

var primNames = [...]string{"auto", "one-sided", "two-sided"}

func (p Prim) String() string { return knob.NameOf(primNames[:], uint8(p)) }

// ParsePrim reads the words of the phase.* knobs.
func ParsePrim(s string) (Prim, error) {
	i, err := knob.ParseName("primitive", primNames[:], s)
	return Prim(i), err
}

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

// ParseMode reads "E" or "E/S".
func ParseMode(s string) (Mode, error) {
	i, err := knob.ParseName("mode", modeNames[:], s)
	return Mode(i), err
}

// Config says how transactions run. A transaction keeps the Config it began
// with until it ends, retries included.
type Config struct {
	// Mode is which locks reads take. Shared pays where transactions read the same records
	// and seldom write them.
	Mode Mode

	// Lock is the primitive that locks and reads, Commit the one that writes back and
	// releases. They are the same: see Validate. One that is Auto follows the other.
	Lock, Commit Prim
	// Logging is the primitive that sends log entries.
	Logging Prim

	// Opt has the optimisations of §2.2.3 for the phases Lock, Logging and Commit. Those that
	// make no sense with the phase's primitive are ignored, see Allowed.
	Opt [metrics.NumPhases]r2.Mode

	txn.Settings

	// Speculative lets the locks of records that a transaction announces by Prefetch or Fetch
	// be taken in parallel. Off, records are locked one by one.
	Speculative bool

	// NoRDMA says that the NICs have no one-sided verbs: Auto is two-sided, and nothing else is
	// possible.
	NoRDMA bool

	// AsPublished writes lock word and value back with a single WRITE, as the released code does. It is sound where a row
	// lies in one line.
	AsPublished bool
}

// Default has all optimisations on that are always correct: all but passive acknowledgement
// and speculation, as the presets of engine/occ.
func Default() Config {
	c := Config{Settings: txn.Settings{CacheEnabled: true}}
	for _, p := range Phases {
		c.Opt[p.ID] = r2.Mode{Outstanding: true, Doorbell: true}
	}
	return c.withDefaults()
}

func (c Config) withDefaults() Config {
	c.Settings = c.Settings.WithDefaults()
	return c
}

// Phase binds a phase to its knob phase.NAME and to its field in Config.
type Phase struct {
	Name  string
	ID    metrics.Phase
	Field func(*Config) *Prim
}

// Phases are those that have a primitive.
var Phases = []Phase{
	{"lock", txn.Lock, func(c *Config) *Prim { return &c.Lock }},
	{"logging", replication.Logging, func(c *Config) *Prim { return &c.Logging }},
	{"commit", txn.Commit, func(c *Config) *Prim { return &c.Commit }},
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
	for _, p := range Phases {
		switch prim := *p.Field(&c); {
		case prim > TwoSided:
			return fmt.Errorf("phase.%s %v: use %s", p.Name, prim, strings.Join(primNames[:], ", "))
		case c.NoRDMA && prim != TwoSided:
			return fmt.Errorf("phase.%s %v: the NICs have no RDMA; use two-sided or auto", p.Name, prim)
		}
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

// Allowed are the optimisations that make sense in a phase done with a primitive, after Table 4-1.
// The locks of the growing phase are outstanding together only where they are announced together.
// One-sided logging sends one WRITE on each queue pair.
func Allowed(phase metrics.Phase, p Prim) r2.Mode {
	switch phase {
	case txn.Lock:
		return r2.Mode{Outstanding: true, Doorbell: true}
	case replication.Logging:
		return r2.Mode{Outstanding: true, Doorbell: p == TwoSided}
	case txn.Commit:
		return r2.Mode{Outstanding: true, Doorbell: true, Passive: true}
	}
	return r2.Mode{}
}

// mode is what a phase posts with: what is on and allowed.
func (c *Config) mode(phase metrics.Phase, p Prim) r2.Mode {
	on, may := c.Opt[phase], Allowed(phase, p)
	return r2.Mode{
		Outstanding: on.Outstanding && may.Outstanding,
		Doorbell:    on.Doorbell && may.Doorbell,
		Passive:     on.Passive && may.Passive,
	}
}
