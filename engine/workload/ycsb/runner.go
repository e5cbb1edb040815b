package ycsb

import (
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// runner is one coroutine's client. What the running transaction takes and sees are its
// fields, so that a body needs no closure.
type runner struct {
	w       *YCSB
	client  *txn.Client
	machine uint64
	body    func(tx *txn.Tx) error
	servers []uint64 // in an order that draws change: a transaction's are in front

	refs   []txn.Ref // of the operations, in their order
	update []bool    // by operation: it updates its record
	seen   []uint64  // by operation: the value
	torn   bool
	wrong  bool
}

// Runner makes a coroutine's client.
func (w *YCSB) Runner(c *r2.Co) workload.Runner {
	r := newRunner(w, uint64(c.Machine()))
	r.client = w.db.Client(c)
	return r
}

func newRunner(w *YCSB, machine uint64) *runner {
	r := &runner{
		w: w, machine: machine, servers: make([]uint64, w.servers),
		refs: make([]txn.Ref, 0, w.opt.Ops), update: make([]bool, 0, w.opt.Ops), seen: make([]uint64, 0, w.opt.Ops),
	}
	for i := range r.servers {
		r.servers[i] = uint64(i)
	}
	r.body = r.run
	return r
}

// Next runs one transaction.
func (r *runner) Next() error {
	w, rand := r.w, r.client.Co().Rand()
	if typ := w.Pick(rand); typ > readOnly {
		return workload.Done(r.client.Run(uint8(typ), false, w.Custom(typ)))
	}
	typ := r.draw(rand)
	w.fresh.Begin(r.client.Co(), r.refs)
	if err := r.client.Run(uint8(typ), typ == readOnly, r.body); err != nil {
		return workload.Done(err)
	}
	r.judge()
	return nil
}

// draw draws the operations of a transaction and returns its type.
func (r *runner) draw(rand *r2.Rand) (typ int) {
	w := r.w
	r.refs, r.update = r.refs[:0], r.update[:0]
	at, turn := r.drawMachines(rand), uint64(0)
	if len(at) > 1 {
		turn = rand.Uint64n(uint64(len(at)))
	}
	typ = readOnly
	for i := range uint64(w.opt.Ops) {
		key := uint64(0)
		if len(at) == 0 {
			key = r.drawKey(rand, anywhere)
		} else {
			key = r.drawKey(rand, at[(turn+i)%uint64(len(at))])
		}
		update := rand.Uint64n(workload.ShareUnit) < w.writeBound
		if update {
			typ = readWrite
		}
		r.refs = append(r.refs, txn.Ref{Table: Table, Key: key, Write: update})
		r.update = append(r.update, update)
	}
	return typ
}

// anywhere is the machine of a record that may be on any.
const anywhere = ^uint64(0)

// drawMachines draws the machines of a transaction, the client's own first if it holds data. None: the
// records come from all alike.
func (r *runner) drawMachines(rand *r2.Rand) []uint64 {
	w := r.w
	if w.opt.Nodes == 0 {
		return nil
	}
	n := 1
	if rand.Uint64n(workload.ShareUnit) < w.distributedBound {
		n = w.opt.Nodes
	}
	first := 0
	if r.machine < w.servers {
		for i, m := range r.servers {
			if m == r.machine {
				r.servers[0], r.servers[i] = m, r.servers[0]
				break
			}
		}
		first = 1
	}
	for i := first; i < n; i++ {
		j := i + int(rand.Uint64n(w.servers-uint64(i)))
		r.servers[i], r.servers[j] = r.servers[j], r.servers[i]
	}
	return r.servers[:n]
}

// redraws bounds how often a record is drawn anew that the transaction has already. A distribution that
// has hardly more than those gives the next free one then.
const redraws = 64

// drawKey draws a record that the transaction does not have yet, of a machine or of any.
func (r *runner) drawKey(rand *r2.Rand, machine uint64) uint64 {
	w := r.w
	step := uint64(1)
	if machine != anywhere {
		step = w.servers
	}
	var key uint64
	for range redraws {
		if key = w.popular.Draw(rand); machine != anywhere {
			key = w.popular.Beside(key, w.servers, machine)
		}
		if !r.has(key) {
			return key
		}
	}
	for r.has(key) {
		if key += step; key >= w.opt.Keys {
			key %= step
		}
	}
	return key
}

func (r *runner) has(key uint64) bool {
	for i := range r.refs {
		if r.refs[i].Key == key {
			return true
		}
	}
	return false
}

// run reads the records, or adds one to their first field, one after the other in the order drawn.
func (r *runner) run(tx *txn.Tx) error {
	r.seen, r.torn, r.wrong = r.seen[:0], false, false
	if err := tx.Declare(r.refs...); err != nil {
		return err
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	for i, ref := range r.refs {
		if r.update[i] {
			field, err := tx.Update(Table, ref.Key)
			if err != nil {
				return err
			}
			n, torn := r.w.count(field)
			r.see(n, torn)
			putCount(field, n+1)
			continue
		}
		v, err := tx.Read(Table, ref.Key)
		if err != nil {
			return err
		}
		n, torn := r.w.count(v)
		r.see(n, torn)
		r.wrong = r.wrong || !r.w.isOf(v, ref.Key)
	}
	return nil
}

func (r *runner) see(n uint64, torn bool) {
	r.seen = append(r.seen, n)
	r.torn = r.torn || torn
}

// judge looks at what a transaction saw that has committed.
func (r *runner) judge() {
	c := r.client.Co()
	saw := r.w.saw.Of(c.Machine())
	if r.torn {
		saw.torn++
	}
	if r.wrong {
		saw.wrong++
	}
	r.w.fresh.Commit(c, r.seen, r.client.MayLack())
}
