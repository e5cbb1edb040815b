package xstore

import (
	"encoding/binary"

	"drtmx/xstore/model"
	"drtmx/xstore/tree"
)

// Requests and replies of the server-centric operations (§3.4.3). All numbers are little-endian; values are padded to words.
//
//	get      key u64 | version u32, sub-model u32 | generation u32, unused
//	         status u8, refresh u8, unused | value | refreshed: see below
//	update   key u64 | hints u8, unused | value | hints: leaf u32, incarnation u32
//	insert   key u64 | value
//	delete   key u64
//	         status u8
//	scan     lowest key u64 | pairs u32, 1 if they are to fall u32 | where there is a bound: highest key u64
//	         pairs: key u64 | value
//
// Where keys have lengths of their own, the key is the hash of it, and behind it come
//
//	length of the key u64 | key, padded
//
// Those of indexes, which share the handlers of a cluster, begin with the number of the index in a word.
//
// A reply to get brings the sub-model and its table along if the client's are older than the server's, and the reply has
// room; else it says that there are newer ones, and the client READs them.
//
//	refreshed   sub-model, padded to words | entries of its table
const (
	scanBytes = 16 // without a bound
	headReply = 8
	maxHints  = 8

	replyMissing = 0
	replyFound   = 1
	replyFull    = 2 // no room for another key

	refreshNone = 0
	refreshHere = 1 // behind the value
	refreshRead = 2 // READ it
)

func padded(n int) int { return (n + 7) &^ 7 }

func u32(b []byte) uint32             { return binary.LittleEndian.Uint32(b) }
func u64(b []byte) uint64             { return binary.LittleEndian.Uint64(b) }
func add32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
func add64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }
func put64(b []byte, v uint64)        { binary.LittleEndian.PutUint64(b, v) }

// addValue appends a value, padded.
func addValue(b, value []byte) []byte {
	b = append(b, value...)
	for range padded(len(value)) - len(value) {
		b = append(b, 0)
	}
	return b
}

// addKey appends what a request begins with, and cutKey takes it off.
func (x *client) addKey(b []byte, key uint64) []byte {
	if b = add64(b, key); x.s.spec.Real == nil {
		return b
	}
	return addValue(add64(b, uint64(len(x.real))), x.real)
}

func (s *Store) cutKey(req []byte) (key uint64, real, rest []byte) {
	key, rest = u64(req), req[8:]
	if s.spec.Real != nil {
		n := int(u64(rest))
		real, rest = rest[8:][:n], rest[8+padded(n):]
	}
	return key, real, rest
}

// getRequest is a request of get by a client that has a sub-model of a generation.
func (x *client) getRequest(key uint64, version, m, generation uint32) []byte {
	b := x.addKey(x.c.Request(), key)
	b = add32(add32(b, version), m)
	return add32(add32(b, generation), 0)
}

// updateRequest is a request of update with the leaves in which the key may be.
func (x *client) updateRequest(key uint64, value []byte, hints []tree.Hint) []byte {
	b := x.addKey(x.c.Request(), key)
	b = add64(b, uint64(len(hints)))
	b = addValue(b, value)
	for _, h := range hints {
		b = add32(add32(b, h.ALN), h.INCA)
	}
	return b
}

// scanRequest is a request of scan, behind what begins it.
func scanRequest(b []byte, s *scanState, pairs int) []byte {
	word := uint64(pairs)
	if s.down {
		word |= 1 << 32
	}
	b = add64(add64(b, s.from), word)
	if s.to < ^uint64(0) {
		b = add64(b, s.to)
	}
	return b
}

// entriesOf appends the entries of a refresh.
func entriesOf(dst []model.Entry, b []byte, n int) []model.Entry {
	for i := range n {
		dst = append(dst, model.Entry(u64(b[i*entryBytes:])))
	}
	return dst
}
