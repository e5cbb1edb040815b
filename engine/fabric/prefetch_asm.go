//go:build amd64 || arm64

package fabric

import "unsafe"

// prefetch asks for a line of the host's memory without waiting for it. It
// changes nothing but the time a run takes.
//
//go:noescape
func prefetch(p unsafe.Pointer)

// prefetch2 asks for two lines in a row.
//
//go:noescape
func prefetch2(p unsafe.Pointer)
