package space

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// InUse is the address space that the process has taken, in bytes; 0 if the kernel does not say.
func InUse() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseUint(string(pages), 10, 64)
	if err != nil {
		return 0
	}
	return n * uint64(os.Getpagesize())
}

// ReserveDense is memory that is touched all over: the host maps it in large
// pages if it can.
func ReserveDense(n uint64) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // a kernel without large pages does as well
	return b, nil
}

// ReleaseDense gives it back.
func ReleaseDense(b []byte) error { return unix.Munmap(b) }

// largePages lets the host map a part with large pages, or keeps it from giving
// a large page to every touched small one.
func largePages(b []byte, dense bool) {
	advice := unix.MADV_NOHUGEPAGE
	if dense {
		advice = unix.MADV_HUGEPAGE
	}
	_ = unix.Madvise(b, advice) // a kernel without large pages does as well
}

// Forget makes a part zero, and gives its pages back.
func Forget(b []byte) {
	if unix.Madvise(b, unix.MADV_DONTNEED) != nil {
		clear(b)
	}
}
