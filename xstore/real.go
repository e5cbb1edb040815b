package xstore

import (
	"bytes"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/hashed"
	"drtmx/xstore/model"
	"drtmx/xstore/tree"
)

// Keys of different lengths (§3.6). To tree and models such a key is its hash, of which the client computes all that it asks. The
// lookup READ brings the slots of the leaf too, which have the fat pointers, so that the second READ is that of the record, with
// key and value, as with keys that are words. The table says how many slots there are to be READ: a leaf that is half full is 320
// bytes, and 448 if it is full. A record has 22 bytes and those of key and value, and 2 of a version for each line if there are
// several. A record whose key is another one costs a READ more, of the next record with the hash, and so does a slot that the table
// does not know of.
//
// Requests have the hash and the key, so that a server need not hash.

// sortReal divides the keys among the servers: numbers, or the hashes of keys with lengths of their own.
func (s *Store) sortReal() (err error) {
	spec := s.spec
	if spec.Real != nil {
		if spec.Bounds != nil {
			return fmt.Errorf("store %s: bounds of servers: keys of different lengths are divided by their hashes, in equal shares", spec.Name)
		}
		s.hash, s.opt.wide = hashed.Hash(s.opt.HashBits), true
		s.opt.Fields = []model.Field{{Bits: 64}} // a hash has none of the fields that its key may have
		if s.reals, err = hashed.NewSet(&s.spec, s.hash); err != nil {
			return err
		}
		if spec.Keys = s.reals; s.reals.Len() < uint64(spec.Servers) {
			return fmt.Errorf("store %s: %d hashes of %d bits for %d servers: at least one for each", spec.Name, s.reals.Len(), s.opt.HashBits, spec.Servers)
		}
	}
	s.ranges = store.RangesOf(&spec)
	return nil
}

// reals are the keys of a server with lengths of their own.
func (p *part) reals() *hashed.Share {
	first, _ := p.s.reals.Rank(p.low)
	return p.s.reals.Share(first)
}

// records is their number.
func (p *part) records() uint64 {
	_, to := p.reals().Records(p.s.ranges.Keys(p.server).Len() - 1)
	return to
}

// knownFree is what a tree knows the key of a number by, free of time; s.real then has its bytes.
func (s *Store) knownFree(number uint64) (key uint64) {
	if s.reals == nil {
		return number
	}
	s.real = s.spec.Real.Append(s.real[:0], number)
	return s.hash.Of(s.real)
}

// find is an oracle: the value of the key of a number.
func (s *Store) find(number uint64, value []byte) (ok bool) {
	hash := s.knownFree(number)
	_, ok = s.part(hash).tree.FindReal(hash, s.real, value)
	return ok
}

// known is what the tree knows a key by that a caller names by a number: the number, or the hash of the bytes, which x.real then has.
func (x *client) known(number uint64) (key uint64) {
	real := x.s.spec.Real
	if real == nil {
		return number
	}
	x.enter(Index)
	x.real = real.Append(x.real[:0], number)
	x.c.Compute(hashed.Cycles(x.real))
	return x.s.hash.Of(x.real)
}

// slotBytes is the length of a READ of a leaf and its first slots, which have the fat pointers to records. 0: slots have values.
func (p *part) slotBytes(slots int) int {
	if p.s.spec.Real == nil {
		return 0
	}
	return p.layout.Span(slots)
}

// locate is where a lookup has found a key. What the READ has in its slot may be of a later moment than the keys: then it may be
// another key's, and has no pointer that could be followed.
func (p *part) locate(aln uint32, slot int, key uint64, leaf []byte) location {
	at := location{aln: aln, slot: slot}
	if p.s.spec.Real == nil {
		return at
	}
	if off, n := p.layout.Value(slot); off+n > len(leaf) {
		at.unread = true
	} else if of, pointer := p.layout.Pointer(leaf, slot); of == key {
		at.pointer = pointer
	}
	return at
}

// slot READs the slot of a key that the READ of its leaf has left out: the key was inserted after the table was made.
func (x *client) slot(p *part, at location, key uint64) (tree.FatPointer, error) {
	off, n := p.layout.Value(at.slot)
	buf := x.c.Read(p.leafLoc(at.aln, off), n)
	if err := x.c.Wait(); err != nil {
		return 0, err
	}
	x.c.TouchDMA(buf.Addr, n)
	of, pointer := tree.DecodePointer(buf.B)
	if of != key {
		return 0, nil
	}
	return pointer, nil
}

// maxRecords is how many records of a hash a client READs before it asks the server. Two keys have the same hash of 64 bits less
// often than once in a billion stores of 100,000 keys.
const maxRecords = 16

// record READs the records of a hash up to that of the key (§3.6: the actual key should be checked).
func (x *client) record(p *part, at location, key uint64, value []byte) (outcome, error) {
	next := at.pointer
	if at.unread {
		var err error
		if next, err = x.slot(p, at, key); err != nil {
			return invalid, err
		}
	}
	if next == 0 {
		p.counts(x.c).Torn++
		return again, nil
	}
	for range maxRecords {
		a, n := p.tree.EntryAddr(next)
		buf := x.c.Read(r2.Loc{Machine: p.server, RKey: p.tree.RKey(), Addr: a}, n)
		if err := x.c.Wait(); err != nil {
			return invalid, err
		}
		x.c.TouchDMA(buf.Addr, n)
		of, rec, whole := tree.DecodeRecord(next, buf.B)
		if !whole || of != key {
			p.counts(x.c).Torn++
			return again, nil
		}
		x.c.Compute(tree.CompareCycles(x.real, rec.Real))
		if bytes.Equal(x.real, rec.Real) || x.s.opt.planted.anyReal {
			copy(value, rec.Value)
			return found, nil
		}
		p.counts(x.c).Collisions++
		if next = rec.Next; next == 0 {
			return missing, nil
		}
	}
	return invalid, nil
}
