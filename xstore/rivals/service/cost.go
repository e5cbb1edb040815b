package service

import "drtmx/engine/r2"

// What searching a node costs a core beside its loads, for every tree and table alike. Both are assumed: a key that is compared
// is a load from the first-level cache, a compare and a branch that is predicted, which a core of four instructions per
// cycle retires at one in two cycles; leaving the loop is a branch that is not predicted, some 15 cycles on Broadwell (Fog,
// The microarchitecture of Intel, AMD and VIA CPUs).
const (
	cyclesPerKey  = 2
	cyclesPerNode = 15
)

// ChargeSearch charges the search of one node in which so many keys were compared.
func ChargeSearch(c *r2.Co, keys int) { c.Compute(cyclesPerNode + cyclesPerKey*keys) }

// Pause is what a core that finds a lock taken waits before it looks again: the pause instruction, some 10 cycles before
// Skylake (Intel, optimization reference manual).
func Pause(c *r2.Co) { c.Compute(10) }
