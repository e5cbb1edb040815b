package nvm

import "drtmx/engine/sim"

// window is a queue with a number of entries, which are used in turn: an entry
// is free again when what was in it has left, and so has all before.
type window struct {
	left   []sim.Time // when the occupant of an entry leaves
	next   int
	latest sim.Time
}

func newWindow(entries int) window { return window{left: make([]sim.Time, entries)} }

// room is from when on there is a free entry.
func (w *window) room() sim.Time { return w.left[w.next] }

// push fills the next entry until leaves.
func (w *window) push(leaves sim.Time) {
	w.latest = max(w.latest, leaves)
	w.left[w.next] = w.latest
	if w.next++; w.next == len(w.left) {
		w.next = 0
	}
}

// list is a queue of XLines, linked through them, so that one can leave from its
// middle.
type list struct{ first, last int32 }

func (m *dimm) append(i int32) {
	x := &m.xlines[i]
	x.before, x.after = m.complete.last, none
	if x.before == none {
		m.complete.first = i
	} else {
		m.xlines[x.before].after = i
	}
	m.complete.last = i
}

func (m *dimm) remove(i int32) {
	x := &m.xlines[i]
	if x.before == none {
		m.complete.first = x.after
	} else {
		m.xlines[x.before].after = x.after
	}
	if x.after == none {
		m.complete.last = x.before
	} else {
		m.xlines[x.after].before = x.before
	}
}
