package kvbench

import (
	"errors"
	"fmt"
	"math"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/workload"
)

// runner is one coroutine's client.
type runner struct {
	b        *Bench
	c        *r2.Co
	kv       store.KVClient
	number   int // among the clients
	seq      uint32
	after    workload.Break
	value    []byte
	pairs    []store.Pair
	inserted [recentKeys]uint64 // keys that it inserted, the n-th in place n modulo their number
	n        uint64
	turn     r2.Time // of its next INSERT, where they come at a rate; 0: it has none yet
}

// Runner makes a coroutine's client.
func (b *Bench) Runner(c *r2.Co) workload.Runner {
	return &runner{b: b, c: c, kv: b.kv.Client(c), number: b.check.client(int(c.ID()), c.Machine()), value: make([]byte, b.o.ValueBytes)}
}

// maxScan is how many pairs a SCAN asks for at most (Table 3-1).
const maxScan = 100

// Next sends one request, or waits for its turn to. If its server is down the request ends with an error, and the client takes a
// break.
func (r *runner) Next() error {
	b := r.b
	paced := b.paces(r.c.Machine())
	if paced && !r.await() {
		return nil
	}
	begin := b.report.Begin(r.c, r2.Mode{Outstanding: true, Doorbell: true})
	b.check.began[r.number] = begin
	b.inFlight[r.c.Machine()]++
	typ := r.pick(paced)
	did, err := r.request(typ, begin)
	b.inFlight[r.c.Machine()]--
	b.check.began[r.number] = never
	switch {
	case err == nil:
		b.report.DoneAs(r.c, begin, uint8(typ), did)
		r.after.OK()
		return nil
	case !errors.Is(err, r2.ErrUnreachable):
		return fmt.Errorf("%s: %s: %w", b.o.Name, TypeNames[typ], err)
	}
	b.report.Failed(r.c, begin)
	r.after.Error(r.c)
	return nil
}

// paces says that a machine is the one that inserts at a rate.
func (b *Bench) paces(machine int) bool {
	return b.o.InsertRate > 0 && machine == b.pacer
}

// longestNap is how long a client sleeps before it looks again whether it is to go on: a drain waits for it.
const longestNap = 20_000_000

// await takes the next turn to insert, and says whether it has come. Turns for which no coroutine was free are lost: what is too
// fast for the server is not made up for.
func (r *runner) await() bool {
	const second = 1_000_000_000_000
	b, now := r.b, r.c.Now()
	if r.turn == 0 {
		r.turn = max(b.turn, now)
		b.turn = r.turn + second/r2.Time(b.o.InsertRate)
	}
	if wait := r.turn - now; wait > 0 {
		r.c.Sleep(min(wait, longestNap))
	}
	if r.c.Now() < r.turn {
		return false
	}
	r.turn = 0
	return true
}

// pick draws a type. Where one machine inserts, the others do not.
func (r *runner) pick(paced bool) int {
	if paced {
		return Insert
	}
	typ := r.b.mix.Pick(r.c.Rand())
	for typ == Insert && r.b.o.InsertRate > 0 {
		typ = r.b.mix.Pick(r.c.Rand())
	}
	return typ
}

// request sends a request of a type. did says that there was something to do: its key was there, or free for an INSERT.
func (r *runner) request(typ int, begin r2.Time) (did bool, err error) {
	switch typ {
	case Get:
		return r.get(r.key(), begin)
	case Update:
		return r.update(r.key())
	case Insert:
		return r.insert()
	case Scan:
		return r.scan(r.key(), 1+r.c.Rand().Intn(maxScan), begin)
	}
	key := r.key()
	if _, err := r.get(key, begin); err != nil {
		return false, err
	}
	return r.update(key)
}

func (r *runner) get(key uint64, begin r2.Time) (ok bool, err error) {
	ok, err = r.kv.Get(key, r.value)
	switch {
	case err != nil:
		return false, err
	case ok:
		r.b.check.read(key, r.value, begin, r.c.Now())
	default:
		r.b.check.missing(key, begin, r.c.Now())
	}
	return ok, nil
}

// write makes the next value of the client, and notes that it is being written.
func (r *runner) write(key uint64, inserts bool) (x id, begin r2.Time) {
	r.seq++
	x, begin = newID(uint32(r.number), r.seq), r.c.Now()
	put(key, x, r.value)
	r.b.check.begin(key, x, begin, inserts)
	return x, begin
}

func (r *runner) update(key uint64) (ok bool, err error) {
	x, begin := r.write(key, false)
	ok, err = r.kv.Update(key, r.value)
	if err != nil {
		r.b.check.failed(key, x)
		return false, err
	}
	r.b.check.end(key, x, begin, r.c.Now(), ok)
	return ok, nil
}

// insert adds a key that is uniformly random between the lowest and the highest initial one, and none of them.
func (r *runner) insert() (ok bool, err error) {
	keys := r.b.keys
	low, high := keys.Key(0), keys.Key(keys.Len()-1)
	key, taken := uint64(0), true
	for range maxDraws {
		key = between(r.c.Rand(), low, high)
		if _, taken = keys.Rank(key); !taken {
			break
		}
	}
	if taken {
		return false, fmt.Errorf("no key is free between the initial ones, which lie from %d to %d: choose another workload.dataset, or fewer keys", low, high)
	}
	x, begin := r.write(key, true)
	ok, err = r.kv.Insert(key, r.value)
	if err != nil {
		r.b.check.failed(key, x)
		return false, err
	}
	r.b.check.end(key, x, begin, r.c.Now(), ok)
	if ok {
		r.inserted[r.n%recentKeys] = key
		r.n++
	}
	return ok, nil
}

// between draws a key from low to high, both included: all there are has no number of its own.
func between(rand *r2.Rand, low, high uint64) uint64 {
	if low == 0 && high == math.MaxUint64 {
		return rand.Uint64()
	}
	return low + rand.Uint64n(high-low+1)
}

// maxDraws bounds the search for a key that is not there.
const maxDraws = 10_000

func (r *runner) scan(from uint64, n int, begin r2.Time) (found bool, err error) {
	if r.pairs, err = r.kv.Scan(from, n, r.pairs[:0]); err == nil {
		r.b.check.scan(from, n, r.pairs, begin, r.c.Now())
	}
	return len(r.pairs) > 0, err
}

// key draws the key of a request.
func (r *runner) key() uint64 {
	b, rand := r.b, r.c.Rand()
	n, own := b.keys.Len(), min(r.n, recentKeys)
	switch b.o.Distribution {
	case Zipfian:
		return b.keys.Key(b.zipf.Draw(rand))
	case Scrambled:
		return b.keys.Key(b.scatter.At(b.zipf.Draw(rand)))
	case Latest:
		if own > 0 {
			return r.inserted[(r.n-1-b.recent.Draw(rand)%own)%recentKeys]
		}
	}
	if i := rand.Uint64n(n + own); i >= n {
		return r.inserted[i-n]
	}
	return b.keys.Key(rand.Uint64n(n))
}
