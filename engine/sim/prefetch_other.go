//go:build !amd64 && !arm64

package sim

import "unsafe"

// Prefetch would ask for a line of the host's memory.
func Prefetch(unsafe.Pointer) {}

// Prefetch2 would ask for two.
func Prefetch2(unsafe.Pointer) {}
