//go:build unix

package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the CPU time that this process has used, all of its threads together.
func Now() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
