// Package redo is the redo log of a server of XStore (thesis §3.4.4): the records of its changes, and what its initial keys come to with
// them when it recovers.
//
//	record   key u64 | version u64 | kind u8, length u24, length of the key u32 | key, padded | value, padded
//
// Of a key that is a word there is only that. One with a length of its own has its hash there, and its bytes in front of the value.
//
// A version is the time on the server at which the change was committed. Two changes of a key conflict, so they have
// different times, and the latest of all logs counts.
package redo

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/wire"
)

const (
	header = 24

	Put    = 1 // an insert or update
	Delete = 2
)

// Add appends a record to b.
func Add(b []byte, kind byte, key, version uint64, real, value []byte) []byte {
	b = wire.Add64(wire.Add64(b, key), version)
	b = wire.Add64(b, uint64(kind)|uint64(len(value))<<8|uint64(len(real))<<32)
	return wire.AddPadded(wire.AddPadded(b, real), value)
}

// Change is one that was read back from a log.
type Change struct {
	key, version uint64
	deleted      bool
	real         []byte // the key, if it has a length of its own: then the other is its hash
	value        []byte
}

func (x *Change) compare(key uint64, real []byte) int {
	return cmp.Or(cmp.Compare(x.key, key), bytes.Compare(x.real, real))
}

// Read appends the changes of a log.
func Read(c *r2.Co, f *r2.LogFile, dst []Change) ([]Change, error) {
	from, to := f.Kept()
	if from > 0 {
		return dst, fmt.Errorf("log: its first %d bytes were not kept", from)
	}
	b := make([]byte, to)
	for at := int64(0); at < to; {
		n := c.ReadLog(f, at, b[at:min(to, at+readAtOnce)])
		if n == 0 {
			return dst, fmt.Errorf("log: nothing at offset %d of %d", at, to)
		}
		at += int64(n)
	}
	for len(b) >= header {
		word := wire.Get64(b[16:])
		kind, n, real := byte(word), int(uint32(word)>>8), int(word>>32)
		at := header + wire.Padded(real)
		end := at + wire.Padded(n)
		if kind != Put && kind != Delete {
			return dst, fmt.Errorf("log: a record of kind %d", kind)
		}
		if end > len(b) {
			break // the crash came in the middle of it
		}
		dst = append(dst, Change{wire.Get64(b), wire.Get64(b[8:]), kind == Delete, b[header : header+real], b[at : at+n]})
		b = b[end:]
	}
	return dst, nil
}

// readAtOnce is a READ of a log in recovery.
const readAtOnce = 1 << 20

// Replay is what the initial keys come to with the changes, in the order of the keys. oldest takes the first change of a key instead of
// the last, which is a fault that tests plant.
func Replay(in Initial, changes []Change, oldest bool) (pairs []store.Pair) {
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(a.compare(b.key, b.real), cmp.Compare(a.version, b.version))
	})
	old := in.pairs()
	for k := range changes {
		x := &changes[k]
		last := k+1 == len(changes) || changes[k+1].compare(x.key, x.real) != 0
		if oldest {
			last = k == 0 || changes[k-1].compare(x.key, x.real) != 0
		}
		if !last {
			continue
		}
		for old.more() && x.compare(old.key, old.real) > 0 {
			pairs = append(pairs, old.next())
		}
		if old.more() && x.compare(old.key, old.real) == 0 {
			old.next()
		}
		if !x.deleted {
			pairs = append(pairs, in.pair(x.key, x.real, x.value))
		}
	}
	for old.more() {
		pairs = append(pairs, old.next())
	}
	return pairs
}
