package occ

import "drtmx/engine/txn"

// PresetNames lists the rows of Table 4-3.
func PresetNames() []string { return []string{"farm", "drtm+r", "fasst", "drtm+h"} }

// Preset is a row of Table 4-3 with the optimisations of §4.4.3: all existing
// ones on for everybody; the location cache from DrTM+R on, passive ACK and
// speculative execution for DrTM+H alone.
func Preset(name string) (Config, bool) {
	c := Config{
		Primitives: Primitives{
			Execution: OneSided, Lock: OneSided, Validation: OneSided, Logging: OneSided, Commit: OneSided,
			RORead: OneSided, ROValidation: OneSided,
		},
		Settings: txn.Settings{CacheEnabled: true},
	}
	c.AllowAll()
	switch name {
	case "farm":
		c.Lock, c.Commit = TwoSided, TwoSided
		c.CacheEnabled = false
	case "drtm+r":
	case "fasst":
		c.Execution, c.Lock, c.Validation, c.Logging, c.Commit = TwoSided, TwoSided, TwoSided, TwoSided, TwoSided
		c.RORead, c.ROValidation = TwoSided, TwoSided
		c.CacheEnabled = false
	case "drtm+h":
		c.Execution, c.RORead = Hybrid, Hybrid
		c.Lock, c.Commit = Auto, Auto
		c.Opt[txn.Commit].Passive = true
		c.Speculative = true
	default:
		return Config{}, false
	}
	return c.withDefaults(), true
}
