package rolex

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/model"
	"drtmx/xstore/rivals/service"
)

// client is a coroutine's handle of the store.
type client struct {
	s     *Store
	c     *r2.Co
	cache *cache

	leaves []leaf // of the lookup that is under way
	one    []leaf // of readOne
	image  []byte // of a leaf that is to be written
	fresh  node   // a new synonym
}

// leaf is one that was READ.
type leaf struct {
	number  uint32
	buf     r2.Buf
	n       node
	version uint16
	whole   bool
}

// Client is what a coroutine calls the store with.
func (s *Store) Client(c *r2.Co) store.KVClient { return s.client(c) }

func (s *Store) client(c *r2.Co) *client {
	return &client{s: s, c: c, cache: s.cacheOf(c), image: make([]byte, s.layout.bytes()), fresh: make(node, s.layout.block.Data())}
}

const (
	// maxTorn bounds how often a leaf that is being changed is READ again. A WRITE lasts less than a round trip.
	maxTorn = 128
	// maxHops bounds the synonyms on the way to a key.
	maxHops = 1 << 20
)

// stats are those of clients of the machine at a memory node.
func (x *client) stats(p *part) *Stats { return p.stats.Of(x.c.Machine()) }

// segmentOf is the segment that a key belongs to: the top model's guess, from which the client searches in widening steps.
func (x *client) segmentOf(p *part, key uint64) int {
	k := &x.cache.parts[p.machine]
	x.c.Compute(p.top.Cycles())
	at := min(int(float64(p.top.Predict(key)*float64(p.segments))), p.segments-1)
	low, high := 0, p.segments // the segment is in [low, high)
	if at == 0 || x.startsBelow(p, k, at, key) {
		low = at
		for step := 1; low+step < high; step *= 2 {
			if !x.startsBelow(p, k, low+step, key) {
				high = low + step
				break
			}
			low += step
		}
	} else {
		high = at
		for step := 1; high-step > 0; step *= 2 {
			if x.startsBelow(p, k, high-step, key) {
				low = high - step
				break
			}
			high -= step
		}
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; x.startsBelow(p, k, middle, key) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// startsBelow says that segment i begins at a key or below it.
func (x *client) startsBelow(p *part, k *known, i int, key uint64) bool {
	x.c.Touch(k.starts+r2.Addr(i*keyBytes), keyBytes)
	x.c.Compute(searchCycles)
	return p.lowest(i) <= key
}

// searchCycles is a step of a search in a sorted array: a comparison, and half of a misprediction. Assumed.
const searchCycles = 10

// known is what the client knows of a segment.
func (x *client) known(p *part, i int) *segment {
	if m := x.cache.parts[p.machine].segments[i]; m != nil {
		return m
	}
	return p.atStart(i)
}

// model is what the client knows of a segment, and charges its prediction for a key.
func (x *client) model(p *part, i int, key uint64) *segment {
	k, m := &x.cache.parts[p.machine], x.known(p, i)
	x.c.Compute(m.model.Cycles() + model.SubCycles)
	// The header, and a search by halves through the lines of the pieces.
	at := k.models + r2.Addr(i*p.modelRoom)
	x.c.Touch(at, blobHeader)
	low, high := 0, (blobHeader+m.model.Bytes()+lineBytes-1)/lineBytes
	for want := m.predict(key) * high / (places * m.leaves); high-low > 1; {
		middle := (low + high) / 2
		x.c.Touch(at+r2.Addr(middle*lineBytes%p.modelRoom), lineBytes)
		if middle <= want {
			low = middle
		} else {
			high = middle
		}
	}
	return m
}

// numbers charges a look at entries of a table.
func (x *client) numbers(p *part, i int, m *segment, first, n int) {
	if m.table != nil {
		x.c.Touch(x.cache.parts[p.machine].tables+r2.Addr(i*tableRoom+4*first%tableRoom), 4*n)
	}
}

// ask lists a leaf among those that read READs.
func (x *client) ask(number uint32) { x.leaves = append(x.leaves, leaf{number: number}) }

// read READs the leaves that were asked for and have not come, with one doorbell. One that was caught in a change is READ
// again.
func (x *client) read(p *part) error {
	for range maxTorn {
		for i := range x.leaves {
			if l := &x.leaves[i]; !l.whole {
				l.buf = x.c.Read(p.leafLoc(l.number), x.s.layout.bytes())
				x.stats(p).Leaves++
			}
		}
		if err := x.c.Wait(); err != nil {
			return err
		}
		torn := false
		for i := range x.leaves {
			if l := &x.leaves[i]; !l.whole {
				x.decode(p, l)
				torn = torn || !l.whole
			}
		}
		if !torn {
			return nil
		}
	}
	return fmt.Errorf("rolex %s: a leaf of machine %d is caught in a change at each of %d READs", x.s.spec.Name, p.machine, maxTorn)
}

func (x *client) decode(p *part, l *leaf) {
	x.c.TouchDMA(l.buf.Addr, len(l.buf.B))
	if l.n, l.version, l.whole = x.s.layout.decode(l.buf.B); !l.whole {
		x.stats(p).Torn++
	}
}

// find READs the leaf that a key belongs to: those of the prediction, and from the last of them that begins at the key or below it
// along the links.
func (x *client) find(p *part, key uint64) (*leaf, error) {
	i := x.segmentOf(p, key)
	return x.findIn(p, i, x.model(p, i, key), key)
}

// findIn is find where the segment is known.
func (x *client) findIn(p *part, i int, m *segment, key uint64) (*leaf, error) {
	first, last := m.span(key)
	if err := x.fetch(p, i, m, first, last); err != nil {
		return nil, err
	}
	at, ok := x.begun(key)
	if !ok {
		return nil, x.beyond(p, key)
	}
	return x.follow(p, i, at, key)
}

// fetch READs the leaves of a model from one to another.
func (x *client) fetch(p *part, i int, m *segment, first, last int) error {
	x.stats(p).Lookups++
	x.numbers(p, i, m, first, last-first+1)
	x.leaves = x.leaves[:0]
	for at := first; at <= last; at++ {
		x.ask(m.leaf(at))
	}
	return x.read(p)
}

// begun is the last leaf that begins at a key or below it.
func (x *client) begun(key uint64) (at int, ok bool) {
	at = len(x.leaves) - 1
	for at > 0 && x.leaves[at].n.low() > key {
		at--
	}
	return at, x.leaves[at].n.low() <= key
}

// beyond is an error that only a wrong model causes.
func (x *client) beyond(p *part, key uint64) error {
	return fmt.Errorf("rolex %s: the leaf of key %d is not among those that the model of machine %d predicts", x.s.spec.Name, key, p.machine)
}

// follow goes from a leaf that begins at a key or below it to the one that the key belongs to. With the first synonym the client
// looks whether the segment has a newer model, which knows it.
func (x *client) follow(p *part, i, at int, key uint64) (*leaf, error) {
	l := x.leaves[at]
	for hop := 0; key > l.n.high() && !x.s.opt.planted.noSynonyms; hop++ {
		if hop == maxHops {
			return nil, x.missingLink(p, key)
		}
		var err error
		if l, err = x.synonym(p, i, &l, hop == 0); err != nil {
			return nil, err
		}
	}
	x.leaves = append(x.leaves[:0], l)
	return &x.leaves[0], nil
}

// synonym READs the leaf that another one links to, and if look, whether there is a newer model.
func (x *client) synonym(p *part, i int, from *leaf, look bool) (l leaf, err error) {
	number := from.n.link()
	if number == noLeaf {
		return l, x.missingLink(p, from.n.high())
	}
	x.stats(p).Synonyms++
	var word r2.Buf
	if look {
		word = x.c.Read(p.entryLoc(i, atCurrent), 8)
	}
	if l, err = x.readOne(p, number); err == nil && look {
		err = x.refresh(p, i, binary.LittleEndian.Uint64(word.B))
	}
	return l, err
}

// missingLink is an error that only a broken chain causes.
func (x *client) missingLink(p *part, key uint64) error {
	return fmt.Errorf("rolex %s: the links of machine %d do not lead to what is behind key %d", x.s.spec.Name, p.machine, key)
}

// readOne READs a leaf, and leaves those of the lookup alone.
func (x *client) readOne(p *part, number uint32) (l leaf, err error) {
	others := x.leaves
	x.leaves = x.one[:0]
	x.ask(number)
	err = x.read(p)
	l, x.one, x.leaves = x.leaves[0], x.leaves, others
	return l, err
}

// refresh fetches the model of a segment if what the directory says is newer than what the machine has, and no thread of it is at
// that already.
func (x *client) refresh(p *part, i int, word uint64) error {
	k, version := &x.cache.parts[p.machine], uint32(word>>48)
	if version <= x.known(p, i).version || k.fetching[i] {
		return nil
	}
	k.fetching[i] = true
	defer func() { k.fetching[i] = false }()
	lines := int(word >> 32 & mostLines)
	buf := x.c.Read(p.lineLoc(word&(1<<32-1)), lines*lineBytes)
	if err := x.c.Wait(); err != nil {
		return err
	}
	x.stats(p).Fetched++
	x.c.TouchDMA(buf.Addr, len(buf.B))
	got, ok := getSegment(buf.B, version)
	if !ok {
		return fmt.Errorf("rolex %s: what machine %d has published of segment %d is not version %d", x.s.spec.Name, p.machine, i, version)
	}
	if x.known(p, i).version < version {
		x.install(p, i, got)
	}
	return nil
}

// install is the copy of a model into the memory that lookups use.
func (x *client) install(p *part, i int, m *segment) {
	k := &x.cache.parts[p.machine]
	k.segments[i] = m
	x.c.Touch(k.models+r2.Addr(i*p.modelRoom), min(blobHeader+m.model.Bytes(), p.modelRoom))
	x.c.Touch(k.tables+r2.Addr(i*tableRoom), min(4*m.leaves, tableRoom))
}

// Get copies the value of a key.
func (x *client) Get(key uint64, value []byte) (found bool, err error) {
	l, err := x.find(x.s.part(key), key)
	if err != nil {
		return false, err
	}
	i, ok := x.search(l.n, key)
	if ok {
		copy(value, l.n.value(&x.s.layout, i))
	}
	return ok, nil
}

// search is the local search of a leaf, whose keys are in order: by halves, as far as a core's time goes.
func (x *client) search(n node, key uint64) (i int, ok bool) {
	service.ChargeSearch(x.c, bits.Len(uint(n.count())))
	return n.find(&x.s.layout, key)
}
