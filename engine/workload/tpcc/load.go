package tpcc

import (
	"drtmx/engine/wire"
	"drtmx/engine/workload"
)

// The population (clause 4.3.3): every row is a pure function of its key, so that
// nothing is stored of untouched rows.

// What the standard's random constants and dates are here.
const (
	loadDate = 1 // dates are in microseconds of virtual time; 0 is none

	initialPayment = 10_00 // of each customer
	creditLimit    = 50_000_00
)

// initialDelivered is the number of a district's first orders that were
// delivered: 2,100 of 3,000.
func (b *Bench) initialDelivered() uint64 { return b.customers * 7 / 10 }

func (b *Bench) initialWarehouseYTD() int64 { return int64(b.districts) * b.initialDistrictYTD() }
func (b *Bench) initialDistrictYTD() int64  { return int64(b.customers) * initialPayment }

func (b *Bench) initWarehouse(key uint64, v []byte) {
	x := b.bits(Warehouse, key)
	put48(v[wYTD:], b.initialWarehouseYTD())
	wire.Put16(v[wTax:], uint16(x.Below(2001)))
	x.Text(v[wText:])
}

func (b *Bench) initDistrict(key uint64, v []byte) {
	x := b.bits(District, key)
	putI64(v[dYTD:], b.initialDistrictYTD())
	wire.Put32(v[dNext:], uint32(b.customers)+1)
	wire.Put16(v[dTax:], uint16(x.Below(2001)))
	x.Text(v[dText:])
}

func (b *Bench) initCustomer(key uint64, v []byte) {
	x := b.bits(Customer, key)
	putI64(v[cBalance:], -initialPayment)
	put48(v[cYTD:], initialPayment)
	wire.Put32(v[cPayments:], 1)
	wire.Put32(v[cSince:], loadDate)
	wire.Put32(v[cLimit:], creditLimit)
	wire.Put16(v[cDiscount:], uint16(x.Below(5001)))
	copy(v[cCredit:], "GC")
	if x.Below(10) == 0 {
		copy(v[cCredit:], "BC")
	}
	b.firstName(key, v[cFirst:][:cFirstBytes])
	copy(v[cMiddle:], "OE")
	lastName(v[cLast:][:cLastBytes], b.nameOf(key))
	x.Text(v[cText:])
}

// firstName is needed without the rest of the row.
func (b *Bench) firstName(customer uint64, dst []byte) {
	x := b.bits(Customer, customer)
	x = workload.Bits(x.Next() ^ 0x6669727374)
	x.Text(dst)
}

func (b *Bench) initHistory(key uint64, v []byte) {
	w, h := b.historyOf(key)
	if h >= b.districts*b.customers {
		return
	}
	x := b.bits(History, key)
	b.setHistory(v, w*b.districts+h/b.customers, w*b.districts+h/b.customers, h%b.customers, loadDate, initialPayment)
	x.Text(v[hData:])
}

// setHistory writes all columns but the data.
func (b *Bench) setHistory(v []byte, district, cDistrict, c uint64, date int64, amount uint32) {
	wire.Put32(v[hCustomer:], uint32(c))
	v[hCDistrict] = byte(cDistrict % b.districts)
	wire.Put16(v[hCWare:], uint16(cDistrict/b.districts))
	v[hDistrict] = byte(district % b.districts)
	wire.Put16(v[hWare:], uint16(district/b.districts))
	putI64(v[hDate:], date)
	wire.Put32(v[hAmount:], amount)
}

func (b *Bench) initNewOrder(key uint64, v []byte) {
	d, o := b.orderOf(key)
	if o >= b.initialDelivered() && o < b.customers {
		b.setNewOrder(v, d, o)
	}
}

func (b *Bench) setNewOrder(v []byte, district, o uint64) {
	wire.Put32(v[nOrder:], uint32(o)+1)
	wire.Put16(v[nWare:], uint16(district/b.districts))
	v[nDistrict] = byte(district % b.districts)
	v[nPresent] = 1
}

