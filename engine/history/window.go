package history

// none is the index of nothing.
const none int32 = -1

// window holds the transactions that may still be part of an anomaly, and the
// versions they touched. Its arrays are refilled, not freed.
type window struct {
	txns     []node
	accs     []access
	versions []version
	aborts   []abort
	open     []int32 // versions that were touched before they were installed
	fresh    int     // transactions of LevelFresh
}

// node is a committed transaction: a node of the dependency graph.
type node struct {
	id         uint64
	begin, end int64
	first      int32 // its accesses are accs[first:last]
	last       int32
	stamp      uint64
	typ        uint8
	level      Level
	reported   uint8 // what was reported of it
	held       bool  // must not leave the window yet
}

// What was reported of a transaction is not reported again by the next check.
const (
	toldOrigin = 1 << iota // it touched a version of unknown origin
	toldCycle
	toldTime
)

// access is one read or write of a transaction.
type access struct {
	version int32 // that it read or installed
	other   int32 // of a read: the next access in the version's list of readers; of a write: the version overwritten, if still here
	txn     int32
	write   bool
}

// version is one version of a record within the window. Its edges are in it:
// writer before readers, writer before over, readers before over.
type version struct {
	seq      uint64
	key      int32
	writer   int32 // transaction that installed it, if still here
	over     int32 // transaction that overwrote it
	readers  int32 // list of accesses
	older    int32 // next version of the key in the window
	flags    uint8
	reported bool   // that it has two values
	sum      uint64 // of its value, 0 if unknown
}

const (
	isBase       = 1 << iota // installed before the window, or never
	isAborted                // an attempt that did not commit put it there
	intermediate             // its writer overwrote it itself
	ambiguous                // installed twice: says nothing about order
)

// abort is a version that an attempt put into a record although it did not commit.
type abort struct {
	id      uint64
	key     int32
	version int32
	seq     uint64
}

// find is k's version seq, made when missing.
func (w *window) find(ks *keyState, key int32, seq uint64) int32 {
	at := &ks.newest
	for *at != none {
		v := &w.versions[*at]
		if v.seq == seq {
			return *at
		}
		if v.seq < seq {
			break
		}
		at = &v.older
	}
	n := int32(len(w.versions))
	older := *at
	*at = n // before append: the array may move
	w.versions = append(w.versions, version{
		seq: seq, key: key, writer: none, over: none, readers: none, older: older,
	})
	v := &w.versions[n]
	if ks.hasBase() && seq == ks.base {
		v.flags, v.sum = isBase, ks.baseSum
	} else {
		w.open = append(w.open, n)
	}
	return n
}

// findFrom is find for a version of another window.
func (w *window) findFrom(ks *keyState, from *version) int32 {
	n := w.find(ks, from.key, from.seq)
	v := &w.versions[n]
	v.sum, v.reported = from.sum, from.reported
	return n
}

// say is what a transaction says of the value of version n. It reports whether that
// contradicts what was said before.
func (w *window) say(ks *keyState, n int32, sum uint64) (contradicts bool) {
	v := &w.versions[n]
	if v.sum == 0 {
		v.sum = sum
		if v.flags&isBase != 0 {
			ks.baseSum = sum
		}
	}
	return sum != 0 && sum != v.sum && v.flags&ambiguous == 0
}

// installed says that the version's origin is known.
func (v *version) installed() bool { return v.writer != none || v.flags&isBase != 0 }

// firstToucher is the transaction that read or overwrote version n and ended
// first, and whether it only overwrote it.
func (w *window) firstToucher(n int32) (t int32, wrote bool) {
	v := &w.versions[n]
	t, wrote = v.over, true
	for a := v.readers; a != none; a = w.accs[a].other {
		rd := w.accs[a].txn
		if t == none || w.txns[rd].end < w.txns[t].end || (rd == t && wrote) {
			t, wrote = rd, false
		}
	}
	return t, wrote
}

