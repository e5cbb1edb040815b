//go:build !amd64 && !arm64

package fabric

import "unsafe"

// Nothing is asked for here: it is only about speed.
func prefetch(unsafe.Pointer)  {}
func prefetch2(unsafe.Pointer) {}