func (b *Bench) initOrder(key uint64, v []byte) {
	d, o := b.orderOf(key)
	if o >= b.customers {
		return
	}
	b.setOrder(v, d, o, b.initialCustomer(d, o), loadDate, b.initialLines(key), true)
	if o < b.initialDelivered() {
		x := b.bits(Order, key)
		v[oCarrier] = byte(1 + x.Below(10))
	}
}

func (b *Bench) setOrder(v []byte, district, o, c uint64, date int64, lines int, allLocal bool) {
	wire.Put32(v[oCustomer:], uint32(c))
	putI64(v[oEntry:], date)
	wire.Put32(v[oNumber:], uint32(o)+1)
	wire.Put16(v[oWare:], uint16(district/b.districts))
	v[oDistrict] = byte(district % b.districts)
	v[oCarrier] = 0
	v[oLines] = byte(lines)
	v[oAllLocal] = 0
	if allLocal {
		v[oAllLocal] = 1
	}
}

// initialCustomer is the customer of an initial order: the customers of a district in random
// order, one each.
func (b *Bench) initialCustomer(district, o uint64) uint64 {
	x := b.bits(Customer, ^district)
	return (b.shuffle.At(o) + x.Below(b.customers)) % b.customers
}

// initialOrder is the order that a customer has placed.
func (b *Bench) initialOrder(district, c uint64) uint64 {
	x := b.bits(Customer, ^district)
	return b.shuffle.Of((c + b.customers - x.Below(b.customers)) % b.customers)
}

// initialLines is the number of an order's lines.
func (b *Bench) initialLines(order uint64) int {
	x := b.bits(OrderLine, ^order)
	return 5 + int(x.Below(maxLines-5+1))
}

func (b *Bench) initOrderLine(key uint64, v []byte) {
	order, n := key/maxLines, key%maxLines
	d, o := b.orderOf(order)
	if o >= b.customers || int(n) >= b.initialLines(order) {
		return
	}
	x := b.bits(OrderLine, key)
	i := x.Below(b.items)
	date, amount := int64(loadDate), uint32(0)
	if o >= b.initialDelivered() {
		date, amount = 0, uint32(1+x.Below(999_999))
	}
	b.setOrderLine(v, d, o, n, i, d/b.districts, 5, amount)
	putI64(v[lDelivery:], date)
	if len(v) == orderLineBytes {
		x.Text(v[lDist:][:distBytes])
	}
}

// setOrderLine writes all columns but the dist-info, not delivered.
func (b *Bench) setOrderLine(v []byte, district, o, n, item, supply uint64, quantity uint16, amount uint32) {
	putI64(v[lDelivery:], 0)
	wire.Put32(v[lItem:], uint32(item))
	wire.Put16(v[lSupply:], uint16(supply))
	wire.Put16(v[lQuantity:], quantity)
	wire.Put32(v[lAmount:], amount)
	if len(v) == shortLineBytes {
		return
	}
	wire.Put32(v[lOrder:], uint32(o)+1)
	wire.Put16(v[lWare:], uint16(district/b.districts))
	v[lDistrict] = byte(district % b.districts)
	v[lNumber] = byte(n) + 1
}

func (b *Bench) initStock(key uint64, v []byte) {
	x := b.bits(Stock, key)
	wire.Put32(v[sQuantity:], uint32(10+x.Below(91)))
}

func (b *Bench) initStockData(key uint64, v []byte) {
	x := b.bits(StockData, key)
	x.Text(v[sDist:])
	original(&x, v[sData:][:sDataBytes])
}

func (b *Bench) initItem(key uint64, v []byte) {
	x := b.bits(Item, key%b.items) // the same on every server
	wire.Put32(v[iImage:], uint32(1+x.Below(10_000)))
	wire.Put32(v[iPrice:], uint32(100+x.Below(9_901)))
	x.Text(v[iName:])
	original(&x, v[iData:][:sDataBytes])
}
