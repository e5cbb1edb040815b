//go:build !amd64 && !arm64

package sim

import "unsafe"

// Prefetch does nothing here: it is only about speed.
func Prefetch(unsafe.Pointer) {}

// PrefetchLines does nothing here.
func PrefetchLines(unsafe.Pointer, int) {}

func prefetchParked(*parked) {}

func routine() uintptr { return 0 }

func pause() {}
