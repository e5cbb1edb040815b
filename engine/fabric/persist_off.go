//go:build !invariants

package fabric

import "drtmx/engine/sim"

func (d *durability) check() {}

func (d *durability) checkPlaces(sim.Time) {}
