package experiment

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/txn"
)

// What the tests of this room know of the optimistic protocol.
var phases, opts = occ.Phases, coordinator.Optimisations

func occConfig(v Knobs) occ.Config { return TxnConfig(v, txn.Seen{}).(occ.Config) }
