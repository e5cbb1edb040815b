package tpcc

import (
	"encoding/binary"

	"drtmx/engine/store"
	"drtmx/engine/wire"
)

// Table numbers.
const (
	Warehouse = 1 + iota
	District
	Customer
	History
	NewOrder
	Order
	OrderLine
	Stock
	Item
	StockData
)

const maxLines = 15 // of an order

// Bytes of the values: those of the standard's clause 1.3, keys included; stock in
// two parts.
const (
	warehouseBytes = 89
	districtBytes  = 95
	customerBytes  = 655
	historyBytes   = 46
	newOrderBytes  = 8
	orderBytes     = 24
	orderLineBytes = 54
	shortLineBytes = 20 // in TPC-C/no: no key, no dist-info
	stockBytes     = 16
	stockDataBytes = 290
	itemBytes      = 82
)

// Where the columns are. What transactions change comes first; money is in
// cents, rates are in 1/10000. Of tables that grow, one column is never 0: it is
// marked. Where there is no row, or an order of the population has no such line, it reads as 0.
const (
	wYTD     = 0 // 6 bytes
	wTax     = 6 // 2
	wText    = 8 // name, streets, city, state, zip
	wMutable = 6

	dYTD     = 0  // 8
	dNext    = 8  // 4
	dTax     = 12 // 2
	dText    = 14
	dMutable = 12

	cBalance     = 0  // 8
	cYTD         = 8  // 6
	cPayments    = 14 // 4
	cDeliveries  = 18 // 4
	cSince       = 22 // 4
	cLimit       = 26 // 4
	cDiscount    = 30 // 2
	cCredit      = 32 // 2: BC or GC
	cFirst       = 34 // 16
	cMiddle      = 50 // 2
	cLast        = 52 // 16
	cText        = 68 // streets, city, state, zip, phone
	cData        = 155
	cDataBytes   = 500
	cFirstBytes  = 16
	cLastBytes   = 16
	cHistoryCopy = 34 // what a payment of bad credit puts before the data

	hCustomer  = 0  // 4
	hCDistrict = 4  // 1
	hCWare     = 5  // 2
	hDistrict  = 7  // 1
	hWare      = 8  // 2
	hDate      = 10 // 8
	hAmount    = 18 // 4, marks
	hData      = 22 // 24

	nOrder    = 0 // 4
	nWare     = 4 // 2
	nDistrict = 6 // 1
	nPresent  = 7 // 1, marks

	oCustomer = 0  // 4
	oEntry    = 4  // 8
	oNumber   = 12 // 4
	oWare     = 16 // 2
	oDistrict = 18 // 1
	oCarrier  = 19 // 1, 0 while not delivered
	oLines    = 20 // 1, marks
	oAllLocal = 21 // 1

	lDelivery = 0  // 8, 0 while not delivered
	lItem     = 8  // 4
	lSupply   = 12 // 2
	lQuantity = 14 // 2, marks
	lAmount   = 16 // 4, a short line's last
	lOrder    = 20 // 4
	lWare     = 24 // 2
	lDistrict = 26 // 1
	lNumber   = 27 // 1
	lDist     = 28 // 24

	sQuantity = 0  // 4
	sYTD      = 4  // 4
	sOrders   = 8  // 4
	sRemote   = 12 // 4

	sDist      = 0 // distInfos x 24
	sData      = 240
	distInfos  = 10
	distBytes  = 24
	sDataBytes = 50

	iImage = 0 // 4
	iPrice = 4 // 4
	iName  = 8 // 24
	iData  = 32
)

func i64(b []byte) int64        { return int64(binary.LittleEndian.Uint64(b)) }
func putI64(b []byte, v int64)  { binary.LittleEndian.PutUint64(b, uint64(v)) }
func i48(b []byte) int64        { return int64(wire.Get32(b)) | int64(wire.Get16(b[4:]))<<32 }
func put48(b []byte, v int64)   { wire.Put32(b, uint32(v)); wire.Put16(b[4:], uint16(v>>32)) }
func add32(b []byte, by uint32) { wire.Put32(b, wire.Get32(b)+by) }

// Everything is numbered from 0, orders too; the number that the district gives
// out is one more. A district is numbered through the warehouses.

func (b *Bench) customerKey(district, c uint64) uint64 { return district*b.customers + c }
func (b *Bench) lineKey(order, line uint64) uint64     { return order*maxLines + line }
func (b *Bench) stockKey(w, i uint64) uint64           { return w*b.items + i }
func (b *Bench) itemKey(server, i uint64) uint64       { return server*b.items + i }

// Tables that grow are numbered as rows are appended to a heap: on each machine the
// first records of all districts or warehouses, then the second ones. What comes
// into being at about the same time lies together.

func (b *Bench) orderKey(district, o uint64) uint64 {
	return appended(district, o, b.perServer*b.districts, b.orders)
}

func (b *Bench) orderOf(key uint64) (district, o uint64) {
	return appendedOf(key, b.perServer*b.districts, b.orders)
}