// holdTouchers keeps the transactions that read or overwrote version n.
func (w *window) holdTouchers(n int32) {
	v := &w.versions[n]
	if v.over != none {
		w.txns[v.over].held = true
	}
	for a := v.readers; a != none; a = w.accs[a].other {
		w.txns[w.accs[a].txn].held = true
	}
}

// addRead makes the last transaction a reader of version v.
func (w *window) addRead(v int32) {
	t := int32(len(w.txns) - 1)
	w.accs = append(w.accs, access{version: v, other: w.versions[v].readers, txn: t})
	w.versions[v].readers = int32(len(w.accs) - 1)
	w.txns[t].last = int32(len(w.accs))
}

// addWrite makes the last transaction the writer of version v over version old,
// as far as no other one is.
func (w *window) addWrite(v, old int32) {
	t := int32(len(w.txns) - 1)
	w.accs = append(w.accs, access{version: v, other: old, txn: t, write: true})
	w.txns[t].last = int32(len(w.accs))
	if old != none && w.versions[old].over == none {
		w.versions[old].over = t
	}
	n := &w.versions[v]
	if n.installed() {
		n.flags |= ambiguous
	} else {
		n.writer = t
	}
	for _, i := range [2]int32{v, old} {
		if i == none {
			continue
		}
		if x := &w.versions[i]; x.writer == t && x.over == t {
			x.flags |= intermediate
		}
	}
}

// cursor walks the transactions that must come after one, without a list of edges.
type cursor struct {
	acc    int32
	reader int32
	inside bool // in the list of readers
}

// next is the next successor of transaction t, none at the end. A successor may
// come more than once.
func (w *window) next(t int32, c *cursor) int32 {
	for last := w.txns[t].last; c.acc < last; {
		a := &w.accs[c.acc]
		v := &w.versions[a.version]
		switch {
		case !a.write:
			c.acc++
			if v.over != none && v.over != t && v.flags&intermediate == 0 {
				return v.over
			}
		case !c.inside:
			if v.writer != t || v.flags&(ambiguous|intermediate) != 0 {
				c.acc++
				continue
			}
			c.inside, c.reader = true, v.readers
			if v.over != none {
				return v.over
			}
		case c.reader == none:
			c.inside = false
			c.acc++
		default:
			r := &w.accs[c.reader]
			c.reader = r.other
			if r.txn != t {
				return r.txn
			}
		}
	}
	return none
}

// lacks says that a transaction read a version that one which ended before its begin had overwritten.
func (w *window) lacks(t int32) bool {
	cur := cursor{acc: w.txns[t].first}
	for s := w.next(t, &cur); s != none; s = w.next(t, &cur) {
		if w.txns[s].end < w.txns[t].begin {
			return true
		}
	}
	return false
}

// link is an edge of the dependency graph with its reason.
type link struct {
	from, to int32
	edge     Edge
	version  int32 // written (ww, wr) or read (rw) by from
}

// links appends the edges out of t, in the order of next.
func (w *window) links(t int32, out []link) []link {
	for i := w.txns[t].first; i < w.txns[t].last; i++ {
		a := &w.accs[i]
		v := &w.versions[a.version]
		if v.flags&intermediate != 0 {
			continue
		}
		if !a.write {
			if v.over != none && v.over != t {
				out = append(out, link{t, v.over, RW, a.version})
			}
			continue
		}
		if v.writer != t || v.flags&ambiguous != 0 {
			continue
		}
		if v.over != none {
			out = append(out, link{t, v.over, WW, a.version})
		}
		for r := v.readers; r != none; r = w.accs[r].other {
			if w.accs[r].txn != t {
				out = append(out, link{t, w.accs[r].txn, WR, a.version})
			}
		}
	}
	return out
}

func (w *window) reset() {
	w.txns = w.txns[:0]
	w.accs = w.accs[:0]
	w.versions = w.versions[:0]
	w.aborts = w.aborts[:0]
	w.open = w.open[:0]
	w.fresh = 0
}
