//go:build unix

package server

import (
	"os"
	"syscall"
)

// lockFile takes the lock of a file, which goes with the process; it does not wait for another process that has it.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