func (b *Bench) historyKey(w, h uint64) uint64 { return appended(w, h, b.perServer, b.payments) }

func (b *Bench) historyOf(key uint64) (w, h uint64) { return appendedOf(key, b.perServer, b.payments) }

// appended is the key of the i-th of the rows that a part has, with so many parts
// on each machine.
func appended(part, i, parts, rows uint64) uint64 { return (part/parts*rows+i)*parts + part%parts }

func appendedOf(key, parts, rows uint64) (part, i uint64) {
	round := key / parts
	return round/rows*parts + key%parts, round % rows
}

// server is the machine of a warehouse.
func (b *Bench) server(w uint64) uint64 { return w / b.perServer }

// specs are the tables with their partitions.
func (b *Bench) specs() []tableSpec {
	w, symmetric, trees := b.warehouses, b.symmetric, !b.opt.HashTables
	own := symmetric && b.opt.NewOrderOnly        // other machines read stock alone
	inHouse := symmetric && b.stockDistricts == 1 // stock-levels stay in their warehouse
	d, perServer := w*b.districts, b.perServer*b.districts
	lines := b.growing(store.Spec{ID: OrderLine, Name: "order-line", ValueBytes: b.lineBytes(), Init: b.initOrderLine}, perServer, maxLines, 0, b.customers, b.orders)
	lines.Local = inHouse
	list := []tableSpec{
		b.fixed(store.Spec{ID: Warehouse, Name: "warehouse", ValueBytes: warehouseBytes, Mutable: wMutable, Local: own, Init: b.initWarehouse}, w),
		b.fixed(store.Spec{ID: District, Name: "district", ValueBytes: districtBytes, Mutable: dMutable, Local: inHouse, Init: b.initDistrict}, d),
		b.fixed(store.Spec{ID: Customer, Name: "customer", ValueBytes: customerBytes, Local: own, Tree: trees, Init: b.initCustomer}, d*b.customers),
		b.growing(store.Spec{ID: History, Name: "history", ValueBytes: historyBytes, Init: b.initHistory}, b.perServer, 1, 0, b.districts*b.customers, b.payments),
		b.growing(store.Spec{ID: NewOrder, Name: "new-order", ValueBytes: newOrderBytes, Init: b.initNewOrder}, perServer, 1, b.initialDelivered(), b.customers, b.orders),
		b.growing(store.Spec{ID: Order, Name: "order", ValueBytes: orderBytes, Init: b.initOrder}, perServer, 1, 0, b.customers, b.orders),
		lines,
		b.fixed(store.Spec{ID: Stock, Name: "stock", ValueBytes: stockBytes, Init: b.initStock}, w*b.items),
		b.fixed(store.Spec{ID: Item, Name: "item", ValueBytes: itemBytes, Constant: true, Local: symmetric, Tree: trees, Init: b.initItem}, uint64(b.servers)*b.items),
	}
	if b.opt.NewOrderOnly {
		return list // the rest of the stock is not read
	}
	return append(list, b.fixed(store.Spec{ID: StockData, Name: "stock-data", ValueBytes: stockDataBytes, Constant: true, Init: b.initStockData}, w*b.items))
}

func (b *Bench) lineBytes() int {
	if b.opt.NewOrderOnly {
		return shortLineBytes
	}
	return orderLineBytes
}

type tableSpec struct {
	store.Spec
	rows store.Partition
}

// fixed is a table that has so many rows for ever.
func (b *Bench) fixed(s store.Spec, rows uint64) tableSpec {
	s.Fixed = true
	return tableSpec{s, store.Blocks(b.servers, rows)}
}

// growing is a table that records are inserted into, so many parts on each machine, each in its rows: of the rows that a part may
// have at some time, those from the from-th to the before-th are there from the start.
func (b *Bench) growing(s store.Spec, parts, each, from, before, rows uint64) tableSpec {
	s.Local, s.Sequential = b.symmetric, true
	s.Spare = (parts*each*(rows-before)+b.sockets-1)/b.sockets + spareRows
	if s.Tree = !b.opt.HashTables; s.Tree {
		s.Order = byPart(parts, each, from, before-from, rows)
	}
	all := store.Blocks(b.servers, uint64(b.servers)*parts*each*rows)
	return tableSpec{s, store.Growing{All: all, Initial: func(int) (first, n uint64) { return parts * each * from, parts * each * (before - from) }}}
}

// byPart is the order of a tree's entries: those of a warehouse or district follow each other, as in a tree whose keys begin with its
// number. Of each part n rows are there from the start, from the from-th on.
func byPart(parts, each, from, n, rows uint64) *store.Order {
	return &store.Order{
		Of: func(key uint64) uint64 {
			part, i := appendedOf(key/each, parts, rows)
			return (part*rows+i)*each + key%each
		},
		Key: func(server int, i uint64) uint64 {
			k := i / each
			return appended(uint64(server)*parts+k/n, from+k%n, parts, rows)*each + i%each
		},
	}
}

// spareRows of a socket are for inserts that an abort has not taken back yet.
const spareRows = 4096
