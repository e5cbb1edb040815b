package tsmicro

import (
	"encoding/binary"

	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// runner is one coroutine's client. What the running transaction takes are its fields, so that a body needs no closure.
type runner struct {
	w       *Bench
	client  *txn.Client
	machine uint64
	refs    []txn.Ref
	reads   int // how many of them, at the end, are only read
	typ     uint8
	run     func(tx *txn.Tx) error
}

// Runner makes a coroutine's client.
func (w *Bench) Runner(c *r2.Co) workload.Runner {
	r := &runner{w: w, client: w.db.Client(c), machine: uint64(c.Machine())}
	r.run = r.tuples
	switch w.opt.Load {
	case Spin:
		r.run = r.spin
	case Block:
		r.typ, r.refs = w.group(c.Cluster(), c.Machine(), c.Thread(), c.Index())
	}
	return r
}

// group picks the records of a client that shares them with the client of the next thread: an even thread's reads them, an odd
// one's writes them. They are local as seen from the former.
func (w *Bench) group(cl *r2.Cluster, machine, thread, index int) (typ uint8, refs []txn.Ref) {
	number := w.threads[machine] + uint64(thread)
	if typ = uint8(number % 2); typ == writes && thread == 0 {
		machine--
	}
	first := (number/2*uint64(w.opt.Coroutines) + uint64(index)) * uint64(w.opt.Tuples)
	rand := cl.Stream("tsmicro.group", first)
	for i := range uint64(w.opt.Tuples) {
		key := (first+i)*w.servers + w.draw(rand, uint64(machine))%w.servers
		refs = append(refs, txn.Ref{Table: Table, Key: key, Write: typ == writes})
	}
	return typ, refs
}

// writes is the number of Block's type that does.
const writes = 1

// Next runs one transaction. Behind it the thread looks for messages: one that spins, or that finds all it wants at home, never waits.
func (r *runner) Next() error {
	err := r.next()
	r.client.Co().Yield()
	return err
}

func (r *runner) next() error {
	w, rand := r.w, r.client.Co().Rand()
	if typ := w.Pick(rand); w.Custom(typ) != nil {
		return workload.Done(r.client.Run(uint8(typ), false, w.Custom(typ)))
	}
	switch w.opt.Load {
	case Read:
		r.draw(rand)
		r.reads = len(r.refs)
	case Update:
		r.draw(rand)
		r.reads = len(r.refs) * w.opt.ReadShare / 100
	case Block:
		if r.reads = 0; r.typ != writes {
			r.reads = len(r.refs)
		}
	}
	if err := r.client.Run(r.typ, w.ReadOnly(int(r.typ)), r.run); err != nil {
		return workload.Done(err)
	}
	for i := range r.refs[:len(r.refs)-r.reads] {
		w.writes[r.refs[i].Key]++
	}
	return nil
}

// draw picks different records. Those to be written come first, in no other order than they were drawn.
func (r *runner) draw(rand *r2.Rand) {
	w := r.w
	r.refs = r.refs[:0]
	for len(r.refs) < w.opt.Tuples {
		key := w.draw(rand, r.machine)
		for r.has(key) {
			key = (key + 1) % w.opt.Keys
		}
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

// spin keeps the core busy.
func (r *runner) spin(tx *txn.Tx) error {
	tx.Stamped()
	c := tx.Co()
	c.Compute(r.w.opt.SpinNS * int(c.Cluster().Fabric().Machine(c.Machine()).CPU.MHz) / 1000)
	return nil
}

// tuples reads the records, and adds one to those that it writes.
func (r *runner) tuples(tx *txn.Tx) error {
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	for i, ref := range r.refs {
		if i >= len(r.refs)-r.reads {
			if _, err := tx.Read(Table, ref.Key); err != nil {
				return err
			}
			continue
		}
		v, err := tx.Update(Table, ref.Key)
		if err != nil {
			return err
		}
		for k := 0; k < len(v); k += 8 {
			binary.LittleEndian.PutUint64(v[k:], binary.LittleEndian.Uint64(v[k:])+1)
		}
	}
	return nil
}
