// Package agent keeps simulated clusters alive: it is what the page, a notebook and the command drive.
//
// An Agent owns up to four systems, "a" to "d". Each is advanced by a goroutine of its own in short slices of virtual time,
// paced (so many virtual nanoseconds per second of wall time) or flat out; between two slices it takes commands: a knob
// change, pause, step, reset. A change therefore lands at a virtual time, which is recorded, and the session replays to
// the same digest.
//
// A fork replays a system's session up to now and then differs in one set of knobs. A ghost replays it up to a change and
// goes on without: what would have happened. Both replay in the background. Frames with the windows, events and tasks
// since the last frame go out to any number of readers, none of which can slow the run.
//
// Errors say whose fault it is by their type (BusyError, FailedError, EndedError, ConflictError, NotFoundError, ...); what
// that is in HTTP is package web's business.
//
// Caveat: wall time decides when a change from the page lands, so two live sessions differ; the recording of one does not.
package agent
