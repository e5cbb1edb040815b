package xstore

import (
	"drtmx/engine/store"
	"drtmx/xstore/tree"
)

// pair is what a tree is made of.
func (p *part) pair(key uint64, real, value []byte) store.Pair {
	if p.s.reals != nil {
		value = tree.AppendRecord(nil, real, value)
	}
	return store.Pair{Key: key, Value: value}
}

// initialPairs are the initial keys of a server, one after the other, as they were at the start.
type initialPairs struct {
	p    *part
	keys store.Keys
	n    uint64
	i    uint64 // of the next one
	key  uint64 // this
	real []byte
}

func (p *part) initialPairs() *initialPairs {
	x := &initialPairs{p: p, keys: p.s.ranges.Keys(p.server)}
	if x.n = x.keys.Len(); p.s.reals != nil {
		x.n = p.records()
	}
	x.look()
	return x
}

func (x *initialPairs) more() bool { return x.i < x.n }

// look sets the next key.
func (x *initialPairs) look() {
	switch {
	case !x.more():
	case x.p.s.reals == nil:
		x.key = x.keys.Key(x.i)
	default:
		r := x.p.reals()
		x.key, x.real = x.keys.Key(r.HashOf(x.i)), r.Real(x.i, nil)
	}
}

// take is the next pair.
func (x *initialPairs) take() store.Pair {
	s, value := x.p.s, make([]byte, x.p.s.spec.ValueBytes)
	if s.reals != nil {
		x.p.reals().Value(x.i, value)
	} else if s.spec.Value != nil {
		s.spec.Value(x.key, value)
	}
	pair := x.p.pair(x.key, x.real, value)
	x.i++
	x.look()
	return pair
}
