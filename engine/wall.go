package engine

import "time"

// stopwatch is the only wall clock of this room. It feeds wall_ms, which no digest contains.
type stopwatch struct {
	from  time.Time
	total time.Duration
}

func (w *stopwatch) start() { w.from = time.Now() } // wall-clock: for wall_ms

func (w *stopwatch) stop() { w.total += time.Since(w.from) } // wall-clock: for wall_ms

func (w *stopwatch) ms() int64 { return w.total.Milliseconds() }
