package tpcc

import (
	"errors"

	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
	"drtmx/engine/workload"
)

// runner is one coroutine's client: the terminals of its thread's warehouses.
// The inputs of the running transaction are its fields, so that a body needs no
// closure.
type runner struct {
	b      *Bench
	client *txn.Client
	homes  []uint64
	paid   *paidRows

	bodyOfDelivery func(tx *txn.Tx) error

	bodies [numTypes]func(tx *txn.Tx) error
	draws  [numTypes]func(r *r2.Rand)

	w         uint64 // the terminal's warehouse
	d         uint64 // a district of it, numbered through the warehouses
	cd, c     uint64 // district and number of the customer
	byName    bool   // the customer is found by last name
	name      uint64
	order     orderInput
	amount    uint32 // of a payment
	history   uint64 // its row
	carrier   byte   // of a delivery
	left      int    // districts that it has to go to
	threshold uint32 // of stock-level
	low       int    // what it found

	refs  []txn.Ref
	items []uint64 // stock records
}

// orderInput is what a new-order orders.
type orderInput struct {
	lines    int
	allLocal bool
	invalid  bool // the last item does not exist
	line     [maxLines]struct {
		item, supply uint64
		quantity     uint32
	}
}

// Runner makes a coroutine's client.
func (b *Bench) Runner(c *r2.Co) workload.Runner {
	r := &runner{b: b, client: b.db.Client(c), homes: b.homes(c.Cluster(), c.Machine(), c.Thread()), paid: b.paid.Of(c.Machine())}
	r.bodies = [numTypes]func(tx *txn.Tx) error{
		newOrder: r.newOrder, payment: r.payment, orderStatus: r.orderStatus, delivery: r.delivery, stockLevel: r.stockLevel,
	}
	r.bodyOfDelivery = r.deliver
	r.draws = [numTypes]func(r *r2.Rand){
		newOrder: r.drawNewOrder, payment: r.drawPayment, orderStatus: r.drawOrderStatus, delivery: r.drawDelivery, stockLevel: r.drawStockLevel,
	}
	return r
}

// Next runs one transaction.
func (r *runner) Next() error {
	b, rand := r.b, r.client.Co().Rand()
	if r.left > 0 {
		r.left--
		r.d++
		return workload.Done(r.client.Run(delivery, false, r.bodies[delivery]))
	}
	typ := b.Pick(rand)
	if body := b.Custom(typ); body != nil {
		return workload.Done(r.client.Run(uint8(typ), false, body))
	}
	r.w = r.homes[rand.Uint64n(uint64(len(r.homes)))]
	r.d = r.w*b.districts + rand.Uint64n(b.districts)
	r.draws[typ](rand)
	return workload.Done(r.client.Run(uint8(typ), b.ReadOnly(typ), r.bodies[typ]))
}

// now is the date: microseconds of virtual time, never 0.
func (r *runner) now() int64 { return dateOf(r.client.Co()) }

func dateOf(c *r2.Co) int64 { return loadDate + 1 + int64(c.Now()/1_000_000) }

// other draws a warehouse that is not the terminal's; the terminal's if there is
// no other.
func (r *runner) other(rand *r2.Rand) uint64 {
	if r.b.warehouses == 1 {
		return r.w
	}
	w := rand.Uint64n(r.b.warehouses - 1)
	if w >= r.w {
		w++
	}
	return w
}

func (r *runner) permille(rand *r2.Rand, n int) bool { return int(rand.Uint64n(1000)) < n }

// drawNewOrder picks the inputs of clause 2.4.1.
func (r *runner) drawNewOrder(rand *r2.Rand) {
	b, in := r.b, &r.order
	r.c = b.customer.draw(rand)
	in.lines = 5 + int(rand.Uint64n(maxLines-5+1))
	in.invalid = r.permille(rand, b.opt.Rollbacks)
	in.allLocal = true
	for i := range in.lines {
		l := &in.line[i]
		l.item, l.quantity, l.supply = b.item.draw(rand), uint32(1+rand.Uint64n(10)), r.w
		if b.opt.NewOrderOnly || r.permille(rand, b.opt.RemoteLine) {
			l.supply = r.other(rand)
		}
		in.allLocal = in.allLocal && l.supply == r.w
	}
}

