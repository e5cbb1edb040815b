package workload_test

import (
	"fmt"
	"strings"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
)

// locksAndCommits are the legal primitives of lock and commit.
var locksAndCommits = [][2]occ.Prim{{occ.OneSided, occ.OneSided}, {occ.TwoSided, occ.TwoSided}, {occ.TwoSided, occ.OneSided}}

// combinations lists every legal choice of primitives, none of them automatic.
func combinations() []occ.Config {
	reads := []occ.Prim{occ.OneSided, occ.TwoSided, occ.Hybrid}
	both := []occ.Prim{occ.OneSided, occ.TwoSided}
	var out []occ.Config
	for _, e := range reads {
		for _, lc := range locksAndCommits {
			for _, v := range both {
				for _, l := range both {
					for _, r := range reads {
						for _, rv := range both {
							out = append(out, occ.Config{Primitives: occ.Primitives{Execution: e, Lock: lc[0], Commit: lc[1], Validation: v, Logging: l, RORead: r, ROValidation: rv}})
						}
					}
				}
			}
		}
	}
	return out
}

// optimise switches optimisations, cache, speculation and what the released code does otherwise on and off at random.
func optimise(c occ.Config, r *sim.Rand) occ.Config {
	flip := func() bool { return r.Uint64n(2) == 0 }
	for p := range c.Opt {
		c.Opt[p] = r2.Mode{Outstanding: flip(), Doorbell: flip(), Passive: flip()}
	}
	c.CacheEnabled, c.Speculative = flip(), flip()
	c.ChargePerRecord, c.CommitTogether, c.Reclaim = flip(), flip(), someReclaiming(flip)
	return c
}

// someReclaiming is background half of the time, and otherwise one of the others.
func someReclaiming(flip func() bool) replication.Reclaiming {
	switch {
	case !flip():
		return replication.Background
	case flip():
		return replication.Awaited
	}
	return replication.Resent
}

// name says what a configuration is, for test names and messages.
func name(c occ.Config) string {
	var b strings.Builder
	for _, p := range []occ.Prim{c.Execution, c.Lock, c.Validation, c.Logging, c.Commit, c.RORead, c.ROValidation} {
		b.WriteString(strings.ToUpper(p.String()[:1]))
	}
	b.WriteByte('-')
	for p := txn.Execution; p <= occ.ROValidation; p++ {
		m := c.Opt[p]
		n := 0
		for i, on := range []bool{m.Outstanding, m.Doorbell, m.Passive} {
			if on {
				n |= 1 << i
			}
		}
		fmt.Fprint(&b, n)
	}
	for _, x := range []struct {
		on   bool
		name string
	}{{c.CacheEnabled, "-cache"}, {c.Speculative, "-spec"}, {c.ChargePerRecord, "-perrecord"}, {c.CommitTogether, "-together"}, {c.Reclaim != replication.Background, "-resent"}, {c.Reclaim == replication.Awaited, "-awaited"}} {
		if x.on {
			b.WriteString(x.name)
		}
	}
	return b.String()
}

// stream is a seeded source of choices for a test.
func stream(seed uint64) *sim.Rand { return sim.New(sim.Options{Seed: seed}).Stream("test", 0) }
