package kvbench

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

const (
	mostRegisters = 2_000_000 // keys that are watched at most
	sampledOf     = 64        // of so many keys, one is watched where check is sampled
	manyWrites    = 8         // of a key, from which on those are dropped that no answer can have any more
	never         = r2.Time(1<<63 - 1)
)

// register is what is known of the value of a key that was written: the writes whose values an answer may still have.
type register struct{ writes []write }

// write is a value, and when it came to be: between begin and end, and not after somebody has seen it.
type write struct {
	id         id
	begin, end r2.Time // end is never while it is under way
	seen       r2.Time // end of the first request that had it; never: nobody
}

// since is when the write was in effect at the latest.
func (w *write) since() r2.Time { return min(w.end, w.seen) }

// checker judges answers while they come in (§3.4.3, no lost keys). It is sound: what it reports cannot have happened in any
// order of the requests. Two writes that overlapped may have come in either order, and it does not conclude which one it was.
type checker struct {
	keys      store.Keys
	every     uint64 // a key in so many is watched; 0: none
	registers map[uint64]*register
	given     uint64              // registers given up: keys whose hash is divisible by every are watched, and every doubles
	inserted  map[uint64][]uint64 // watched keys that were inserted, by the number of initial keys below them
	began     []r2.Time           // by client: its request, or never
	horizon   r2.Time             // nothing under way began before it; it may be an old one
	asked     int                 // since it was looked for
	scratch   []byte
	fault     string // the first
	checked   uint64
}

func newChecker(keys store.Keys, mode string, valueBytes int) *checker {
	k := &checker{keys: keys, registers: map[uint64]*register{}, inserted: map[uint64][]uint64{}, scratch: make([]byte, valueBytes)}
	switch mode {
	case "full":
		k.every = 1
	case "sampled":
		k.every = sampledOf
	}
	return k
}

// watches says whether a key's answers are judged.
func (k *checker) watches(key uint64) bool { return k.every > 0 && hash(key)%k.every == 0 }

func (k *checker) report(format string, args ...any) {
	if k.fault == "" {
		k.fault = fmt.Sprintf(format, args...)
	}
}

// client gives a client its number.
func (k *checker) client() int {
	k.began = append(k.began, never)
	return len(k.began) - 1
}

// register is that of a key, made when it is first written.
func (k *checker) register(key uint64) *register {
	if r := k.registers[key]; r != nil {
		return r
	}
	if len(k.registers) >= mostRegisters {
		k.thin()
	}
	r := &register{}
	if _, ok := k.keys.Rank(key); ok {
		r.writes = append(r.writes, write{id: initial, seen: never})
	}
	k.registers[key] = r
	return r
}

// thin gives every second key up.
func (k *checker) thin() {
	k.every *= 2
	for key := range k.registers { // order-free: what goes depends on the key alone
		if !k.watches(key) {
			delete(k.registers, key)
		}
	}
}

// begin notes a write that begins.
func (k *checker) begin(key uint64, x id, at r2.Time) {
	if !k.watches(key) {
		return
	}
	r := k.register(key)
	if len(r.writes) >= manyWrites {
		k.drop(r)
	}
	r.writes = append(r.writes, write{id: x, begin: at, end: never, seen: never})
}

// end notes that a write has ended. One that did nothing, an INSERT of a key that is there, is taken back.
func (k *checker) end(key uint64, x id, at r2.Time, done bool) {
	if !k.watches(key) {
		return
	}
	r := k.registers[key]
	for i := range r.writes {
		if w := &r.writes[i]; w.id == x {
			if w.end = at; !done {
				r.writes = append(r.writes[:i], r.writes[i+1:]...)
			}
			return
		}
	}
}

// drop forgets writes that were overwritten for good before anything began that is under way.
func (k *checker) drop(r *register) {
	if k.asked++; k.asked%16 == 1 {
		k.horizon = never
		for _, b := range k.began {
			k.horizon = min(k.horizon, b)
		}
	}
	kept := r.writes[:0]
	for _, w := range r.writes {
		if r.over(&w, k.horizon) == nil {
			kept = append(kept, w)
		}
	}
	r.writes = kept
}

