package work

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Tries is how often a point may fail.
const Tries = 3

// ResultLimitBytes bounds a result. The largest that there are, with the history of every window, take some 50 MB.
const ResultLimitBytes = 256 << 20

// Point is a run to compute.
type Point struct {
	Key  string          `json:"key"`  // address of its result: 64 hexadecimal digits
	Code string          `json:"code"` // version of the code that may compute it
	Spec json.RawMessage `json:"spec"` // what Worker.Compute makes the run of
	// MemoryBytes is what it is estimated to need: workers that have less do not take it. 0: hardly any.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	// WallMS is how long it is estimated to take on one core. A point may make no progress for as long
	// several times over before it is believed to hang.
	WallMS int64 `json:"wall_ms,omitempty"`
}

// check refuses what no queue can carry.
func (p Point) check() error {
	if len(p.Key) != 64 || strings.Trim(p.Key, "0123456789abcdef") != "" {
		return fmt.Errorf("point key %.80q: must be 64 hexadecimal digits, as runs.Key makes them", p.Key)
	}
	if p.Code == "" || len(p.Code) > 64 || strings.ContainsAny(p.Code, " \t\r\n.*>/\\") {
		return fmt.Errorf("code version %.80q: must be a word without dots", p.Code)
	}
	return nil
}

// Outcome is what came of a point.
type Outcome struct {
	Body   []byte // the result, as Worker.Compute returned it
	Worker string // the worker that computed it
	WallMS int64
}

// Failed is the error of a point that was given up.
type Failed struct {
	Key   string
	Tries int    // how often it failed
	Why   string // the last failure
	Err   error  // the same, where it happened in this process
}

func (e *Failed) Unwrap() error { return e.Err }

func (e *Failed) Error() string {
	times := fmt.Sprintf("%d times", e.Tries)
	if e.Tries == 1 {
		times = "once"
	}
	return fmt.Sprintf("failed %s: %s", times, e.Why)
}

// Refusal marks an error of Compute that another try cannot change, as of a spec that is refused: the point is given up
// at once.
type Refusal struct{ Err error }

func (e *Refusal) Error() string { return e.Err.Error() }

func (e *Refusal) Unwrap() error { return e.Err }

// Worker computes points.
type Worker struct {
	Name string // for people; "" is the host's name and the number of the process
	Code string // the version of its code; it takes points of no other
	// Parallel is how many points it computes at once; 0 means one per core.
	Parallel int
	// MemoryBytes is what its points may take together; 0: not counted. A point that needs all of it waits
	// until the others have ended, and no other begins meanwhile.
	MemoryBytes int64
	// Compute computes a point and calls alive whenever it gets on. It must return soon after ctx ends.
	Compute func(ctx context.Context, p Point, alive func()) ([]byte, error)
	// Silence is how long a point may go without a call of alive, besides SilenceFactor times its estimate, before it counts as
	// hung; 0 means two minutes.
	Silence time.Duration
	// Log is called with lines for a person who watches the worker; nil: no log.
	Log func(line string)
}

// SilenceFactor times its estimate is how long a point may also go without progress: estimates are off by a factor of
// two, and machines may be slower than the one that they were measured on.
const SilenceFactor = 4

const defaultSilence = 2 * time.Minute

// Info is what a worker announces.
type Info struct {
	Name        string `json:"name"`
	Code        string `json:"code"`
	Cores       int    `json:"cores"`
	Parallel    int    `json:"parallel"` // points at once
	MemoryBytes int64  `json:"memory_bytes"`
	Busy        int    `json:"busy"`       // points under way
	Done        int64  `json:"done"`       // points that ended since it began
	Failed      int64  `json:"failed"`     // of these, in an error
	PerMinute   int64  `json:"per_minute"` // points that ended within the last minute
}

// Takes says whether the worker may take a point that needs so much memory, of this version of the code.
func (i Info) Takes(code string, memoryBytes int64) bool {
	c, err := classOf(memoryBytes)
	return err == nil && i.Code == code && c <= topClass(i.MemoryBytes)
}

// Queue takes points and computes them. Its methods may be called from several goroutines.
type Queue interface {
	// Do returns the result of a point: one that is kept, or what a worker computes now. Calls for one key share one
	// computation. A point that was given up is a *Failed. When ctx ends, a point that no worker has
	// begun is taken back.
	Do(ctx context.Context, p Point) (Outcome, error)
	// Work computes points until ctx ends, then hands back those that are not done.
	Work(ctx context.Context, w Worker) error
	// Workers lists the workers, also those with other versions of the code.
	Workers(ctx context.Context) ([]Info, error)
	// Close ends the queue's own work, not that of others on it.
	Close()
}