// newOrder is clause 2.4.2.
func (r *runner) newOrder(tx *txn.Tx) error {
	if tx.Pieced() {
		return r.piecedNewOrder(tx)
	}
	b, in := r.b, &r.order
	items := b.server(r.w)
	r.refs = append(r.refs[:0],
		txn.Ref{Table: Warehouse, Key: r.w}, txn.Ref{Table: District, Key: r.d, Write: true}, txn.Ref{Table: Customer, Key: b.customerKey(r.d, r.c)})
	for _, l := range in.line[:in.lines] {
		key := b.stockKey(l.supply, l.item)
		r.refs = append(r.refs, txn.Ref{Table: Item, Key: b.itemKey(items, l.item)}, txn.Ref{Table: Stock, Key: key, Write: true})
		if !b.opt.NewOrderOnly {
			r.refs = append(r.refs, txn.Ref{Table: StockData, Key: key})
		}
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	if _, err := tx.Read(Warehouse, r.w); err != nil { // the tax, for the bill
		return err
	}
	if _, err := tx.Read(Customer, b.customerKey(r.d, r.c)); err != nil { // the discount
		return err
	}
	dist, err := tx.Update(District, r.d)
	if err != nil {
		return err
	}
	o := uint64(wire.Get32(dist[dNext:])) - 1
	if o >= b.orders {
		return r.noRoom(o)
	}
	add32(dist[dNext:], 1)
	order := b.orderKey(r.d, o)
	if err := r.insertOrder(tx, o, order); err != nil {
		return err
	}
	for i := range in.lines {
		if in.invalid && i == in.lines-1 {
			return txn.ErrRollback // after all the work, as the standard wants it
		}
		if err := r.insertLine(tx, o, order, i); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) insertOrder(tx *txn.Tx, o, key uint64) error {
	v, err := tx.Insert(Order, key)
	if err != nil {
		return err
	}
	r.b.setOrder(v, r.d, o, r.c, r.now(), r.order.lines, r.order.allLocal)
	if v, err = tx.Insert(NewOrder, key); err != nil {
		return err
	}
	r.b.setNewOrder(v, r.d, o)
	r.addOrderEntries(tx, o)
	return nil
}

func (r *runner) addOrderEntries(tx *txn.Tx, o uint64) {
	tx.AddEntry(r.b.placed, r.d, placedKey(r.c, o), o)
	tx.AddEntry(r.b.queue, r.d, o, o)
	if r.b.lines != nil {
		tx.AddEntry(r.b.lines, r.d, o, uint64(r.order.lines))
	}
}

// find is Tx.Read of a record that an index or a count tells of and that need not be there: what it says is a hint.
func (r *runner) find(tx *txn.Tx, table uint8, key uint64) (v []byte, ok bool, err error) {
	v, err = tx.Read(table, key)
	if errors.Is(err, txn.ErrNotFound) {
		return nil, false, nil
	}
	return v, err == nil, err
}

// insertLine takes the goods from the stock.
func (r *runner) insertLine(tx *txn.Tx, o, order uint64, i int) error {
	b, l := r.b, &r.order.line[i]
	item, err := tx.Read(Item, b.itemKey(b.server(r.w), l.item))
	if err != nil {
		return err
	}
	amount := l.quantity * wire.Get32(item[iPrice:])
	key := b.stockKey(l.supply, l.item)
	stock, err := tx.Update(Stock, key)
	if err != nil {
		return err
	}
	takeGoods(stock, l.quantity, l.supply != r.w)
	line, err := tx.Insert(OrderLine, b.lineKey(order, uint64(i)))
	if err != nil {
		return err
	}
	b.setOrderLine(line, r.d, o, uint64(i), l.item, l.supply, uint16(l.quantity), amount)
	if b.opt.NewOrderOnly {
		return nil
	}
	data, err := tx.Read(StockData, key)
	if err != nil {
		return err
	}
	r.setDist(line, data)
	return nil
}

// setDist copies what the stock says of the district.
func (r *runner) setDist(line, data []byte) {
	copy(line[lDist:][:distBytes], data[sDist+int(r.d%r.b.districts%distInfos)*distBytes:])
}

// takeGoods takes goods from the stock, of a warehouse that is not the terminal's if remote.
func takeGoods(stock []byte, quantity uint32, remote bool) {
	left := wire.Get32(stock[sQuantity:])
	if left < quantity+10 {
		left += 91
	}
	wire.Put32(stock[sQuantity:], left-quantity)
	add32(stock[sYTD:], quantity)
	add32(stock[sOrders:], 1)
	if remote {
		add32(stock[sRemote:], 1)
	}
}