// over is a write that has certainly replaced w before a time.
func (r *register) over(w *write, before r2.Time) *write {
	for i := range r.writes {
		if y := &r.writes[i]; y.begin > w.end && y.since() < before {
			return y
		}
	}
	return nil
}

// read judges a value that a request from begin to end had for a key.
func (k *checker) read(key uint64, value []byte, begin, end r2.Time) {
	if !k.watches(key) {
		return
	}
	k.checked++
	x, wrong := parse(key, value, k.scratch)
	if wrong != "" {
		k.report("key %d has value %x, %s", key, value, wrong)
		return
	}
	r := k.registers[key]
	if r == nil {
		if x != initial {
			k.report("key %d has the value of write %d of client %d, which nobody made", key, x.seq(), x.writer())
		}
		return
	}
	for i := range r.writes {
		w := &r.writes[i]
		if w.id != x {
			continue
		}
		if y := r.over(w, begin); y != nil {
			k.report("key %d: a request from %d to %d ns had the value of %v, which %v had replaced", key, begin/1000, end/1000, w, y)
		}
		if w.begin > end {
			k.report("key %d: a request from %d to %d ns had the value of %v", key, begin/1000, end/1000, w)
		}
		w.seen = min(w.seen, end)
		return
	}
	k.report("key %d: a request from %d to %d ns had the value of write %d of client %d, which was replaced long before, or never made", key, begin/1000, end/1000, x.seq(), x.writer())
}

func (w *write) String() string {
	what := fmt.Sprintf("write %d of client %d", w.id.seq(), w.id.writer())
	if w.id == initial {
		what = "the begin"
	}
	if w.end == never {
		return fmt.Sprintf("%s (from %d ns, under way)", what, w.begin/1000)
	}
	return fmt.Sprintf("%s (%d to %d ns)", what, w.begin/1000, w.end/1000)
}

// missing judges that a key was not found: it is lost if it had been there when the request began, for nobody deletes.
func (k *checker) missing(key uint64, begin r2.Time) {
	if !k.watches(key) {
		return
	}
	k.checked++
	if _, ok := k.keys.Rank(key); ok {
		k.report("key %d is lost: it was there from the start", key)
		return
	}
	k.absent(key, begin)
}

// absent is missing of a key that was not there from the start.
func (k *checker) absent(key uint64, begin r2.Time) {
	r := k.registers[key]
	if r == nil {
		return
	}
	for i := range r.writes {
		if w := &r.writes[i]; w.since() < begin {
			k.report("key %d is lost: %v, and a request that began at %d ns did not find it", key, w, begin/1000)
		}
	}
}

// insert notes where a key was inserted, for scans.
func (k *checker) insert(key uint64) {
	if k.watches(key) {
		below, _ := k.keys.Rank(key)
		k.inserted[below] = append(k.inserted[below], key)
	}
}

// scan judges the pairs that a request for n from a key on had: their order, their values, and that no key is left out.
func (k *checker) scan(from uint64, n int, pairs []store.Pair, begin, end r2.Time) {
	if k.every == 0 {
		return
	}
	rank, _ := k.keys.Rank(from)
	next := from
	gap := func(to uint64, last bool) { // nothing was found from next to before to
		for ; rank < k.keys.Len() && (last || k.keys.Key(rank) < to); rank++ {
			k.gap(rank, next, to, last, begin)
			k.missing(k.keys.Key(rank), begin)
		}
		k.gap(rank, next, to, last, begin)
	}
	for i := range pairs {
		p := &pairs[i]
		if p.Key < next {
			k.report("a scan of %d from key %d has key %d behind key %d", n, from, p.Key, next-1)
			return
		}
		gap(p.Key, false)
		k.read(p.Key, p.Value, begin, end)
		if rank < k.keys.Len() && k.keys.Key(rank) == p.Key {
			rank++
		}
		next = p.Key + 1
	}
	if len(pairs) < n {
		gap(0, true)
	}
}

// gap judges that inserted keys below the initial one of a rank were not found, those from next on and, but for the last gap, before
// to.
func (k *checker) gap(rank, next, to uint64, last bool, begin r2.Time) {
	for _, key := range k.inserted[rank] {
		if key >= next && (last || key < to) {
			k.absent(key, begin)
		}
	}
}
