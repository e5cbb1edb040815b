//go:build unix

package session

import (
	"os"
	"syscall"
)

// lockFile keeps a second drtmx from writing the same session. The lock goes
// with the process.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
