//go:build !amd64 && !arm64

package sim

import "unsafe"

// Prefetch does nothing here: it is only about speed.
func Prefetch(unsafe.Pointer) {}

// Prefetch2 does nothing here.
func Prefetch2(unsafe.Pointer) {}

// Prefetch3 does nothing here.
func Prefetch3(unsafe.Pointer) {}

func prefetchParked(routine, stack uintptr) {}

func routine() uintptr { return 0 }
