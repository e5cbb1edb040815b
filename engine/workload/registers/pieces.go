package registers

import (
	"encoding/binary"

	"drtmx/engine/txn"
)

// The pieces of a read-write transaction: it knows its registers beforehand, and what it writes follows from what is there.
var (
	readPiece = txn.NewOp(txn.Op{Name: "registers.read", Output: 16, F: func(value, _, output []byte) { look(value, output) }})
	addPiece  = txn.NewOp(txn.Op{Name: "registers.add", Output: 16, Writes: true, F: func(value, _, output []byte) {
		look(value, output)
		n := binary.LittleEndian.Uint64(output) + 1
		for ; len(value) > 0; value = value[8:] {
			binary.LittleEndian.PutUint64(value, n)
		}
	}})
)

// look gives back a register's value, and whether its words differ.
func look(value, output []byte) {
	n, torn := binary.LittleEndian.Uint64(value), uint64(0)
	for ; len(value) > 0; value = value[8:] {
		if binary.LittleEndian.Uint64(value) != n {
			torn = 1
		}
	}
	binary.LittleEndian.PutUint64(output, n)
	binary.LittleEndian.PutUint64(output[8:], torn)
}

// pieces is run in pieces.
func (r *runner) pieces(tx *txn.Tx) error {
	r.outputs = r.outputs[:0]
	for i, ref := range r.refs {
		op := readPiece
		if i >= len(r.refs)-r.writes {
			op = addPiece
		}
		out, err := tx.Apply(Table, ref.Key, op, nil)
		if err != nil {
			return err
		}
		r.outputs = append(r.outputs, out)
	}
	return nil
}

// noteOutput takes in what a piece has seen.
func (r *runner) noteOutput(output []byte) {
	r.seen = append(r.seen, binary.LittleEndian.Uint64(output))
	r.torn = r.torn || output[8] != 0
}
