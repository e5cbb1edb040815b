package rococo

import "drtmx/engine/wire"

// Formats of messages, in words of 8 bytes.
//
//	start    transaction | pieces: table 8 key 56 | operation 16, input bytes 16 | input
//	  reply  number of edges | outputs of immediate pieces | edges, as many as there is room for
//	more     transaction
//	  reply  edges of a start for which its reply had no room, as many as there is room for
//	before   transaction | edges for which its commit has no room
//	  reply  nothing
//	commit   transaction | the other edges
//	  reply  outputs of the other pieces
//	ask      transaction | the last edge of the reply before, if that was full
//	  reply  edges behind it, in their order; if it is full, there may be more
//	read     flags | items: table 8 key 56
//	  reply  items: place, or gap | stamp, if it is there or has left a tombstone | value, if it is there and wanted
//	whole    transaction | what the workload says of it
//	  reply  one word
//
// A transaction's number is of 52 bits; an edge has the server and whether it is immediate above it.
const (
	word       = 8
	pieceBytes = 2 * word

	coroutineBits = 20
	countBits     = 32
	idBits        = coroutineBits + countBits
	serverBits    = 11
	immediateBit  = uint64(1) << 63

	// mostServers and mostCoroutines are what numbers can name.
	mostServers    = 1 << serverBits
	mostCoroutines = 1 << coroutineBits

	// Heads of items that were read.
	foundBit = uint64(1) << 63
	tombBit  = uint64(1) << 62

	stampsOnly = 1 // flag of a read: no values
)

func item(table uint8, key uint64) uint64 { return uint64(table)<<56 | key }

// numberOf makes the number of a coroutine's transaction.
func numberOf(co uint32, count uint64) txnID {
	return txnID((count&(1<<countBits-1))<<coroutineBits | uint64(co))
}

// word is an edge in a message.
func (e edge) word() uint64 {
	w := uint64(e.before) | uint64(e.server)<<idBits
	if e.immediate {
		w |= immediateBit
	}
	return w
}

func edgeOf(w uint64) edge {
	return edge{before: txnID(w & (1<<idBits - 1)), server: int16(w >> idBits & (mostServers - 1)), immediate: w&immediateBit != 0}
}

// edgesOf appends those in a message.
func edgesOf(b []byte, list []edge) []edge {
	for ; len(b) >= word; b = b[word:] {
		list = append(list, edgeOf(wire.Get64(b)))
	}
	return list
}

// addEdges appends edges to a request.
func addEdges(b []byte, list []edge) []byte {
	for _, e := range list {
		b = wire.Add64(b, e.word())
	}
	return b
}

// putEdges writes edges into a reply, as many as there is room for.
func putEdges(b []byte, list []edge) (bytes, edges int) {
	for ; edges < len(list) && bytes+word <= len(b); edges++ {
		wire.Put64(b[bytes:], list[edges].word())
		bytes += word
	}
	return bytes, edges
}
