package model

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onLargePages is a slice on large pages, where the registered memory of the simulated machines is as well.
func onLargePages[T any](b *testing.B, n int) []T {
	var one T
	m, err := unix.Mmap(-1, 0, n*int(unsafe.Sizeof(one)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := unix.Munmap(m); err != nil {
			b.Error(err)
		}
	})
	_ = unix.Madvise(m, unix.MADV_HUGEPAGE) // a kernel without large pages does as well
	return unsafe.Slice((*T)(unsafe.Pointer(&m[0])), n)
}
