// Package session records what happens to a system, and runs a recording again. Virtual time and the changes of knobs are
// all that a system depends on, so a recording is a header, the changes with their times, and digests to compare with.
//
// A Track cuts virtual time into slices; a Recorder writes to a file as the system goes; Read, Replay and Segment.Rerun
// run a file again. Caveats: a session of other code is refused, for its digest would differ; a transaction that a notebook
// added is code that no file holds, so its session cannot be run again.
package session
