package xstore

import (
	"drtmx/engine/wire"
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
// room (published.PutNewer); else it says that there are newer ones, and the client READs them.
const (
	scanBytes = 16 // without a bound
	headReply = 8
	maxHints  = 8

	replyMissing = 0
	replyFound   = 1
	replyFull    = 2 // no room for another key
)

// addKey appends what a request begins with, and cutKey takes it off.
func (x *client) addKey(b []byte, key uint64) []byte {
	if b = wire.Add64(b, key); x.s.spec.Real == nil {
		return b
	}
	return wire.AddPadded(wire.Add64(b, uint64(len(x.real))), x.real)
}

func (s *Store) cutKey(req []byte) (key uint64, real, rest []byte) {
	key, rest = wire.Get64(req), req[8:]
	if s.spec.Real != nil {
		n := int(wire.Get64(rest))
		real, rest = rest[8:][:n], rest[8+wire.Padded(n):]
	}
	return key, real, rest
}

// getRequest is a request of get by a client that has a sub-model of a generation.
func (x *client) getRequest(key uint64, version, m, generation uint32) []byte {
	b := x.addKey(x.c.Request(), key)
	b = wire.Add32(wire.Add32(b, version), m)
	return wire.Add32(wire.Add32(b, generation), 0)
}

// updateRequest is a request of update with the leaves in which the key may be.
func (x *client) updateRequest(key uint64, value []byte, hints []tree.Hint) []byte {
	b := x.addKey(x.c.Request(), key)
	b = wire.Add64(b, uint64(len(hints)))
	b = wire.AddPadded(b, value)
	for _, h := range hints {
		b = wire.Add32(wire.Add32(b, h.ALN), h.INCA)
	}
	return b
}

// scanRequest is a request of scan, behind what begins it.
func scanRequest(b []byte, s *scanState, pairs int) []byte {
	word := uint64(pairs)
	if s.down {
		word |= 1 << 32
	}
	b = wire.Add64(wire.Add64(b, s.from), word)
	if s.to < ^uint64(0) {
		b = wire.Add64(b, s.to)
	}
	return b
}
