package ordered

import (
	"fmt"

	"drtmx/engine/kv/btree"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/wire"
)

// Dated is a table of which snapshots are read. Each leaf has a guard: the highest point at which a snapshot has scanned
// it. A transaction that enters a key in a leaf has to come after its guard, or a snapshot would have missed what it had to see. An
// entry that is taken out stays, with the stamp from which on it is gone.
type Dated struct {
	*Table
	visible func(stamp uint64, point []uint64) bool
	parts   []datedPart
	ended   []lifetimeEnds // by server
	guards  []r2.Addr      // by server, reserved
	claims  []claiming     // by server: scratch of handlers
}

const guardBytes = 8

// datedPart is what a part has beside its tree.
type datedPart struct {
	t       *Dated
	guards  []uint64             // by leaf
	retired map[uint64]lifetimes // of keys that had lives which are still needed: looked up only
	point   []uint64             // of the scan under way, nil: what is there now
	splits  func(leaf, right int32)
}

// lifetimes are those of a key that have ended and are not collected: from first on, each with the next one. Then comes one that
// has not ended, or none.
type lifetimes struct {
	first, last uint64 // endings, counted from 1
	on          bool
}

// lifetimeEnd is the end of a life.
type lifetimeEnd struct {
	part, key, value, stamp uint64
	next                    uint64 // of the key
}

// lifetimeEnds are those of a server, in the order in which they came.
type lifetimeEnds struct {
	list        []lifetimeEnd // ending i at i mod the length, which is a power of two
	first, next uint64
}

// claiming is the claim of a request.
type claiming struct {
	claim store.Claim
	words []uint64
}

// date makes a table dated.
func (t *Table) date(visible func(stamp uint64, point []uint64) bool) error {
	d := &Dated{Table: t, visible: visible, parts: make([]datedPart, t.spec.Parts), ended: make([]lifetimeEnds, t.spec.Servers), claims: make([]claiming, t.spec.Servers)}
	for m := range t.spec.Servers {
		a, err := t.cl.Mem(m).Reserve("ordered."+t.spec.Name+".guards", t.share*t.spec.Nodes*guardBytes, 0)
		if err != nil {
			return fmt.Errorf("ordered table %s: %w", t.spec.Name, err)
		}
		d.guards = append(d.guards, a)
		d.ended[m] = lifetimeEnds{list: make([]lifetimeEnd, 64), first: 1, next: 1}
	}
	t.dated = d
	t.cl.OnSpoil(func(m int) {
		if m < len(d.claims) {
			clear(d.claims[m].words)
		}
	})
	return nil
}

// follow is called when a part's tree is made.
func (t *Dated) follow(part uint64) {
	p, x := &t.parts[part], t.trees[part]
	p.t, p.splits = t, p.copyGuard
	x.Watch = p
}

// copyGuard has a new leaf guarded as the one that it takes keys of. The number may be that of a leaf that went.
func (p *datedPart) copyGuard(leaf, right int32) {
	g := *p.guard(leaf)
	*p.guard(right) = g
}

// Split and Gone are those of btree.Watch.
func (p *datedPart) Split(leaf, right int32) { p.splits(leaf, right) }

// Gone has the leaf that takes over guarded as the one that went, too.
func (p *datedPart) Gone(leaf, into int32) {
	from := *p.guard(leaf)
	g := p.guard(into)
	*g = max(*g, from)
}

func (p *datedPart) guard(leaf int32) *uint64 {
	for int(leaf) >= len(p.guards) {
		p.guards = append(p.guards, 0)
	}
	return &p.guards[leaf]
}

// at is the value of a key that is in the tree, which has another one now, at the point of the scan; ok is false where it had
// none any more.
func (p *datedPart) at(part, key, now uint64) (value uint64, ok bool) {
	l := p.retired[key]
	if l == (lifetimes{}) {
		return now, true
	}
	if p.point != nil {
		q := &p.t.ended[p.t.Primary(part)]
		for i := l.first; i != 0; i = q.at(i).next {
			if e := q.at(i); !p.t.visible(e.stamp, p.point) {
				return e.value, true
			}
		}
	}
	return now, l.on
}

