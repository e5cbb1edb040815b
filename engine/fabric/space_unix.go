//go:build unix

package fabric

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserveSpace takes address space that costs no memory.
func reserveSpace(n uint64) ([]byte, error) {
	return unix.Mmap(-1, 0, int(n), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
}

// commitSpace makes a part of it usable. Its pages are zero and take memory
// when they are first touched.
func commitSpace(b []byte, dense bool) error {
	if err := unix.Mprotect(b, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return os.NewSyscallError("mprotect", err)
	}
	largePages(b, dense)
	return nil
}

func releaseSpace(b []byte) error { return unix.Munmap(b) }
