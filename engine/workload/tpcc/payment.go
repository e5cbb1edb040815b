package tpcc

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// drawCustomer picks a customer of a district: six of ten by last name.
func (r *runner) drawCustomer(rand *r2.Rand, district uint64) {
	r.cd = district
	r.byName = rand.Uint64n(100) < 60
	if r.byName {
		r.name = r.b.names.draw(rand)
	} else {
		r.c = r.b.customer.draw(rand)
	}
}

// drawPayment picks the inputs of clause 2.5.1. The row of the history belongs to
// this transaction, whatever becomes of it.
func (r *runner) drawPayment(rand *r2.Rand) {
	b := r.b
	district := r.d
	if r.permille(rand, b.opt.RemotePayment) {
		district = r.other(rand)*b.districts + rand.Uint64n(b.districts)
	}
	r.drawCustomer(rand, district)
	r.amount = uint32(100 + rand.Uint64n(499_901))
	r.history = r.paid.next[r.w]
	r.paid.next[r.w] += r.paid.step[r.w]
}

// payment is clause 2.5.2.
func (r *runner) payment(tx *txn.Tx) error {
	b := r.b
	if r.history >= b.payments {
		return fmt.Errorf("tpcc: warehouse %d has no room for payment %d: raise workload.orders from %d", r.w, r.history, b.opt.Orders)
	}
	c, err := r.findCustomer(tx)
	if err != nil {
		return err
	}
	if tx.Pieced() {
		return r.piecedPayment(tx, c)
	}
	key := b.customerKey(r.cd, c)
	r.refs = append(r.refs[:0],
		txn.Ref{Table: Warehouse, Key: r.w, Write: true}, txn.Ref{Table: District, Key: r.d, Write: true}, txn.Ref{Table: Customer, Key: key, Write: true})
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	v, err := tx.Update(Warehouse, r.w)
	if err != nil {
		return err
	}
	put48(v[wYTD:], i48(v[wYTD:])+int64(r.amount))
	if v, err = tx.Update(District, r.d); err != nil {
		return err
	}
	putI64(v[dYTD:], i64(v[dYTD:])+int64(r.amount))
	if v, err = tx.Update(Customer, key); err != nil {
		return err
	}
	pay(v, uint32(c), uint32(r.cd), uint32(r.d), r.amount)
	if v, err = tx.Insert(History, b.historyKey(r.w, r.history)); err != nil {
		return err
	}
	b.setHistory(v, r.d, r.cd, c, r.now(), r.amount)
	return nil
}

// pay changes the customer, of a district, who pays at another one or the same. One of bad credit gets the payment noted in
// front of its data.
func pay(v []byte, c, cd, d, amount uint32) {
	putI64(v[cBalance:], i64(v[cBalance:])-int64(amount))
	put48(v[cYTD:], i48(v[cYTD:])+int64(amount))
	add32(v[cPayments:], 1)
	if string(v[cCredit:cCredit+2]) != "BC" {
		return
	}
	data := v[cData : cData+cDataBytes]
	copy(data[cHistoryCopy:], data)
	note := data[:cHistoryCopy]
	clear(note)
	wire.Put32(note, c)
	wire.Put32(note[4:], cd)
	wire.Put32(note[8:], d)
	wire.Put32(note[12:], amount)
}
