package workload_test

import (
	"drtmx/engine/metrics"
	"drtmx/engine/protocol/nowait"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/protocol/twopl"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// choice is one thing that a configuration decides.
type choice[C any] struct {
	values int
	set    func(c *C, value int)
}

func yesOrNo[C any](set func(c *C, yes bool)) choice[C] {
	return choice[C]{2, func(c *C, v int) { set(c, v == 1) }}
}

func among[C, V any](values []V, set func(c *C, v V)) choice[C] {
	return choice[C]{len(values), func(c *C, v int) { set(c, values[v]) }}
}

// deployed is a configuration in one of the shapes.
type deployed[C any] struct {
	cfg   C
	shape int
}

// covering are configurations in which all values of every two choices meet, the shape among the choices.
func covering[C any](base C, choices []choice[C]) (out []deployed[C]) {
	levels := []int{len(shapes)}
	for _, x := range choices {
		levels = append(levels, x.values)
	}
	for _, row := range workloadtest.Pairs(levels) {
		d := deployed[C]{base, row[0]}
		for i, x := range choices {
			x.set(&d.cfg, row[i+1])
		}
		out = append(out, d)
	}
	return out
}

// optimisations are the choices of the optimisations of some phases.
func optimisations[C any](opt func(c *C) *[metrics.MostPhases]r2.Mode, phases ...metrics.Phase) (out []choice[C]) {
	for _, p := range phases {
		out = append(out,
			yesOrNo(func(c *C, yes bool) { opt(c)[p].Outstanding = yes }),
			yesOrNo(func(c *C, yes bool) { opt(c)[p].Doorbell = yes }),
			yesOrNo(func(c *C, yes bool) { opt(c)[p].Passive = yes }))
	}
	return out
}

// resends are what the released code does otherwise: it sends the log again, and waits for the reclaim then.
var resends = []replication.Reclaiming{replication.Background, replication.Resent, replication.Awaited}

// occChoices are all that the optimistic protocol decides: see combinations and optimise, which have all of it.
func occChoices() []choice[occ.Config] {
	reads := []occ.Prim{occ.OneSided, occ.TwoSided, occ.Hybrid}
	both := reads[:2]
	var phases []metrics.Phase
	for _, p := range occ.Phases {
		phases = append(phases, p.ID)
	}
	return append([]choice[occ.Config]{
		among(reads, func(c *occ.Config, p occ.Prim) { c.Execution = p }),
		among(locksAndCommits, func(c *occ.Config, p [2]occ.Prim) { c.Lock, c.Commit = p[0], p[1] }),
		among(both, func(c *occ.Config, p occ.Prim) { c.Validation = p }),
		among(both, func(c *occ.Config, p occ.Prim) { c.Logging = p }),
		among(reads, func(c *occ.Config, p occ.Prim) { c.RORead = p }),
		among(both, func(c *occ.Config, p occ.Prim) { c.ROValidation = p }),
		among(resends, func(c *occ.Config, how replication.Reclaiming) { c.Reclaim = how }),
		yesOrNo(func(c *occ.Config, yes bool) { c.CacheEnabled = yes }),
		yesOrNo(func(c *occ.Config, yes bool) { c.Speculative = yes }),
		yesOrNo(func(c *occ.Config, yes bool) { c.ChargePerRecord = yes }),
		yesOrNo(func(c *occ.Config, yes bool) { c.CommitTogether = yes }),
	}, optimisations(func(c *occ.Config) *[metrics.MostPhases]r2.Mode { return &c.Opt }, phases...)...)
}

// occConfigs cover the pairs of choices. In make soak they are all combinations of primitives so many times, with optimisations at random.
func occConfigs(seed uint64, times int) (out []deployed[occ.Config]) {
	if !workloadtest.Soak {
		return covering(occ.Config{}, occChoices())
	}
	rand := stream(seed)
	for i, c := range combinations() {
		for round := range times {
			out = append(out, deployed[occ.Config]{optimise(c, rand), (i + round) % len(shapes)})
		}
	}
	return out
}

// lockerConfigs are likewise of no-wait locking: see lockers.
func lockerConfigs(seed uint64, times int) (out []deployed[nowait.Config]) {
	if !workloadtest.Soak {
		base := nowait.Default()
		base.BackoffMaxNS = 1_000_000
		return covering(base, append([]choice[nowait.Config]{
			among([]nowait.Mode{nowait.Exclusive, nowait.Shared}, func(c *nowait.Config, m nowait.Mode) { c.Mode = m }),
			among([]nowait.Prim{nowait.OneSided, nowait.TwoSided}, func(c *nowait.Config, p nowait.Prim) { c.Lock, c.Commit = p, p }),
			among([]nowait.Prim{nowait.OneSided, nowait.TwoSided}, func(c *nowait.Config, p nowait.Prim) { c.Logging = p }),
			among([]int{1, 3}, func(c *nowait.Config, n int) { c.Replicas = n }),
			among(resends, func(c *nowait.Config, how replication.Reclaiming) { c.Reclaim = how }),
			yesOrNo(func(c *nowait.Config, yes bool) { c.CacheEnabled = yes }),
			yesOrNo(func(c *nowait.Config, yes bool) { c.Speculative = yes }),
		}, optimisations(func(c *nowait.Config) *[metrics.MostPhases]r2.Mode { return &c.Opt }, txn.Lock, replication.Logging, txn.Commit)...))
	}
	rand := stream(seed)
	for i, c := range lockers() {
		for round := range times {
			out = append(out, deployed[nowait.Config]{optimiseLocker(c, rand), (i + round) % len(shapes)})
		}
	}
	return out
}

// queueConfigs are likewise of two-phase locking with lock queues: see queues.
func queueConfigs(seed uint64, times int) (out []deployed[twopl.Config]) {
	if !workloadtest.Soak {
		base := twopl.Default()
		base.TimeoutNS, base.BackoffMaxNS = 200_000, 2_000_000
		return covering(base, append([]choice[twopl.Config]{
			among([]twopl.Deadlock{twopl.Timeout, twopl.WaitDie}, func(c *twopl.Config, d twopl.Deadlock) { c.Deadlock = d }),
			among([]int{1, 3}, func(c *twopl.Config, n int) { c.Replicas = n }),
			among(resends, func(c *twopl.Config, how replication.Reclaiming) { c.Reclaim = how }),
			yesOrNo(func(c *twopl.Config, free bool) {
				if free {
					c.ReadNS, c.WriteNS = -1, -1
				}
			}),
			yesOrNo(func(c *twopl.Config, yes bool) { c.Speculative = yes }),
		}, optimisations(func(c *twopl.Config) *[metrics.MostPhases]r2.Mode { return &c.Opt }, txn.Lock, replication.Logging, txn.Commit)...))
	}
	rand := stream(seed)
	for i, c := range queues() {
		for round := range times {
			out = append(out, deployed[twopl.Config]{optimiseQueues(c, rand), (i + round) % len(shapes)})
		}
	}
	return out
}
