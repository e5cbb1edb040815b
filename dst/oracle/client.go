package oracle

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/membership"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// client is what the schemes have in common on the machines that run transactions.
type client struct {
	env      timestamp.Env
	oracle   int   // its machine
	clients  []int // machines that run transactions
	name     string
	opt      options
	requests owned.Each[map[uint32]*request] // by machine and coroutine
	fetchers []*fetcher                      // by machine, nil where no transactions run
	low      []low                           // by machine
	reserved bool                            // threads are, for fetching

	// fetch asks the oracle for the point, and for the number that was given out last where there is one.
	fetch func(c *r2.Co, p *timestamp.Point) (newest uint64, err error)
}

// options are the knobs, as they are in force.
type options struct {
	batching, compression, fetchThread, stable, readers bool
	period                                              r2.Time // of the fetch thread
}

func optionsOf(v knob.Values) options {
	return options{
		batching: v.Bool(batchingKnob), compression: v.Bool(compressionKnob), fetchThread: v.Bool(fetchThreadKnob), stable: v.Bool(stableKnob), readers: v.Bool(readersKnob),
		period: r2.Time(v.Int(fetchKnob)) * r2.Nanosecond,
	}
}

// clientOf reads which machine is the oracle.
func clientOf(e timestamp.Env, name string) (client, error) {
	m, ok := e.Members.First(membership.Oracle)
	if !ok {
		return client{}, fmt.Errorf("ts.scheme %s: there is no machine for the timestamp oracle; set oracle=true", name)
	}
	return client{env: e, name: name, oracle: m, clients: e.Members.Of(membership.Client)}, nil
}

func (o *client) open(words int, fetch func(c *r2.Co, p *timestamp.Point) (uint64, error)) error {
	cl := o.env.Cluster
	o.fetch, o.opt = fetch, optionsOf(o.env.Options().Values)
	o.low = make([]low, cl.Machines())
	o.requests = owned.New(cl.Machines(), func(int) map[uint32]*request { return map[uint32]*request{} })
	o.fetchers = make([]*fetcher, cl.Machines())
	for _, m := range o.clients {
		f, err := newFetcher(o, m, words)
		if err != nil {
			return err
		}
		o.fetchers[m] = f
	}
	return nil
}

// reset reads the knobs, at rest, and has the fetch threads run transactions or not.
func (o *client) reset(on bool) {
	o.opt = optionsOf(o.env.Options().Values)
	o.reserve(on && o.opt.fetchThread)
}

// Tune reads those that say how requests travel and who sends them. What a stamp means does not change.
func (o *client) Tune() {
	now := optionsOf(o.env.Options().Values)
	o.opt.batching, o.opt.fetchThread, o.opt.period = now.batching, now.fetchThread, now.period
	o.reserve(now.fetchThread)
}

func (o *client) reserve(reserve bool) {
	if reserve == o.reserved {
		return
	}
	o.reserved = reserve
	for _, m := range o.clients {
		o.env.Cluster.Reserve(m, o.env.Cluster.Threads(m)-1, reserve)
	}
}

// forget drops the points that the machines have.
func (o *client) forget() {
	clear(o.low)
	for _, f := range o.fetchers {
		if f != nil {
			f.fresh = false
		}
	}
}

// request is the one of a coroutine, which asks for one thing at a time.
func (o *client) request(c *r2.Co) *request {
	own := *o.requests.Of(c.Machine())
	r := own[c.ID()]
	if r == nil {
		r = new(request)
		own[c.ID()] = r
	}
	return r
}

// begin is where a snapshot of a session that begins now reads. It asks the fetch thread, where there is one, unless it has to be strict.
func (o *client) begin(c *r2.Co, s *timestamp.Session, f timestamp.Freshness, p *timestamp.Point) error {
	l := &o.low[c.Machine()]
	e := l.enter()
	err := o.await(c, s, f, p)
	l.leave(e)
	return err
}

// await asks until the point covers what the freshness wants. All that it waits for is installed, or its installation under way.
func (o *client) await(c *r2.Co, s *timestamp.Session, f timestamp.Freshness, p *timestamp.Point) error {
	if x := o.fetchers[c.Machine()]; x != nil && o.opt.fetchThread && f != timestamp.Strict {
		return x.await(c, s, f, p)
	}
	wanted, err := o.fetch(c, p)
	for err == nil && !covers(p, s, f, wanted) {
		calm(c)
		_, err = o.fetch(c, p)
	}
	return err
}

// covers says whether a point is as new as a snapshot of that freshness has to be. wanted is the number that was given out last
// when it began.
func covers(p *timestamp.Point, s *timestamp.Session, f timestamp.Freshness, wanted uint64) bool {
	switch f {
	case timestamp.BySession:
		return timestamp.Visible(s.Seen, p.Words)
	case timestamp.Strict:
		return timestamp.Visible(s.Seen, p.Words) && p.Words[0] >= wanted
	}
	return true
}

// Low is a point below which no snapshot of c's machine begins from now on.
func (o *client) Low(c *r2.Co, p *timestamp.Point) {
	l := &o.low[c.Machine()]
	if l.advance() {
		if err := o.await(c, &l.session, timestamp.Stale, &l.next); err == nil {
			l.turn()
		}
	}
	p.Copy(l.now.Words)
}

func (o *client) Wait(c *r2.Co, x *timestamp.Txn) {}

// Bound promises nothing: how far behind the stable timestamp is depends on the slowest transaction and on the oracle's load.
func (o *client) Bound() (ns int64, ok bool) { return 0, false }

// report fails the run: a number that the oracle does not hear of stops the stable timestamp for good.
func (o *client) report(c *r2.Co, err error) {
	if err != nil {
		c.Fail(err)
	}
}

// low finds points that no snapshot of a machine begins below any more. A point that has just come from the oracle is one as soon as
// all are done that were waiting for theirs when it came.
type low struct {
	now, next timestamp.Point
	session   timestamp.Session
	turns     int
	waiting   [2]int // for their point, by the parity of the turn that they began in
}

func (l *low) enter() (turn int) {
	l.waiting[l.turns&1]++
	return l.turns
}

func (l *low) leave(turn int) { l.waiting[turn&1]-- }

// advance makes next the low point if it is one. False: it is not yet.
func (l *low) advance() bool {
	if l.waiting[(l.turns+1)&1] > 0 {
		return false
	}
	l.now.Copy(l.next.Words)
	return true
}

// turn begins to wait for those that may have a point below next.
func (l *low) turn() { l.turns++ }
