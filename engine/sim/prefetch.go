//go:build amd64 || arm64

package sim

import "unsafe"

// Prefetch asks for a line of the host's memory without waiting for it, for
// use in functions given to Ahead. The address need not be valid. It changes
// nothing but the time a run takes.
//
//go:noescape
func Prefetch(p unsafe.Pointer)

// Prefetch2 asks for two lines in a row.
//
//go:noescape
func Prefetch2(p unsafe.Pointer)
