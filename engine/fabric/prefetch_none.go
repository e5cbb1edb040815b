//go:build !amd64 && !arm64

package fabric

import "unsafe"

func prefetch(unsafe.Pointer)  {}
func prefetch2(unsafe.Pointer) {}
