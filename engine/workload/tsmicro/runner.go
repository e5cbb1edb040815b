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
	machine uint64 // around which its records are
	first   uint64 // of Block's records
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
		r.typ, r.machine, r.first = w.pair(c.Cluster(), c.Machine(), c.Thread(), c.Index())
	}
	return r
}

// pair is what a client of Block does, on which machine the reader of its records runs, and the number of the first of them. Every
// other thread writes, and the thread behind it reads the same. No thread reads after the last one, if their number is odd: what
// readers meet is then the same for all. Coroutines that a change has added share the records of those before.
func (w *Bench) pair(cl *r2.Cluster, machine, thread, index int) (typ uint8, reader, first uint64) {
	number := w.threads[machine] + uint64(thread)
	typ, reader = uint8(writes), uint64(machine)
	if number%2 == 1 {
		typ = reads
	} else if thread == cl.Threads(machine)-1 && machine+1 < w.behind {
		reader++
	}
	return typ, reader, (number/2*uint64(w.opt.Coroutines) + uint64(index%w.opt.Coroutines)) * uint64(w.opt.Tuples)
}

// group has the records of a pair: exactly the share of workload.local is on the reader's machine, and the others are spread over all
// others. A median would else be of the readers that have more of them at home, whose transactions are shorter and more.
func (r *runner) group() {
	w, m := r.w, r.w.servers
	local := (w.opt.Tuples*w.opt.Local + 50) / 100
	r.refs = r.refs[:0]
	for i := range uint64(w.opt.Tuples) {
		number := r.first + i
		home := number % m
		switch {
		case r.machine >= m || m == 1:
		case i < uint64(local):
			home = r.machine
		default:
			home = (r.machine + 1 + number%(m-1)) % m
		}
		r.refs = append(r.refs, txn.Ref{Table: Table, Key: number*m + home, Write: r.typ == writes})
	}
}

// The types of Block.
const (
	reads = iota
	writes
)

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
		r.group()
		if r.reads = 0; r.typ != writes {
			r.reads = len(r.refs)
		}
	}
	if err := r.client.Run(r.typ, w.ReadOnly(int(r.typ)), r.run); err != nil {
		return workload.Done(err)
	}
	for i := range r.refs[:len(r.refs)-r.reads] {
		w.writes.Add(r.client.Co(), r.refs[i].Key)
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
