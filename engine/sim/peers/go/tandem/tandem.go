// Package tandem is what the Go peers of the tandem model share: service times,
// queues, the CPU clock and the result line.
package tandem

import (
	"fmt"
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Args are the style and the size from the command line.
type Args struct {
	Style  string
	N, K   int
	Visits uint64
}

// Parse reads "style n k visits" or exits.
func Parse(styles ...string) Args {
	var a Args
	var err [3]error
	if len(os.Args) == 5 {
		a.Style = os.Args[1]
		a.N, err[0] = strconv.Atoi(os.Args[2])
		a.K, err[1] = strconv.Atoi(os.Args[3])
		a.Visits, err[2] = strconv.ParseUint(os.Args[4], 10, 64)
		for _, s := range styles {
			if s == a.Style && err == [3]error{} {
				return a
			}
		}
	}
	fmt.Fprintf(os.Stderr, "usage: %s %v n k visits\n", os.Args[0], styles)
	os.Exit(2)
	return a
}

// Services draws exponential service times in units of their mean.
type Services struct {
	table [4096]float64
	lcg   uint64
}

// NewServices returns the table at its beginning.
func NewServices() *Services {
	s := &Services{lcg: 1}
	for i := range s.table {
		s.table[i] = -math.Log((float64(i) + 0.5) / 4096)
	}
	return s
}

// Draw is the next service time.
func (s *Services) Draw() float64 {
	s.lcg = s.lcg*6364136223846793005 + 1442695040888963407
	return s.table[s.lcg>>52]
}

// None is the end of a list of jobs.
const None = ^uint32(0)

// Station is a list of jobs, linked by next, of which the first is served.
type Station struct{ First, Last uint32 }

// Push returns whether the job is served at once.
func (s *Station) Push(next []uint32, job uint32) bool {
	next[job] = None
	if s.First == None {
		s.First, s.Last = job, job
		return true
	}
	next[s.Last] = job
	s.Last = job
	return false
}

// Pop removes the job that was served.
func (s *Station) Pop(next []uint32) uint32 {
	job := s.First
	s.First = next[job]
	return job
}

// CPU is the CPU time of this process in nanoseconds, the collector included.
func CPU() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return t.Nano()
}

// Report prints the result line: visits, CPU time, visits per mean service time.
func Report(visits uint64, cpu int64, meanServices float64) {
	fmt.Printf("%d %d %.4f\n", visits, cpu, float64(visits)/meanServices)
}
