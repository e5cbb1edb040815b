//go:build unix

package space

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// Reserve takes address space that costs no memory.
func Reserve(n uint64) ([]byte, error) {
	return unix.Mmap(-1, 0, int(n), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
}

// PerMachine is how much address space each of some machines may reserve: half of what the process
// has left is for all else, other systems among it. Without a limit it is all that a machine can have.
func PerMachine(machines int) uint64 {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &r) != nil || uint64(r.Cur) >= math.MaxInt64 {
		return MaxBytes
	}
	left := uint64(r.Cur) - min(InUse(), uint64(r.Cur))
	return left / 2 / uint64(machines) >> HugeShift << HugeShift
}

// Commit makes a part of it usable. Its pages are zero and take memory
// when they are first touched.
func Commit(b []byte, dense bool) error {
	if err := unix.Mprotect(b, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return os.NewSyscallError("mprotect", err)
	}
	largePages(b, dense)
	return nil
}

// Release gives it back.
func Release(b []byte) error { return unix.Munmap(b) }
