package tpcc

import (
	"fmt"

	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// The transactions in pieces, for protocols that reorder them. Only the number that a new-order takes from its district is
// needed to go on, so that piece is immediate, and with it payment's of the district, which meets it. A delivery finds out as
// it goes which order is the oldest: it is one piece, on the server of its warehouse.
var (
	nextPiece = txn.NewOp(txn.Op{Name: "tpcc.next-order", Output: 4, Immediate: true, Writes: true, F: func(v, _, output []byte) {
		copy(output, v[dNext:dNext+4])
		add32(v[dNext:], 1)
	}})
	districtPiece = txn.NewOp(txn.Op{Name: "tpcc.district-paid", Immediate: true, Writes: true, F: func(v, input, _ []byte) {
		putI64(v[dYTD:], i64(v[dYTD:])+int64(wire.Get32(input)))
	}})
	taxPiece       = txn.NewOp(txn.Op{Name: "tpcc.tax", Output: 2, F: func(v, _, output []byte) { copy(output, v[wTax:]) }})
	warehousePiece = txn.NewOp(txn.Op{Name: "tpcc.warehouse-paid", Writes: true, F: func(v, input, _ []byte) {
		put48(v[wYTD:], i48(v[wYTD:])+int64(wire.Get32(input)))
	}})
	discountPiece = txn.NewOp(txn.Op{Name: "tpcc.discount", Output: 2, F: func(v, _, output []byte) { copy(output, v[cDiscount:]) }})
	customerPiece = txn.NewOp(txn.Op{Name: "tpcc.customer-pays", Writes: true, F: func(v, input, _ []byte) {
		pay(v, wire.Get32(input), wire.Get32(input[4:]), wire.Get32(input[8:]), wire.Get32(input[12:]))
	}})
	stockPiece = txn.NewOp(txn.Op{Name: "tpcc.stock", Writes: true, F: func(v, input, _ []byte) {
		takeGoods(v, wire.Get32(input), input[4] != 0)
	}})
	insertPiece = txn.NewOp(txn.Op{Name: "tpcc.insert", Inserts: true, F: func(v, input, _ []byte) { copy(v, input) }})
)

// piecedNewOrder is newOrder in pieces: prices come first, and whether there are all of the goods; then the number is taken
// and the stock changed; then the records of that number are inserted.
func (r *runner) piecedNewOrder(tx *txn.Tx) error {
	b, in := r.b, &r.order
	if err := r.readConstants(tx); err != nil {
		return err
	}
	if in.invalid {
		return txn.ErrRollback // before anything has started: what has cannot be taken back
	}
	next, err := tx.Apply(District, r.d, nextPiece, nil)
	if err != nil {
		return err
	}
	if _, err := tx.Apply(Warehouse, r.w, taxPiece, nil); err != nil {
		return err
	}
	if _, err := tx.Apply(Customer, b.customerKey(r.d, r.c), discountPiece, nil); err != nil {
		return err
	}
	for i := range in.lines {
		l := &in.line[i]
		var input [5]byte
		if wire.Put32(input[:], l.quantity); l.supply != r.w {
			input[4] = 1
		}
		if _, err := tx.Apply(Stock, b.stockKey(l.supply, l.item), stockPiece, input[:]); err != nil {
			return err
		}
	}
	if err := tx.Step(); err != nil {
		return err
	}
	o := uint64(wire.Get32(next)) - 1
	if o >= b.orders {
		return tx.Fail(r.noRoom(o))
	}
	return r.insertPieces(tx, o)
}

// readConstants reads what is never written: the items and the rest of their stock.
func (r *runner) readConstants(tx *txn.Tx) error {
	b, in := r.b, &r.order
	r.refs = r.refs[:0]
	for _, l := range in.line[:in.lines] {
		r.refs = append(r.refs, txn.Ref{Table: Item, Key: b.itemKey(b.server(r.w), l.item)})
		if !b.opt.NewOrderOnly {
			r.refs = append(r.refs, txn.Ref{Table: StockData, Key: b.stockKey(l.supply, l.item)})
		}
	}
	return tx.Prefetch(r.refs...)
}

// insertPieces inserts the order of a number.
func (r *runner) insertPieces(tx *txn.Tx, o uint64) error {
	b, in := r.b, &r.order
	key := b.orderKey(r.d, o)
	var row [max(orderBytes, orderLineBytes, newOrderBytes)]byte
	b.setOrder(row[:orderBytes], r.d, o, r.c, r.now(), in.lines, in.allLocal)
	if _, err := tx.Apply(Order, key, insertPiece, row[:orderBytes]); err != nil {
		return err
	}
	b.setNewOrder(row[:newOrderBytes], r.d, o)
	if _, err := tx.Apply(NewOrder, key, insertPiece, row[:newOrderBytes]); err != nil {
		return err
	}
	for i := range in.lines {
		l := &in.line[i]
		item, err := tx.Read(Item, b.itemKey(b.server(r.w), l.item))
		if err != nil {
			return err
		}
		line := row[:b.lineBytes()]
		b.setOrderLine(line, r.d, o, uint64(i), l.item, l.supply, uint16(l.quantity), l.quantity*wire.Get32(item[iPrice:]))
		if !b.opt.NewOrderOnly {
			data, err := tx.Read(StockData, b.stockKey(l.supply, l.item))
			if err != nil {
				return err
			}
			r.setDist(line, data)
		}
		if _, err := tx.Apply(OrderLine, b.lineKey(key, uint64(i)), insertPiece, line); err != nil {
			return err
		}
	}
	r.addOrderEntries(tx, o)
	return nil
}

// piecedPayment is payment in pieces, all of one step.
func (r *runner) piecedPayment(tx *txn.Tx, c uint64) error {
	b := r.b
	var input [16]byte
	wire.Put32(input[:], r.amount)
	if _, err := tx.Apply(Warehouse, r.w, warehousePiece, input[:4]); err != nil {
		return err
	}
	if _, err := tx.Apply(District, r.d, districtPiece, input[:4]); err != nil {
		return err
	}
	wire.Put32(input[:], uint32(c))
	wire.Put32(input[4:], uint32(r.cd))
	wire.Put32(input[8:], uint32(r.d))
	wire.Put32(input[12:], r.amount)
	if _, err := tx.Apply(Customer, b.customerKey(r.cd, c), customerPiece, input[:]); err != nil {
		return err
	}
	var row [historyBytes]byte
	b.setHistory(row[:], r.d, r.cd, c, r.now(), r.amount)
	_, err := tx.Apply(History, b.historyKey(r.w, r.history), insertPiece, row[:])
	return err
}

// delivery is deliver, where the records are.
func (r *runner) delivery(tx *txn.Tx) error {
	const inputBytes = 24 // district, carrier, date
	return tx.Whole(int(r.b.server(r.d/r.b.districts)), inputBytes, r.bodyOfDelivery)
}

// noRoom is the error of a district without rows for an order.
func (r *runner) noRoom(o uint64) error {
	return fmt.Errorf("tpcc: district %d of warehouse %d has no room for order %d: raise workload.orders from %d", r.d%r.b.districts, r.w, o+1, r.b.opt.Orders)
}
