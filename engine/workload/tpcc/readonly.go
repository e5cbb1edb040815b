package tpcc

import (
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// drawOrderStatus picks the inputs of clause 2.6.1.
func (r *runner) drawOrderStatus(rand *r2.Rand) { r.drawCustomer(rand, r.d) }

// orderStatus is clause 2.6.2. The customer is read before the index says which
// order is the last: whatever follows an order that comes in behind the scan and
// that this transaction could see with the customer, as its delivery, changes the
// customer, and validation finds that.
func (r *runner) orderStatus(tx *txn.Tx) error {
	b := r.b
	c, err := r.findCustomer(tx)
	if err != nil {
		return err
	}
	if _, err := tx.Read(Customer, b.customerKey(r.cd, c)); err != nil {
		return err
	}
	for top := placedKey(c, 1<<orderBits-1); ; {
		list, err := tx.Scan(b.placed, store.Range{Part: r.cd, From: placedKey(c, 0), To: top, Limit: 1, Down: true})
		if err != nil {
			return err
		}
		if len(list) == 0 {
			tx.Empty()
			return nil
		}
		o := list[0].Value
		v, ok, err := r.find(tx, Order, b.orderKey(r.cd, o))
		if err != nil {
			return err
		}
		if ok {
			return r.readLines(tx, b.orderKey(r.cd, o), min(uint64(v[oLines]), maxLines))
		}
		if o == 0 {
			tx.Empty()
			return nil
		}
		top = list[0].Key - 1 // this one was never placed
	}
}

func (r *runner) readLines(tx *txn.Tx, order, lines uint64) error {
	r.refs = r.refs[:0]
	for n := range lines {
		r.refs = append(r.refs, txn.Ref{Table: OrderLine, Key: r.b.lineKey(order, n)})
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	for _, x := range r.refs {
		if _, _, err := r.find(tx, x.Table, x.Key); err != nil {
			return err
		}
	}
	return nil
}

// drawStockLevel picks the inputs of clause 2.8.1.
func (r *runner) drawStockLevel(rand *r2.Rand) { r.threshold = uint32(10 + rand.Uint64n(11)) }

const lastOrders = 20 // whose items stock-level looks at

// stockLevel is clause 2.8.2: the lines whose orders' numbers are in the range of the
// last 20, by a range of their index; of one district, or of Options.StockDistricts.
func (r *runner) stockLevel(tx *txn.Tx) error {
	b := r.b
	r.refs = r.refs[:0]
	for k := range b.stockDistricts {
		r.refs = append(r.refs, txn.Ref{Table: District, Key: b.districtFrom(r.d, k)})
	}
	if len(r.refs) > 1 {
		if err := tx.Prefetch(r.refs...); err != nil {
			return err
		}
	}
	r.refs = r.refs[:0]
	for k := range b.stockDistricts {
		if err := r.listLines(tx, b.districtFrom(r.d, k)); err != nil {
			return err
		}
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	r.items = r.items[:0]
	for _, x := range r.refs {
		v, ok, err := r.find(tx, OrderLine, x.Key)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		district, _ := b.orderOf(x.Key / maxLines)
		r.items = append(r.items, b.stockKey(district/b.districts, uint64(wire.Get32(v[lItem:]))%b.items))
	}
	return r.countLow(tx)
}

// districtFrom is the k-th district from one on, through all warehouses and from the last to the first.
func (b *Bench) districtFrom(d, k uint64) uint64 { return (d + k) % (b.warehouses * b.districts) }

// listLines appends the lines of a district's last orders to r.refs.
func (r *runner) listLines(tx *txn.Tx, d uint64) error {
	b := r.b
	dist, err := tx.Read(District, d)
	if err != nil {
		return err
	}
	next := min(uint64(wire.Get32(dist[dNext:]))-1, b.orders)
	list, err := tx.Scan(b.lines, store.Range{Part: d, From: next - min(next, lastOrders), To: next - 1, Limit: lastOrders})
	if err != nil {
		return err
	}
	for _, e := range list {
		for n := range e.Value {
			r.refs = append(r.refs, txn.Ref{Table: OrderLine, Key: b.lineKey(b.orderKey(d, e.Key), n)})
		}
	}
	return nil
}

// countLow counts the different items of a warehouse whose stock is below the threshold.
func (r *runner) countLow(tx *txn.Tx) error {
	if len(r.items) == 0 {
		tx.Empty()
	}
	slices.Sort(r.items)
	r.items = slices.Compact(r.items)
	r.refs = r.refs[:0]
	for _, stock := range r.items {
		r.refs = append(r.refs, txn.Ref{Table: Stock, Key: stock})
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	r.low = 0
	for _, x := range r.refs {
		v, err := tx.Read(Stock, x.Key)
		if err != nil {
			return err
		}
		if wire.Get32(v[sQuantity:]) < r.threshold {
			r.low++
		}
	}
	return nil
}