func (q *lifetimeEnds) at(i uint64) *lifetimeEnd { return &q.list[i&uint64(len(q.list)-1)] }

// add appends an ending and returns its number.
func (q *lifetimeEnds) add(e lifetimeEnd) uint64 {
	if n := uint64(len(q.list)); q.next-q.first == n {
		grown := lifetimeEnds{list: make([]lifetimeEnd, 2*n)}
		for i := q.first; i < q.next; i++ {
			*grown.at(i) = *q.at(i)
		}
		q.list = grown.list
	}
	*q.at(q.next) = e
	q.next++
	return q.next - 1
}

// guardAt is where the guard of a leaf is.
func (t *Dated) guardAt(part uint64, leaf int32) r2.Addr {
	return t.guards[t.Primary(part)] + r2.Addr((part%t.share*t.spec.Nodes+uint64(leaf)%t.spec.Nodes)*guardBytes)
}

// ScanAt appends the entries of a range, as of a point, to dst.
func (t *Dated) ScanAt(c *r2.Co, at store.Claim, r Range, dst []Entry) ([]Entry, error) {
	if len(at.Point) == 0 {
		return dst, fmt.Errorf("ordered table %s: scan at no point: give its words", t.spec.Name)
	}
	return t.scan(c, &at, r, dst)
}

// Enter adds an entry, or says ErrExists.
func (t *Dated) Enter(c *r2.Co, part, key, value uint64) (guard uint64, err error) {
	if t.local(c, part) {
		return t.enterLocal(c, part, key, value)
	}
	return t.change(c, t.service.rpcInsert, flagDated, ErrExists, part, key, value)
}

// Retire ends an entry's life with a stamp, or says ErrMissing.
func (t *Dated) Retire(c *r2.Co, part, key, stamp uint64) error {
	if t.local(c, part) {
		return t.retireLocal(c, part, key, stamp)
	}
	_, err := t.change(c, t.service.rpcDelete, flagDated, ErrMissing, part, key, stamp)
	return err
}

// claimOf is the claim of a request, until others have their turn.
func (t *Dated) claimOf(c *r2.Co, req []byte) *store.Claim {
	x := &t.claims[c.Machine()]
	x.words = x.words[:0]
	for b := req[requestBytes:]; len(b) >= 8; b = b[8:] {
		x.words = append(x.words, wire.Get64(b))
	}
	x.claim = store.Claim{Point: x.words, Raise: req[1]&flagRaise != 0}
	return &x.claim
}

// scanLocal is ScanAt on the part's server.
func (t *Dated) scanLocal(c *r2.Co, at *store.Claim, r Range, dst []Entry) []Entry {
	c.Load64(t.head(r.Part))
	return t.scanNow(c, at, r, dst)
}

// scanNow claims the leaves that a scan passes and appends what is there at the point. That is one moment: a transaction that enters a
// key sees the claim, or was seen.
func (t *Dated) scanNow(c *r2.Co, at *store.Claim, r Range, dst []Entry) []Entry {
	x, p := t.tree(r.Part), &t.parts[r.Part]
	old := len(dst)
	p.point = at.Point
	if r.Down {
		dst = x.Down(r.From, r.To, r.Limit, dst)
	} else {
		dst = x.Up(r.From, r.To, r.Limit, dst)
	}
	for i := range dst[old:] {
		e := &dst[old+i]
		e.Value, _ = p.at(r.Part, e.Key, e.Value)
	}
	p.point = nil
	if at.Raise {
		for _, n := range x.Visited() {
			if x.IsLeaf(n) {
				g := p.guard(n)
				*g = max(*g, at.Point[0])
			}
		}
	}
	t.charge(c, r.Part, x)
	if at.Raise {
		for _, n := range x.Visited() {
			if x.IsLeaf(n) {
				c.Touch(t.guardAt(r.Part, n), guardBytes)
			}
		}
	}
	return dst
}

