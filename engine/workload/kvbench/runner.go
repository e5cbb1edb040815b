package kvbench

import (
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/workload"
)

// runner is one coroutine's client.
type runner struct {
	b      *Bench
	c      *r2.Co
	kv     store.KVClient
	number int // among the clients
	seq    uint32
	after  workload.Break
	value  []byte
	pairs  []store.Pair
	own    [recentKeys]uint64 // keys that it inserted, the n-th in place n modulo their number
	n      uint64
}

// Runner makes a coroutine's client.
func (b *Bench) Runner(c *r2.Co) workload.Runner {
	return &runner{b: b, c: c, kv: b.kv.Client(c), number: b.check.client(c.Machine()), value: make([]byte, b.o.ValueBytes)}
}

// maxScan is how many pairs a SCAN asks for at most (Table 3-1).
const maxScan = 100

// Next sends one request. If its server is down it ends with an error, and the client takes a break.
func (r *runner) Next() error {
	b := r.b
	begin := b.report.Begin(r.c, r2.Mode{Outstanding: true, Doorbell: true})
	b.check.began[r.number] = begin
	b.inFlight[r.c.Machine()]++
	typ := b.mix.Pick(r.c.Rand())
	err := r.request(typ, begin)
	b.inFlight[r.c.Machine()]--
	b.check.began[r.number] = never
	switch {
	case err == nil:
		b.report.DoneAs(r.c, begin, uint8(typ))
		r.after.OK()
		return nil
	case !errors.Is(err, r2.ErrUnreachable):
		return fmt.Errorf("%s: %s: %w", b.o.Name, TypeNames[typ], err)
	}
	b.report.Failed(r.c, begin)
	r.after.Error(r.c)
	return nil
}

func (r *runner) request(typ int, begin r2.Time) error {
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
	if err := r.get(key, begin); err != nil {
		return err
	}
	return r.update(key)
}

func (r *runner) get(key uint64, begin r2.Time) error {
	ok, err := r.kv.Get(key, r.value)
	switch {
	case err != nil:
		return err
	case ok:
		r.b.check.read(key, r.value, begin, r.c.Now())
	default:
		r.b.check.missing(key, begin, r.c.Now())
	}
	return nil
}

// write makes the next value of the client, and notes that it is being written.
func (r *runner) write(key uint64, inserts bool) (x id, begin r2.Time) {
	r.seq++
	x, begin = newID(uint32(r.number), r.seq), r.c.Now()
	put(key, x, r.value)
	r.b.check.begin(key, x, begin, inserts)
	return x, begin
}

func (r *runner) update(key uint64) error {
	x, begin := r.write(key, false)
	ok, err := r.kv.Update(key, r.value)
	if err != nil {
		r.b.check.failed(key, x)
		return err
	}
	r.b.check.end(key, x, begin, r.c.Now(), ok)
	return nil
}

// insert adds a key that is uniformly random between the lowest and the highest initial one, and none of them.
func (r *runner) insert() error {
	keys := r.b.keys
	low, high := keys.Key(0), keys.Key(keys.Len()-1)
	key, taken := uint64(0), true
	for range maxDraws {
		key = low + r.c.Rand().Uint64n(high-low+1)
		if _, taken = keys.Rank(key); !taken {
			break
		}
	}
	if taken {
		return fmt.Errorf("no key is free between the initial ones, which lie from %d to %d: choose another workload.dataset, or fewer keys", low, high)
	}
	x, begin := r.write(key, true)
	ok, err := r.kv.Insert(key, r.value)
	if err != nil {
		r.b.check.failed(key, x)
		return err
	}
	r.b.check.end(key, x, begin, r.c.Now(), ok)
	if ok {
		r.own[r.n%recentKeys] = key
		r.n++
	}
	return nil
}

// maxDraws bounds the search for a key that is not there.
const maxDraws = 10_000

func (r *runner) scan(from uint64, n int, begin r2.Time) (err error) {
	if r.pairs, err = r.kv.Scan(from, n, r.pairs[:0]); err == nil {
		r.b.check.scan(from, n, r.pairs, begin, r.c.Now())
	}
	return err
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
			return r.own[(r.n-1-b.recent.Draw(rand)%own)%recentKeys]
		}
	}
	if i := rand.Uint64n(n + own); i >= n {
		return r.own[i-n]
	}
	return b.keys.Key(rand.Uint64n(n))
}
