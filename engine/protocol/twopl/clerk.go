package twopl

import (
	"drtmx/engine/r2"
)

// A request that waits has no answer yet: its ticket answers it later. One that has waited too long, for one lock or for
// several, is refused, for it may be in a deadlock. The clerk of a thread, a coroutine in the background, ends the waits
// that began there.

// clerk ends the waits of one thread.
type clerk struct {
	t       *table
	co      *r2.Co // nil: no request has waited yet. It comes after the coroutines of clients, whose numbers begin at 0
	waiting []wait // in the order of their ends
	first   int    // of them, that has not ended
	asleep  bool   // it waits for a wait
	next    list   // the parties to resume, of the handler that runs on the thread, or of the clerk
}

// wait is one wait of a request: another one has another turn.
type wait struct {
	r     *request
	turn  uint32
	until r2.Time
}

// longestNap is how long a clerk sleeps at most while requests wait.
const longestNap = 1_000_000 * r2.Nanosecond

// run is the clerk's program.
func (k *clerk) run(c *r2.Co) {
	for {
		for k.first < len(k.waiting) && k.waiting[k.first].over() {
			k.first++
		}
		if k.first == len(k.waiting) {
			k.waiting, k.first, k.asleep = k.waiting[:0], 0, true
			c.Suspend()
			continue
		}
		x := k.waiting[k.first]
		if left := x.until - c.Now(); left > 0 { // measured: a timeout, on one core
			c.Sleep(min(left, longestNap)) // by then one may have come that ends before: the knob changes live
			continue
		}
		k.first++
		k.t.expire(c, x)
	}
}

// over says that the request waits no more, or for another lock.
func (x *wait) over() bool { return x.r.turn != x.turn || x.r.at == nil }

// add has the clerk of the core watch a wait that begins.
func (k *clerk) add(c *r2.Co, r *request, until r2.Time) {
	if k.first > 64 && 2*k.first > len(k.waiting) {
		k.waiting, k.first = k.waiting[:copy(k.waiting, k.waiting[k.first:])], 0
	}
	k.waiting = append(k.waiting, wait{r, r.turn, until})
	for i := len(k.waiting) - 1; i > k.first && k.waiting[i-1].until > until; i-- { // it has waited before
		k.waiting[i-1], k.waiting[i] = k.waiting[i], k.waiting[i-1]
	}
	switch {
	case k.co == nil:
		k.co = k.t.p.Cl.SpawnBackground(c.Machine(), c.Thread(), "twopl.clerk", k.run)
	case k.asleep:
		k.asleep = false
		c.Wake(k.co)
	}
}

// suspend has a request wait for a lock that is latched.
func (t *table) suspend(c *r2.Co, r *request, l *lock) {
	r.at = l
	r.turn++
	t.counts.waits++
	if r.ticket == nil {
		r.until = c.Now() + t.p.Cfg.longest // measured: a timeout, on one core
		rest := len(r.items)
		r.ticket = c.Defer()
		all := r.ticket.Req()
		r.items = all[len(all)-rest:]
	}
	t.clerks[c.Thread()].add(c, r, r.until)
}

// expire refuses a request that has waited too long, unless it got its lock meanwhile.
func (t *table) expire(c *r2.Co, x wait) {
	l := x.r.at
	if x.over() {
		return
	}
	at := l.at
	word := t.latch(c, at)
	if x.over() {
		t.unlatch(c, at, word, word)
		return
	}
	next := &t.clerks[c.Thread()].next
	l.remove(x.r)
	l.grant(next)
	t.unlatch(c, at, word, l.word())
	t.counts.timeouts++
	t.refuse(c, x.r)
	t.resume(c, next)
}

// refuse answers a request that waits no more with no.
func (t *table) refuse(c *r2.Co, r *request) {
	r.failed = true
	t.answer(c, r)
}

// answer answers a request that has waited.
func (t *table) answer(c *r2.Co, r *request) { r.ticket.Answer(c, r.reply) }
