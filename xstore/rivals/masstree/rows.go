package masstree

import (
	"math"

	"drtmx/engine/r2"
	"drtmx/xstore/rivals/lazy"
)

// rows are the values that do not fit a node. A row never changes while a reader may have its address: an update writes
// another row, and the old one is free once every operation that had begun by then has ended (Masstree's epochs).
type rows struct {
	array  *lazy.Array
	bytes  int
	next   uint64
	limbo  []retired // by time
	first  int       // of limbo that is not free
	begun  []r2.Time // by thread of the machine: when its operation began; idle
	unused []r2.Addr
}

type retired struct {
	row r2.Addr
	at  r2.Time
}

const idle = r2.Time(math.MaxInt64)

// waiting is how many rows may wait for their epoch's end: each of a machine's threads has one operation at a time.
const waiting = 1024

func newRows(t *tree, name string) (*rows, error) {
	n := t.keys.Len()
	r := &rows{bytes: t.spec.ValueBytes, next: n}
	for range t.cl.Threads(t.machine) {
		r.begun = append(r.begun, idle)
	}
	value := func(i uint64, b []byte) {
		if t.spec.Value != nil {
			t.spec.Value(t.keys.Key(i), b[:t.spec.ValueBytes])
		}
	}
	var err error
	r.array, err = lazy.New(t.cl, t.machine, lazy.Options{Name: name, Socket: t.socket, Size: (r.bytes + 7) &^ 7, N: n, Room: t.room + waiting, Make: value})
	return r, err
}

// enter begins an operation, which has a thread of its own until it ends.
func (r *rows) enter(c *r2.Co) {
	if r != nil {
		r.begun[c.Thread()] = c.Now()
	}
}

func (r *rows) leave(c *r2.Co) {
	if r != nil {
		r.begun[c.Thread()] = idle
	}
}

// alloc returns a row whose address no reader may have.
func (r *rows) alloc() (r2.Addr, bool) {
	oldest := idle
	for _, at := range r.begun {
		oldest = min(oldest, at)
	}
	for r.first < len(r.limbo) && r.limbo[r.first].at < oldest {
		r.unused = append(r.unused, r.limbo[r.first].row)
		r.first++
	}
	if r.first == len(r.limbo) || r.first > waiting {
		r.limbo = append(r.limbo[:0], r.limbo[r.first:]...)
		r.first = 0
	}
	if n := len(r.unused); n > 0 {
		a := r.unused[n-1]
		r.unused = r.unused[:n-1]
		return a, true
	}
	if r.next == r.array.Room() {
		return 0, false
	}
	r.next++
	return r.array.At(r.next - 1), true
}

// retire notes that no node has a row's address any more.
func (r *rows) retire(c *r2.Co, row r2.Addr) {
	r.limbo = append(r.limbo, retired{row, c.Now()})
}
