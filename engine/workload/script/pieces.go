package script

import (
	"encoding/binary"
	"slices"

	"drtmx/engine/txn"
)

// The pieces of the steps that read and write. What an insert or a delete finds is not known beforehand, so those have
// none.
var (
	readPiece = txn.NewOp(txn.Op{Name: "script.read", Output: 1, F: func(value, _, output []byte) { look(value, output) }})
	addPiece  = txn.NewOp(txn.Op{Name: "script.add", Output: 1, Writes: true, F: func(value, _, output []byte) {
		look(value, output)
		fill(value, binary.LittleEndian.Uint64(value)+1)
	}})
)

// look says whether the words of a record differ.
func look(value, output []byte) {
	n := binary.LittleEndian.Uint64(value)
	for ; len(value) > 0; value = value[8:] {
		if binary.LittleEndian.Uint64(value) != n {
			output[0] = 1
		}
	}
}

// pieces is run in pieces, each a step of the protocol too: the next one is not sent before.
func (r *runner) pieces(tx *txn.Tx) error {
	r.outputs = r.outputs[:0]
	for _, o := range r.steps {
		op := readPiece
		switch o.what {
		case 'r', 'a':
		case 'w':
			if slices.Contains(r.wrote, o.key) {
				continue // it counts once per transaction
			}
			op, r.wrote = addPiece, append(r.wrote, o.key)
		}
		out, err := tx.Apply(Table, o.key, op, nil)
		if err == nil {
			r.outputs = append(r.outputs, out)
			err = tx.Step()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runWhole runs all steps on the server of their records.
func (r *runner) runWhole(tx *txn.Tx) error {
	return tx.Whole(r.w.table.Primary(r.steps[0].key), len(r.steps)*8, r.walk)
}
