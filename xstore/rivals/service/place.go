package service

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// Split is how a server's keys are divided among its instances.
type Split uint8

const (
	ByRange Split = iota // in contiguous shares
	ByHash               // in turn
)

// Places says which instance has a key. Instances are numbered server by server.
type Places struct {
	cl        *r2.Cluster
	keys      store.Keys
	servers   int
	instances int // of a server
	split     Split
	ranges    *store.Ranges // of servers, or by range of all instances
}

// NewPlaces divides the keys of a store. instances is how many a server has; 0: as many as its sockets.
func NewPlaces(cl *r2.Cluster, s *store.KVSpec, instances int, split Split) (*Places, error) {
	if err := s.Check(cl); err != nil {
		return nil, err
	}
	p := &Places{cl: cl, keys: s.Keys, servers: s.Servers, split: split}
	for m := range s.Servers {
		n := min(cl.Fabric().Machine(m).Type.Sockets.Int(), cl.Threads(m))
		if instances > 0 {
			n = min(n, instances)
		}
		if p.instances == 0 || n < p.instances {
			p.instances = n
		}
	}
	of := *s
	if split == ByRange {
		of.Servers *= p.instances
	}
	if s.Keys.Len() < uint64(s.Servers*p.instances) {
		return nil, fmt.Errorf("store %s: %d keys, at least one for each of %d instances", s.Name, s.Keys.Len(), s.Servers*p.instances)
	}
	p.ranges = store.RangesOf(&of)
	return p, nil
}

// Len is the number of instances in all.
func (p *Places) Len() int { return p.servers * p.instances }

// Machine is that of an instance.
func (p *Places) Machine(in int) int { return in / p.instances }

// Socket is where an instance's memory is.
func (p *Places) Socket(in int) int {
	m := p.cl.Fabric().Machine(p.Machine(in))
	core, _ := m.Assign(in % p.instances)
	return m.CoreSocket(core)
}

// Of is the instance of a key.
func (p *Places) Of(key uint64) int {
	at := p.ranges.Server(key)
	if p.split == ByRange {
		return at
	}
	i, _ := p.keys.Rank(key)
	return at*p.instances + int(i%uint64(p.instances))
}

// Keys are the initial keys of an instance.
func (p *Places) Keys(in int) store.Keys {
	if p.split == ByRange {
		return p.ranges.Keys(in)
	}
	server, of := in/p.instances, uint64(p.instances)
	all := p.ranges.Keys(server)
	first := uint64(0)
	if all.Len() > 0 {
		before, _ := p.keys.Rank(all.Key(0))
		first = (uint64(in%p.instances) + of - before%of) % of
	}
	return &every{all, first, of}
}

// Thread is the thread of an instance's machine that serves a client's thread: with the client's own index, if that is one
// of the instance's socket, or the one beside it.
func (p *Places) Thread(in, client int) int {
	threads := p.cl.Threads(p.Machine(in))
	t := client % threads
	t += in%p.instances - t%p.instances
	if t >= threads {
		t = in % p.instances
	}
	return t
}

// group is the instances that share the range of a key: all of a server by hash, one by range.
func (p *Places) group(in int) (first, n int) {
	if p.split == ByRange {
		return in, 1
	}
	return in / p.instances * p.instances, p.instances
}

// every is each step-th of some keys.
type every struct {
	all         store.Keys
	first, step uint64
}

func (e *every) Len() uint64 {
	if n := e.all.Len(); n > e.first {
		return (n - e.first + e.step - 1) / e.step
	}
	return 0
}

func (e *every) Key(i uint64) uint64 { return e.all.Key(e.first + i*e.step) }

func (e *every) Rank(key uint64) (uint64, bool) {
	i, ok := e.all.Rank(key)
	if i < e.first {
		return 0, false
	}
	i -= e.first
	return (i + e.step - 1) / e.step, ok && i%e.step == 0
}