// enterLocal adds an entry on the part's server.
func (t *Dated) enterLocal(c *r2.Co, part, key, value uint64) (guard uint64, err error) {
	t.bump(c, part)
	x, p := t.tree(part), &t.parts[part]
	l := p.retired[key]
	var leaf int32
	switch {
	case l != (lifetimes{}): // it is in the tree
		if l.on {
			err = ErrExists
			x.Get(key)
		} else {
			l.on = true
			p.retired[key] = l
			x.Put(key, value)
		}
		leaf = last(x.Visited())
	case x.Insert(key, value):
		leaf = x.Leaf()
	default:
		err, leaf = ErrExists, last(x.Visited())
	}
	guard = *p.guard(leaf)
	t.charge(c, part, x)
	c.Touch(t.guardAt(part, leaf), guardBytes)
	return guard, err
}

func last(nodes []int32) int32 { return nodes[len(nodes)-1] }

// retireLocal ends a life on the part's server.
func (t *Dated) retireLocal(c *r2.Co, part, key, stamp uint64) error {
	t.bump(c, part)
	x, p := t.tree(part), &t.parts[part]
	value, ok := x.Get(key)
	l := p.retired[key]
	if ok = ok && (l == (lifetimes{}) || l.on); ok {
		q := &t.ended[t.Primary(part)]
		i := q.add(lifetimeEnd{part: part, key: key, value: value, stamp: stamp})
		if l.first == 0 {
			l.first = i
		} else {
			q.at(l.last).next = i
		}
		l.last, l.on = i, false
		p.remember(part, key, l)
	}
	t.charge(c, part, x)
	if !ok {
		return ErrMissing
	}
	return nil
}

// remember keeps the lives of a key, and has scans pass over keys that have none at their point.
func (p *datedPart) remember(part, key uint64, l lifetimes) {
	if p.retired == nil {
		p.retired = map[uint64]lifetimes{}
		p.t.trees[part].Skip = func(key uint64) bool {
			_, ok := p.at(part, key, 0)
			return !ok
		}
	}
	p.retired[key] = l
}

// end takes an entry out as if it had never been there, of a key that had others before.
func (t *Dated) end(c *r2.Co, part, key uint64) error {
	x, p := t.tree(part), &t.parts[part]
	x.Get(key)
	t.charge(c, part, x)
	l := p.retired[key]
	if !l.on {
		return ErrMissing
	}
	l.on = false
	p.retired[key] = l
	return nil
}

// collect takes out what no scan finds any more, on the coroutine's machine.
func (t *Dated) collect(c *r2.Co, visible func(stamp uint64) bool) {
	if c.Machine() >= len(t.ended) {
		return
	}
	q := &t.ended[c.Machine()]
	for q.first < q.next && visible(q.at(q.first).stamp) {
		part := q.at(q.first).part
		t.bump(c, part)
		if t.forget(q) {
			t.charge(c, part, t.trees[part])
		}
	}
}

// forget takes the first ending of a server, and where nothing is left of the key, its entry: then it is true.
func (t *Dated) forget(q *lifetimeEnds) (gone bool) {
	e := q.at(q.first)
	q.first++
	p := &t.parts[e.part]
	l := p.retired[e.key]
	if l.first = e.next; l.first != 0 {
		p.retired[e.key] = l
		return false
	}
	delete(p.retired, e.key)
	if l.on {
		return false
	}
	t.trees[e.part].Remove(e.key)
	return true
}

// restamp forgets points and stamps.
func (t *Dated) restamp() {
	for m := range t.ended {
		for q := &t.ended[m]; q.first < q.next; {
			t.forget(q)
		}
	}
	for part := range t.parts {
		clear(t.parts[part].guards)
	}
}

// live leaves out what was retired.
func (t *Dated) live(part uint64, f func(Entry)) func(Entry) {
	return func(e Entry) {
		if l := t.parts[part].retired[e.Key]; l == (lifetimes{}) || l.on {
			f(e)
		}
	}
}

var (
	_ store.Dated        = (*Dated)(nil)
	_ store.DatedIndexes = (*Service)(nil)
	_ btree.Watch        = (*datedPart)(nil)
)
