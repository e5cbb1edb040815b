//go:build amd64 || arm64

package sim

import "unsafe"

// Prefetch asks for a line of the host's memory without waiting for it. Like
// all of this file it changes nothing but the time a run takes.
//
//go:noescape
func Prefetch(p unsafe.Pointer)

// PrefetchLines asks for n lines in a row, at least one.
//
//go:noescape
func PrefetchLines(p unsafe.Pointer, n int)

// prefetchParked asks for what switching to a parked coroutine touches: the
// function that does, the runtime's record of it, and the innermost part of its stack.
//
//go:noescape
func prefetchParked(p *parked)

// routine is the address of the runtime's record of the running coroutine.
//
//go:noescape
func routine() uintptr

// pause tells the host that the thread only waits.
//
//go:noescape
func pause()
