package kvscript

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/workload"
)

// runner is one coroutine's client.
type runner struct {
	w      *Script
	c      *r2.Co
	own    *answers // of its machine
	kv     store.KVClient
	number int // from 1
	list   []request
	value  []byte
	pairs  []store.Pair
}

// Runner makes a coroutine's client. The first clients of the script are on machines of their own, as far as there are any;
// then come the machines' second threads, and then the threads' second coroutines.
func (w *Script) Runner(c *r2.Co) workload.Runner {
	r := &runner{w: w, c: c, own: w.own.Of(c.Machine()), kv: w.kv.Client(c), value: make([]byte, w.o.ValueBytes)}
	if n := w.clientIndex(c); n < len(w.script.clients) {
		r.number, r.list = n+1, w.script.clients[n]
	}
	return r
}

// clientIndex is the number of a coroutine among the clients.
func (w *Script) clientIndex(c *r2.Co) (n int) {
	cl, threads := c.Cluster(), 0
	for _, m := range w.report.Env.Clients() {
		threads += cl.Threads(m)
		n += min(cl.Threads(m), c.Thread())
		if m < c.Machine() && cl.Threads(m) > c.Thread() {
			n++
		}
	}
	return n + c.Index()*threads
}

// pause is how long a client sleeps that has nothing to do any more.
const pause r2.Time = 1_000_000_000

// Next sends the client's next request, if there is one.
func (r *runner) Next() error {
	if len(r.list) == 0 {
		r.c.Sleep(pause)
		return nil
	}
	q := r.list[0]
	r.list = r.list[1:]
	begin := r.w.report.Begin(r.c, r2.Mode{Outstanding: true, Doorbell: true})
	r.own.inFlight++
	did, err := r.send(q, begin)
	r.own.inFlight--
	r.own.ended++
	if err != nil {
		return fmt.Errorf("kvscript: %v: %w", q, err)
	}
	r.w.report.DoneAs(r.c, begin, uint8(q.kind), did)
	return nil
}

// send sends a request and notes its answer. did says that there was something to do.
func (r *runner) send(q request, begin r2.Time) (did bool, err error) {
	if q.kind == scan {
		if r.pairs, err = r.kv.Scan(q.key, q.n, r.pairs[:0]); err == nil {
			r.scanned(q, begin)
		}
		return len(r.pairs) > 0, err
	}
	o := operation{kind: q.kind, client: r.number, begin: begin}
	switch q.kind {
	case get:
		if o.done, err = r.kv.Get(q.key, r.value); o.done {
			o.value = r.w.parseValue(r.own, q.key, r.value)
		}
	case update:
		o.value = r.write(q)
		o.done, err = r.kv.Update(q.key, r.value)
	case insert:
		o.value = r.write(q)
		o.done, err = r.kv.Insert(q.key, r.value)
	default:
		o.done, err = r.kv.Delete(q.key)
	}
	o.end = r.c.Now()
	r.own.list = append(r.own.list, answer{q.key, o})
	return o.done, err
}

// write makes the value of a write, which no other one has.
func (r *runner) write(q request) state {
	fill(q.key, q.value, r.value)
	return q.value
}

// scanned takes in what a scan found, and did not find, of the keys that it came past.
func (r *runner) scanned(q request, begin r2.Time) {
	w, next := r.w, q.key
	found := map[uint64]state{}
	for _, p := range r.pairs {
		if p.Key < next {
			r.own.refute("a scan of %d from key %d has key %d behind key %d", q.n, q.key, p.Key, next-1)
			return
		}
		found[p.Key] = w.parseValue(r.own, p.Key, p.Value)
		next = p.Key + 1
	}
	if len(r.pairs) < q.n {
		next = mostKey
	}
	for _, key := range w.keys {
		if key < q.key || key >= next {
			continue
		}
		r.own.list = append(r.own.list, answer{key, operation{kind: get, value: found[key], client: r.number, begin: begin, end: r.c.Now()}})
		delete(found, key)
	}
	for _, p := range r.pairs {
		if _, left := found[p.Key]; left {
			r.own.refute("a scan from key %d has key %d, which no client inserted", q.key, p.Key)
		}
	}
}
