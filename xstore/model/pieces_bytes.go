package model

import (
	"encoding/binary"
	"math"
)

// Put writes the Bytes of a model, for memory that others read: each piece as start u64, height f32, slope f32.
func (t *Pieces) Put(b []byte) {
	for i := range t.starts {
		p := b[i*pieceBytes:]
		binary.LittleEndian.PutUint64(p, t.starts[i])
		binary.LittleEndian.PutUint32(p[8:], math.Float32bits(t.heights[i]))
		binary.LittleEndian.PutUint32(p[12:], math.Float32bits(t.slopes[i]))
	}
}

// GetPieces reads what Put has written.
func GetPieces(b []byte) *Pieces {
	t := &Pieces{}
	for ; len(b) >= pieceBytes; b = b[pieceBytes:] {
		t.starts = append(t.starts, binary.LittleEndian.Uint64(b))
		t.heights = append(t.heights, math.Float32frombits(binary.LittleEndian.Uint32(b[8:])))
		t.slopes = append(t.slopes, math.Float32frombits(binary.LittleEndian.Uint32(b[12:])))
	}
	return t
}
