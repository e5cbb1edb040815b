//go:build amd64 || arm64

package sim

import "unsafe"

// Prefetch asks for a line of the host's memory without waiting for it. Like
// all of this file it changes nothing but the time a run takes.
//
//go:noescape
func Prefetch(p unsafe.Pointer)

// Prefetch2 asks for two lines in a row.
//
//go:noescape
func Prefetch2(p unsafe.Pointer)

// Prefetch3 asks for three lines in a row.
//
//go:noescape
func Prefetch3(p unsafe.Pointer)

// prefetchParked asks for what switching to a parked coroutine touches: the
// runtime's record of it, and the innermost part of its stack.
//
//go:noescape
func prefetchParked(routine, stack uintptr)

// routine is the address of the runtime's record of the running coroutine.
//
//go:noescape
func routine() uintptr
