// Package cluster is what notebooks and programs import: start or attach to a cluster, set knobs, run, watch, compare,
// sweep, trace, and see the results drawn.
//
//	c := cluster.Up(cluster.Spec{Preset: "drtm+h", Workload: "smallbank"})
//	base := c.Run(2 * time.Millisecond)
//	c.Set("phase.commit", "two-sided")
//	cluster.Compare(base, c.Run(2*time.Millisecond))
//
// The hardware is knobs as well, each number of the profile: a what-if is
//
//	cluster.Sweep(c.Spec(), cluster.Axis{"hardware.wire.switch", []int{90, 200, 500}}).Chart("latency_us.p50")
//
// and c.Reset(cluster.Knobs{"hardware.nic.qp_contexts": 4000}) rebuilds a cluster with one changed.
//
// Points of a sweep may be computed by other processes, on this machine or on many:
//
//	lab := cluster.JoinLab("nats://host:4222") // or cluster.StartLab(3)
//	cluster.Sweep(c.Spec(), cluster.Axis{"coroutines", []int{1, 2, 4}}, lab)
//
// A Cluster panics with one line where a Client returns an error: in a notebook that fails the cell. Programs use Start and
// Dial, which give a Client. Virtual time of a cluster that was started here moves only in Run, Trace, Watch and the like, so
// running a notebook again gives the same numbers.
//
// The rooms below: agent has the systems of a live cluster, session their recordings, twin what follows a shown system, job
// figures and sweeps beside them, web all of HTTP, lab points on many machines, keep the results of the run store, system a
// simulated system as seen from outside.
//
// Caveat: a transaction written in a notebook is code, not data: a session that has one says so and cannot be replayed from
// its file.
package cluster
