package sim

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// worker is a thread of the host that runs some machines.
type worker struct {
	all    *clocks
	number int
	lines  []*timeline
	parity int
	out    [2][][]event // messages of this window and of the last one, by the worker that has their machines
	own    []event      // messages to the simulation's own clock
	first  Time         // time of the first of those of this window
	next   [2]Time      // by parity: when its first event is, or that of a message it has sent
	_      [128]byte
}

// assign gives the workers their machines, neighbours together.
func (all *clocks) assign(n int) {
	all.workers = make([]*worker, n)
	for i := range all.workers {
		w := &worker{all: all, number: i, first: Forever}
		for p := range w.out {
			w.out[p] = make([][]event, n)
		}
		w.lines = all.lines[i*len(all.lines)/n : (i+1)*len(all.lines)/n]
		all.workers[i] = w
		for _, l := range w.lines {
			if l.worker = w; n == 1 {
				l.worker = nil
			}
		}
	}
}

// send leaves a message to a machine of another worker, or to the simulation's own clock.
func (w *worker) send(to *worker, e event) {
	w.first = min(w.first, e.t)
	if to == nil {
		w.own = append(w.own, e)
		return
	}
	out := &w.out[w.parity][to.number]
	*out = append(*out, e)
}

// runWorkers has all workers run their windows before stop, or before a message to the simulation's own clock.
func (all *clocks) runWorkers(stop Time) {
	if len(all.workers) == 1 {
		all.workers[0].alone(stop)
		return
	}
	all.barrier.begin(len(all.workers))
	var done sync.WaitGroup
	for _, w := range all.workers[1:] {
		done.Go(func() { w.together(stop) })
	}
	all.workers[0].together(stop)
	done.Wait()
	for _, w := range all.workers {
		for _, e := range w.own {
			all.line.push(e)
		}
		w.own = w.own[:0]
	}
}

// alone runs windows before stop where there is one worker.
func (w *worker) alone(stop Time) {
	all := w.all
	for all.list[0].Err() == nil {
		t := all.next()
		if own, ok := all.line.peek(); ok {
			stop = min(stop, own)
		}
		if t >= stop {
			break
		}
		w.window(min(t+all.spread.Lookahead, stop))
	}
	w.stop()
}

// window runs the events of its machines before end.
func (w *worker) window(end Time) {
	for _, l := range w.lines {
		if l.end = end; l.soon() < end {
			l.guarded(end)
		}
	}
}

// stop is the end of the last window: what happens now is of no machine.
func (w *worker) stop() {
	for _, l := range w.lines {
		l.end = 0
	}
}

// together is alone beside others. All see the same least time, so all begin and end the same windows.
func (w *worker) together(stop Time) {
	all := w.all
	for {
		p := w.parity
		w.next[p] = w.first
		for _, l := range w.lines {
			if l.err != nil {
				w.next[p] = -1
				break
			}
			w.next[p] = min(w.next[p], l.soon())
		}
		w.first = Forever
		w.parity = 1 - p
		all.barrier.wait()
		t, own := Forever, Forever
		for _, x := range all.workers {
			t = min(t, x.next[p])
			for _, e := range x.own {
				own = min(own, e.t)
			}
			for _, e := range x.out[p][w.number] {
				all.list[e.kind.clock()].line.push(e)
			}
			x.out[p][w.number] = x.out[p][w.number][:0]
		}
		if stop = min(stop, own); t < 0 || t >= stop {
			break
		}
		w.window(min(t+all.spread.Lookahead, stop))
	}
	all.barrier.wait()
	w.stop()
}

// barrier is where workers wait for each other.
type barrier struct {
	workers int32
	busy    bool // there are more of them than threads
	_       [128]byte
	there   atomic.Int32
	_       [128]byte
	turn    atomic.Uint32
	_       [128]byte
}

func (b *barrier) begin(workers int) {
	b.workers, b.busy = int32(workers), workers > runtime.GOMAXPROCS(0)
}

// spins is how often a worker looks before it lets others have its thread.
const spins = 2000

// wait returns when all workers have come.
func (b *barrier) wait() {
	turn := b.turn.Load()
	if b.there.Add(1) == b.workers {
		b.there.Store(0)
		b.turn.Add(1)
		return
	}
	for n := 0; b.turn.Load() == turn; n++ {
		if b.busy || n > spins {
			runtime.Gosched()
		} else {
			pause()
		}
	}
}
