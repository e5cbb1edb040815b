//go:build unix

package web

import "golang.org/x/sys/unix"

// openFiles is how many files this process may have open, 0 if unknown.
func openFiles() uint64 {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return 0
	}
	return uint64(r.Cur)
}
