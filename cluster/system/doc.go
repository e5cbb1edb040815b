// Package system is a simulated system as those see it who keep it alive: what they need of an engine.System, how to
// open one, how it stood after its latest slice, and a guard that turns a panic of a simulator into an error.
//
// One goroutine at a time uses a System. A Snapshot is a copy that anybody may keep.
package system
