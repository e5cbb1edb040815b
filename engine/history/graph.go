package history

import (
	"math"
	"slices"
)

// graph is the working memory of a check.
type graph struct {
	num, low []int32
	soonest  []int64 // earliest end among the transactions that must come after
	late     []uint8 // contradicts real time, or follows from such a one
	frames   []frame
	via      Level // the transactions of higher levels that the paths may run through
	stack    []int32
	order    []int32 // components in reverse topological order
	starts   []int32 // of the components in order
	cycles   [][2]int32
	misfits  []int32
}

type frame struct {
	txn int32
	cur cursor
}

const (
	misfit  = 1 << iota // must precede something that ended before it began
	follows             // has a direct successor that does: no news
)

// closed marks a transaction whose component is complete.
const closed = math.MaxInt32

// walk finds the strongly connected components (Tarjan, without recursion) and
// the transactions that contradict real time.
//
// The second needs no edges for real time. "Ended before the other began" is an
// interval order: two such steps in one cycle can always be shortened to one, so
// a contradiction is a path of dependencies from T to some U that ended before T
// began. Components are completed after all their successors, so the earliest
// end among them is known by then, in linear time.
//
// Real time is promised to read-write transactions among one another, so the path runs
// through no snapshot, which may have been old. With via = LevelFresh it runs through those
// that were not.
func (g *graph) walk(w *window, via Level) {
	n := len(w.txns)
	g.via = via
	g.num = zeroed(g.num, n)
	g.low = zeroed(g.low, n)
	g.soonest = zeroed(g.soonest, n)
	g.late = zeroed(g.late, n)
	g.stack, g.order, g.starts = g.stack[:0], g.order[:0], g.starts[:0]
	g.cycles, g.misfits = g.cycles[:0], g.misfits[:0]
	counter := int32(0)
	for root := range w.txns {
		if g.num[root] != 0 {
			continue
		}
		counter = g.enter(w, int32(root), counter)
		for len(g.frames) > 0 {
			f := &g.frames[len(g.frames)-1]
			t := f.txn
			s := w.next(t, &f.cur)
			switch {
			case s == none:
				g.frames = g.frames[:len(g.frames)-1]
				if g.low[t] == g.num[t] {
					g.complete(w, t)
				}
				if len(g.frames) > 0 {
					g.join(w, g.frames[len(g.frames)-1].txn, t)
				}
			case g.num[s] == 0:
				counter = g.enter(w, s, counter)
			default:
				g.join(w, t, s)
			}
		}
	}
}

func (g *graph) enter(w *window, t, counter int32) int32 {
	counter++
	g.num[t], g.low[t] = counter, counter
	g.soonest[t] = w.txns[t].end
	g.stack = append(g.stack, t)
	g.frames = append(g.frames, frame{txn: t, cur: cursor{acc: w.txns[t].first}})
	return counter
}

// join takes over what successor s of t knows.
func (g *graph) join(w *window, t, s int32) {
	if g.low[s] != closed {
		g.low[t] = min(g.low[t], g.low[s])
	}
	if !w.txns[s].level.within(g.via) {
		return
	}
	g.soonest[t] = min(g.soonest[t], g.soonest[s])
	if g.late[s]&misfit != 0 {
		g.late[t] |= follows
	}
}

// within says that a path which may run through transactions of level via may run through one of this level.
func (l Level) within(via Level) bool { return l == LevelStrict || l == via }

// complete closes the component whose first transaction is t.
func (g *graph) complete(w *window, t int32) {
	start := int32(len(g.order))
	for {
		s := g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
		g.low[s] = closed
		g.soonest[s] = g.soonest[t]
		g.order = append(g.order, s)
		if s == t {
			break
		}
	}
	g.starts = append(g.starts, start)
	if end := int32(len(g.order)); end-start > 1 {
		g.cycles = append(g.cycles, [2]int32{start, end})
		return
	}
	if g.soonest[t] < w.txns[t].begin {
		if g.late[t]&follows == 0 {
			g.misfits = append(g.misfits, t)
		}
		g.late[t] |= misfit
	}
}

// hold spreads held to everything that must come after what is held, in
// topological order.
func (g *graph) hold(w *window) {
	end := int32(len(g.order))
	for c := len(g.starts) - 1; c >= 0; c-- {
		group := g.order[g.starts[c]:end]
		end = g.starts[c]
		if !slices.ContainsFunc(group, func(t int32) bool { return w.txns[t].held }) {
			continue
		}
		for _, t := range group {
			w.txns[t].held = true
			cur := cursor{acc: w.txns[t].first}
			for s := w.next(t, &cur); s != none; s = w.next(t, &cur) {
				w.txns[s].held = true
			}
		}
	}
}

func zeroed[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
