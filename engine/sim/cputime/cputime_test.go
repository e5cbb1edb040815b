package cputime

import (
	"runtime"
	"testing"
	"time"
)

// Work takes CPU time, and sleep takes next to none.
func TestClockCountsWork(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no clock of CPU time")
	}
	const span = 30 * time.Millisecond
	slept := Now()
	time.Sleep(span)
	slept = Now() - slept
	worked, sum := Now(), 0
	for i := 0; Now()-worked < span; i++ {
		sum += i
	}
	if slept > span/2 || sum == 0 {
		t.Errorf("%v of sleep count as %v", span, slept)
	}
}
