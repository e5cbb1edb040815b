package rococo

import (
	"fmt"

	"drtmx/engine/txn"
)

// Config says how transactions run.
type Config struct {
	txn.Settings

	// HostScale, in thousandths, multiplies what servers take for messages and for their graphs; 0: 1,000.
	HostScale int
}

// Default is what a database without further wishes runs with.
func Default() Config { return Config{}.withDefaults() }

func (c Config) withDefaults() Config {
	c.Replicas = 1
	c.Settings = c.Settings.WithDefaults()
	if c.HostScale == 0 {
		c.HostScale = 1_000
	}
	return c
}

// Validate reports the first field that cannot be, with the reason.
func (c Config) Validate() error {
	if c.Replicas > 1 {
		return fmt.Errorf("replicas %d: servers keep no backups; leave it at 1", c.Replicas)
	}
	if c = c.withDefaults(); c.HostScale < 1 {
		return fmt.Errorf("host scale of %d thousandths: at least 1", c.HostScale)
	}
	return c.Settings.Validate()
}
