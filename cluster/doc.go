// Package cluster keeps simulated clusters alive: it is what the page, a
// notebook and the command talk to.
//
// An Agent owns up to four systems, "a" to "d". Each is advanced by a goroutine
// of its own in short slices of virtual time, paced (so many virtual
// nanoseconds per second of wall time) or flat out; between two slices it takes
// commands: a knob change, pause, step, reset. A change therefore lands at a
// virtual time, which is recorded, and the session replays to the same digest.
// A fork replays a system's session up to now and then differs in one set of
// knobs. A ghost replays it up to a change and goes on without: what would have
// happened. Both replay in the background. For the system that a page shows there is
// a hidden twin that follows it on spare CPU time, and is the ghost of the next
// change as soon as that is made (standby, follower, spare). Frames with the windows,
// events and tasks since the last frame go out to any number of readers, none
// of whom can slow the run. It also computes figures, one at a time, for whoever hands
// it a runner: it keeps the latest and a few with other knobs, hands out what there is
// while runs end, and opens the system behind a point beside the others.
//
// What ran is kept in the run store (package runs), as a row that finds its results again: KeepRun, KeepSweep, KeepFigure
// and KeepSession make one, LoadKept reads it.
//
// In a notebook:
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
// A Cluster panics with one line where a Client returns an error: in a notebook
// that fails the cell. Programs use Start and Dial, which give a Client.
// Virtual time of a cluster that was started here moves only in Run, Trace,
// Watch and the like, so running a notebook again gives the same numbers.
//
// Caveats, in the order in which they bite. Wall time decides when a change
// from the page lands, so two live sessions differ; the recording of one does
// not. A transaction written in a notebook is code, not data: a session that
// has one says so and cannot be replayed from its file. A session of other code
// is refused, for its digest would differ. The HTTP side is safe by default and
// thereby strict: the Host header must be known, bodies are JSON and small, an
// address that others can reach needs a token.
package cluster
