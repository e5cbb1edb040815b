package redo

import (
	"drtmx/engine/store"
	"drtmx/xstore/hashed"
	"drtmx/xstore/tree"
)

// Initial are the keys of a server as they were at the start, which are its checkpoint.
type Initial struct {
	Keys       store.Keys    // or their hashes, where they have lengths of their own
	Reals      *hashed.Share // these keys; nil: keys are words
	ValueBytes int
	Value      func(key uint64, value []byte) // of a key that is a word; nil: zeros
}

// pair is what a tree is made of.
func (in *Initial) pair(key uint64, real, value []byte) store.Pair {
	if in.Reals != nil {
		value = tree.AppendRecord(nil, real, value)
	}
	return store.Pair{Key: key, Value: value}
}

// initialPairs are the pairs of initial keys, one after the other.
type initialPairs struct {
	*Initial
	n    uint64
	i    uint64 // of the next one
	key  uint64 // this
	real []byte
}

func (in *Initial) pairs() *initialPairs {
	x := &initialPairs{Initial: in, n: in.Keys.Len()}
	if in.Reals != nil {
		_, x.n = in.Reals.Records(x.n - 1)
	}
	x.look()
	return x
}

func (x *initialPairs) more() bool { return x.i < x.n }

// look sets the next key.
func (x *initialPairs) look() {
	switch {
	case !x.more():
	case x.Reals == nil:
		x.key = x.Keys.Key(x.i)
	default:
		x.key, x.real = x.Keys.Key(x.Reals.HashOf(x.i)), x.Reals.Real(x.i, nil)
	}
}

// next is the next pair.
func (x *initialPairs) next() store.Pair {
	value := make([]byte, x.ValueBytes)
	if x.Reals != nil {
		x.Reals.Value(x.i, value)
	} else if x.Value != nil {
		x.Value(x.key, value)
	}
	pair := x.pair(x.key, x.real, value)
	x.i++
	x.look()
	return pair
}
