//go:build !invariants

package host

import "drtmx/engine/sim"

func (d *durability) check() {}

func (d *durability) checkPlaces(sim.Time) {}
