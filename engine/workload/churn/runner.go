package churn

import (
	"cmp"
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// pairsRead is how many pairs a look reads, and a move.
const (
	pairsRead  = 3
	pairsMoved = 2
)

// runner is one coroutine's client. What the running transaction takes and sees are its
// fields, so that a body needs no closure.
type runner struct {
	w      *Churn
	client *txn.Client
	pocket []held // tokens that were taken out

	typ    int
	pairs  [pairsRead]uint64
	which  uint64 // of the two slots of a pair, to fill or to read
	again  bool   // a record is deleted and inserted again rather than updated
	refs   []txn.Ref
	hand   held // that put puts back, and take took
	wrote  bool
	broken string // what the attempt saw
	double string

	bodies []func(tx *txn.Tx) error // by type
}

// held is a token with its count.
type held struct{ token, count uint64 }

// Runner makes a coroutine's client.
func (w *Churn) Runner(c *r2.Co) workload.Runner {
	r := &runner{w: w, client: w.db.Client(c)}
	r.bodies = []func(tx *txn.Tx) error{move: r.move, remove: r.removeToken, put: r.put, count: r.count, look: r.look, lookOne: r.lookOne}
	of := w.clients.Of(c.Machine())
	of.runners = append(of.runners, r)
	return r
}

// Next runs one transaction.
func (r *runner) Next() error {
	w, rand := r.w, r.client.Co().Rand()
	typ := w.Pick(rand)
	if body := w.Custom(typ); body != nil {
		return workload.Done(r.client.Run(uint8(typ), false, body))
	}
	if typ == put && len(r.pocket) == 0 {
		typ = remove
	}
	r.typ, r.which, r.again = typ, rand.Uint64n(2), rand.Uint64n(4) == 0
	for i := range r.pairs {
		r.pairs[i] = rand.Uint64n(w.pairs)
	}
	if r.pairs[1] == r.pairs[0] {
		r.pairs[1] = (r.pairs[0] + 1) % w.pairs
	}
	if typ == put {
		r.hand = r.pocket[len(r.pocket)-1]
	}
	if err := r.client.Run(uint8(typ), w.ReadOnly(typ), r.bodies[typ]); err != nil {
		return workload.Done(err)
	}
	r.judge()
	return nil
}

// judge takes in a transaction that has committed.
func (r *runner) judge() {
	w, c := r.w, r.client.Co()
	of := w.clients.Of(c.Machine())
	of.foreign, of.doubled = cmp.Or(of.foreign, r.broken), cmp.Or(of.doubled, r.double)
	if !r.wrote {
		return
	}
	if r.typ == remove {
		r.pocket = append(r.pocket, r.hand)
		return
	}
	if r.hand.token < w.tokens() {
		w.counts.Add(c, r.hand.token)
	}
	if r.typ == put {
		r.pocket = r.pocket[:len(r.pocket)-1]
	}
}

// begin forgets what the attempt before saw, and announces the slots of the first n pairs.
func (r *runner) begin(tx *txn.Tx, n int) error {
	r.wrote, r.broken, r.double = false, "", ""
	r.refs = r.refs[:0]
	for _, pair := range r.pairs[:n] {
		for which := range uint64(2) {
			r.refs = append(r.refs, txn.Ref{Table: Table, Key: r.w.slot(pair, which)})
		}
	}
	return tx.Prefetch(r.refs...)
}

// slot reads a slot. ok says whether a token is there.
func (r *runner) slot(tx *txn.Tx, slot uint64) (t held, ok bool, err error) {
	v, err := tx.Read(Table, slot)
	if errors.Is(err, txn.ErrNotFound) {
		return held{}, false, nil
	}
	if err != nil {
		return held{}, false, err
	}
	var whole bool
	if t.token, t.count, whole = read(v, slot); !whole {
		r.broken = fmt.Sprintf("slot %d had the record %x", slot, v)
	}
	return t, true, nil
}

// pair reads both slots of a pair: which has a token, and that.
func (r *runner) pair(tx *txn.Tx, pair uint64) (slot uint64, t held, ok bool, err error) {
	for which := range uint64(2) {
		at := r.w.slot(pair, which)
		x, there, err := r.slot(tx, at)
		if err != nil {
			return 0, held{}, false, err
		}
		if there && ok {
			r.double = fmt.Sprintf("pair %d had tokens %d and %d", pair, t.token, x.token)
		}
		if there {
			slot, t, ok = at, x, true
		}
	}
	return slot, t, ok, nil
}

// idle ends an attempt that has found no token where it takes one, or one where it puts one: it has nothing to do, unless it failed.
func idle(tx *txn.Tx, err error) error {
	if err == nil {
		tx.Empty()
	}
	return err
}

// move takes the token of a pair to another one that is empty.
func (r *runner) move(tx *txn.Tx) error {
	if err := r.begin(tx, pairsMoved); err != nil {
		return err
	}
	from, t, ok, err := r.pair(tx, r.pairs[0])
	if err != nil || !ok {
		return idle(tx, err)
	}
	if _, _, full, err := r.pair(tx, r.pairs[1]); err != nil || full {
		return idle(tx, err)
	}
	if err := tx.Delete(Table, from); err != nil {
		return err
	}
	return r.fill(tx, r.w.slot(r.pairs[1], r.which), t)
}

// fill puts a token into an empty slot.
func (r *runner) fill(tx *txn.Tx, slot uint64, t held) error {
	v, err := tx.Insert(Table, slot)
	if err != nil {
		return err
	}
	write(v, slot, t.token, t.count+1)
	r.hand, r.wrote = t, true
	return nil
}

// removeToken takes the token of a pair out.
func (r *runner) removeToken(tx *txn.Tx) error {
	if err := r.begin(tx, 1); err != nil {
		return err
	}
	slot, t, ok, err := r.pair(tx, r.pairs[0])
	if err != nil || !ok {
		return idle(tx, err)
	}
	r.hand, r.wrote = t, true
	return tx.Delete(Table, slot)
}

// put puts a token back. Of the pair it reads the slot that it does not fill, and inserts into the other one
// without looking.
func (r *runner) put(tx *txn.Tx) error {
	r.wrote, r.broken, r.double = false, "", ""
	_, full, err := r.slot(tx, r.w.slot(r.pairs[0], 1-r.which))
	if err != nil || full {
		return idle(tx, err)
	}
	err = r.fill(tx, r.w.slot(r.pairs[0], r.which), r.hand)
	if errors.Is(err, txn.ErrExists) {
		return idle(tx, nil) // there is one: nothing happens
	}
	return err
}

// count counts in a record, or deletes it and inserts it again with a higher count.
func (r *runner) count(tx *txn.Tx) error {
	if err := r.begin(tx, 1); err != nil {
		return err
	}
	slot, t, ok, err := r.pair(tx, r.pairs[0])
	if err != nil || !ok {
		return idle(tx, err)
	}
	if r.again {
		if err := tx.Delete(Table, slot); err != nil {
			return err
		}
		return r.fill(tx, slot, t)
	}
	v, err := tx.Update(Table, slot)
	if err != nil {
		return err
	}
	write(v, slot, t.token, t.count+1)
	r.hand, r.wrote = t, true
	return nil
}

// look reads some pairs.
func (r *runner) look(tx *txn.Tx) error {
	if err := r.begin(tx, pairsRead); err != nil {
		return err
	}
	some := false
	for _, pair := range r.pairs {
		_, _, ok, err := r.pair(tx, pair)
		if err != nil {
			return err
		}
		some = some || ok
	}
	if !some {
		tx.Empty()
	}
	return nil
}

// lookOne reads one slot.
func (r *runner) lookOne(tx *txn.Tx) error {
	r.wrote, r.broken, r.double = false, "", ""
	_, ok, err := r.slot(tx, r.w.slot(r.pairs[0], r.which))
	if !ok {
		return idle(tx, err)
	}
	return nil
}
