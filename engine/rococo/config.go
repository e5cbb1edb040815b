package rococo

import (
	"fmt"

	"drtmx/engine/txn"
)

// Config says how transactions run.
type Config struct {
	txn.Settings

	// Variant plants a known fault. Tests only.
	Variant Variant
}

// Default is what a database without further wishes runs with.
func Default() Config { return Config{}.withDefaults() }

func (c Config) withDefaults() Config {
	c.Replicas = 1
	c.Settings = c.Settings.WithDefaults()
	return c
}

// Validate reports the first field that cannot be, with the reason.
func (c Config) Validate() error {
	if c.Replicas > 1 {
		return fmt.Errorf("replicas %d: servers keep no backups; leave it at 1", c.Replicas)
	}
	return c.withDefaults().Settings.Validate()
}

// Common is what all protocols say.
func (c Config) Common() txn.Settings {
	o := c.Settings
	o.Faulty = c.Variant != Correct
	return o
}
