package registers

import (
	"encoding/binary"

	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// runner is one coroutine's client. What the running transaction takes and sees are its
// fields, so that a body needs no closure.
type runner struct {
	w       *Registers
	client  *txn.Client
	machine uint64
	body    func(tx *txn.Tx) error
	refs    []txn.Ref // the registers, those to write at the end: announced as if they were only read
	sets    []txn.Ref // as they are declared
	writes  int       // how many of them
	seen    []uint64  // by register: the value
	torn    bool
	outputs [][]byte // of pieces, by register
}

// Runner makes a coroutine's client.
func (w *Registers) Runner(c *r2.Co) workload.Runner {
	r := &runner{w: w, client: w.db.Client(c), machine: uint64(c.Machine())}
	r.body = r.run
	return r
}

// Next runs one transaction.
func (r *runner) Next() error {
	w, rand := r.w, r.client.Co().Rand()
	typ := w.Pick(rand)
	if body := w.Custom(typ); body != nil {
		return workload.Done(r.client.Run(uint8(typ), false, body))
	}
	n := w.opt.Reads + w.opt.Writes
	if r.writes = 0; typ == readWrite {
		r.writes = w.opt.Writes
	} else if typ == readOne {
		n = 1
	}
	r.draw(rand, n)
	w.fresh.Begin(r.client.Co(), r.sets)
	r.outputs = r.outputs[:0]
	if err := r.client.Run(uint8(typ), w.ReadOnly(typ), r.body); err != nil {
		return workload.Done(err)
	}
	for _, out := range r.outputs {
		r.noteOutput(out)
	}
	r.judge()
	return nil
}

// draw picks n different registers. A distribution that has hardly more than those it draws
// all the time gives the next free ones.
func (r *runner) draw(rand *r2.Rand, n int) {
	w := r.w
	r.refs, r.sets, r.seen = r.refs[:0], r.sets[:0], r.seen[:0]
	for len(r.refs) < n {
		key := w.draw(rand, r.machine)
		for r.has(key) {
			key = (key + 1) % w.opt.Keys
		}
		r.sets = append(r.sets, txn.Ref{Table: Table, Key: key, Write: len(r.refs) >= n-r.writes})
		r.refs = append(r.refs, txn.Ref{Table: Table, Key: key})
	}
}

func (r *runner) has(key uint64) bool {
	for i := range r.refs {
		if r.refs[i].Key == key {
			return true
		}
	}
	return false
}

// run reads the registers and adds one to those at the end.
func (r *runner) run(tx *txn.Tx) error {
	r.seen, r.torn = r.seen[:0], false
	if !tx.ReadOnly() && tx.Pieced() {
		return r.pieces(tx)
	}
	if err := tx.Declare(r.sets...); err != nil {
		return err
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	for i, ref := range r.refs {
		v, err := tx.Read(Table, ref.Key)
		if err != nil {
			return err
		}
		n := binary.LittleEndian.Uint64(v)
		for k := 8; k < len(v); k += 8 {
			r.torn = r.torn || binary.LittleEndian.Uint64(v[k:]) != n
		}
		r.seen = append(r.seen, n)
		if i < len(r.refs)-r.writes {
			continue
		}
		out, err := tx.Update(Table, ref.Key)
		if err != nil {
			return err
		}
		for k := 0; k < len(out); k += 8 {
			binary.LittleEndian.PutUint64(out[k:], n+1)
		}
	}
	return nil
}

// judge looks at what a transaction saw that has committed.
func (r *runner) judge() {
	c := r.client.Co()
	if r.torn {
		*r.w.torn.Of(c.Machine())++
	}
	r.w.fresh.Commit(c, r.seen, r.client.MayLack())
}
