// Package system is a simulated system as its keepers (agent, sessions, twins) see it: what they need of an engine.System, how to
// open one, how it stood after its latest slice, and a guard that turns a panic of a simulator into an error.
//
// One goroutine at a time uses a System. A Snapshot is a copy that any goroutine may keep.
package system
