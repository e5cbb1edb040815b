//go:build !amd64 && !arm64

package fabric

import "unsafe"

// prefetch does nothing here: it is only about speed.
func prefetch(unsafe.Pointer) {}
