package rolex

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// Store is an ordered key-value store in the memory of servers, which only clients work on.
type Store struct {
	cl      *r2.Cluster
	spec    store.KVSpec
	opt     Options
	ranges  *store.Ranges
	layout  layout
	parts   []*part   // by server
	caches  []*cache  // owner: each machine, whose first client makes its own
	trains  []*trains // owner: each thread of the cluster
	first   []int     // by machine: the number of its first thread
	threads int
}

// New makes the memory of the servers.
func New(cl *r2.Cluster, spec store.KVSpec, o Options) (*Store, error) {
	if err := spec.Check(cl); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("rolex %s: %w", spec.Name, err)
	}
	s := &Store{cl: cl, spec: spec, opt: o, ranges: store.RangesOf(&spec), caches: make([]*cache, cl.Machines())}
	var err error
	if s.layout, err = newLayout(o.Slots, spec.ValueBytes, cl.MaxWrite()); err != nil {
		return nil, err
	}
	for m := range cl.Machines() {
		s.first = append(s.first, s.threads)
		s.threads += cl.Threads(m)
	}
	s.trains = make([]*trains, s.threads)
	for m := range spec.Servers {
		p, err := s.newPart(m)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, p)
	}
	return s, nil
}

// trained trains a model, as exact as the planted faults let it be.
func (s *Store) trained(lows fences, high uint64) *segment {
	x := train(lows, high, s.opt.Error)
	if s.opt.planted.noBounds {
		x.below, x.above = 0, 0
	}
	return x
}

func (s *Store) part(key uint64) *part { return s.parts[s.ranges.Server(key)] }

// Warm does nothing: clients begin with the models of the initial leaves.
func (s *Store) Warm() error { return nil }

// Stats are those of all memory nodes.
func (s *Store) Stats() (sum Stats) {
	for _, p := range s.parts {
		for _, own := range p.stats.All() {
			sum.add(own)
		}
	}
	return sum
}

func (s *Stats) add(o *Stats) {
	s.Lookups += o.Lookups
	s.Leaves += o.Leaves
	s.Synonyms += o.Synonyms
	s.Torn += o.Torn
	s.Waits += o.Waits
	s.Splits += o.Splits
	s.Trained += o.Trained
	s.Fetched += o.Fetched
	s.Given += o.Given
}

// cache is what the clients of a machine know of the models, by server.
type cache struct {
	parts []known
}

// known is what they know of a server's. What they never fetched is as at the start. Segments are Go values; looks at them are charged as
// of arrays in the client's memory, reserved here: of segments' first keys, of models, and of the tables that were fetched.
type known struct {
	segments               []*segment // nil: the initial one
	fetching               []bool     // by a coroutine of the machine
	starts, models, tables r2.Addr
}

// tableRoom is the distance of two tables: of a thousand leaves. Longer ones share the memory of their neighbours.
const tableRoom = 4096

// cacheOf makes the cache of a machine, unless there is one.
func (s *Store) cacheOf(c *r2.Co) *cache {
	m := c.Machine()
	if s.caches[m] != nil {
		return s.caches[m]
	}
	x := &cache{}
	for _, p := range s.parts {
		k := known{segments: make([]*segment, p.segments), fetching: make([]bool, p.segments)}
		for _, a := range []struct {
			at   *r2.Addr
			each int
		}{{&k.starts, keyBytes}, {&k.models, p.modelRoom}, {&k.tables, tableRoom}} {
			at, err := s.cl.Mem(m).Reserve("rolex.models", uint64(p.segments*a.each), c.Home())
			if err != nil {
				c.Fail(fmt.Errorf("rolex %s: %w", s.spec.Name, err))
			}
			*a.at = at
		}
		x.parts = append(x.parts, k)
	}
	s.caches[m] = x
	return x
}
