package coordinator

import (
	"fmt"

	"drtmx/engine/txn"
)

// Configured is what a protocol runs with: configurations of type C, each filled in to a T. A transaction keeps the one that it began with
// until it ends, retries included. Protocols embed it.
type Configured[C, T txn.Config] struct {
	Cfg  *T // of transactions that begin now
	fill func(C) (*T, error)
}

// Configure makes c the first configuration. fill checks one and fills it in; when it returns no error the configuration is in force.
func Configure[C, T txn.Config](c C, fill func(C) (*T, error)) (x Configured[C, T], err error) {
	x.fill = fill
	x.Cfg, err = fill(c)
	return x, err
}

// Set changes the configuration of transactions that begin from now on.
func (x *Configured[C, T]) Set(cfg txn.Config) error {
	c, ok := cfg.(C)
	if !ok {
		return fmt.Errorf("configuration of another protocol, %T: reset to change the protocol", cfg)
	}
	now, err := x.fill(c)
	if err == nil {
		x.Cfg = now
	}
	return err
}

// Config is the one that is in force, and NeedsDrain says that another one may be at any time: protocols of which this is not so have
// methods of their own.
func (x *Configured[C, T]) Config() txn.Config         { return *x.Cfg }
func (x *Configured[C, T]) NeedsDrain(txn.Config) bool { return false }
