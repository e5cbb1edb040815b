package kvbench

import "encoding/binary"

// What a value begins with: 16 bits of a hash of its key, 20 of its writer, 28 of the writer's count.
const (
	seqBits    = 28
	writerBits = 20
	idBits     = seqBits + writerBits
	idMask     = 1<<idBits - 1

	// initialWriter is no client: the value is there from the start.
	initialWriter = 1<<writerBits - 1
	initial       = id(initialWriter << seqBits)
)

// id is a write: its client, and which of the client's it is.
type id uint64

func newID(writer uint32, seq uint32) id { return id(writer)<<seqBits | id(seq) }
func (x id) writer() uint32              { return uint32(x >> seqBits) }
func (x id) seq() uint32                 { return uint32(x) & (1<<seqBits - 1) }

// put writes the value of a write to a key.
func put(key uint64, x id, value []byte) {
	word := hash(key)&^idMask | uint64(x)
	for i := uint64(0); len(value) > 0; i++ {
		w := word
		if i > 0 {
			w = hash(word + hash(key+i))
		}
		if len(value) < 8 {
			var last [8]byte
			binary.LittleEndian.PutUint64(last[:], w)
			copy(value, last[:])
			return
		}
		binary.LittleEndian.PutUint64(value, w)
		value = value[8:]
	}
}

// parse is the write that a value is of, and what is wrong with it, if it is not the value of this key.
func parse(key uint64, value, scratch []byte) (x id, wrong string) {
	word := binary.LittleEndian.Uint64(value)
	x = id(word & idMask)
	if (word^hash(key))&^idMask != 0 {
		return x, "which is another key's, or none"
	}
	put(key, x, scratch[:len(value)])
	if string(scratch[:len(value)]) != string(value) {
		return x, "whose bytes are of several writes"
	}
	return x, ""
}

// hash is that of splitmix64.
func hash(x uint64) uint64 {
	z := x + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
