package tpcc

import (
	"math/bits"

	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// The secondary indexes. Each has a part per district.
//
//	names    last name, first name -> customer; never changes
//	placed   customer, order -> order: the latest one is that with the largest key
//	queue    orders that are not delivered
//	lines    order -> how many lines it has; not of TPC-C/no, where it is not read
const (
	namesID = 1 + iota
	placedID
	queueID
	linesID
)

const (
	nameBits     = 10 // of a key: the standard's thousand last names
	customerBits = 17
	firstBits    = 24 // six of the 16 letters of a first name, which sort as the whole does but for one pair in 10^7
	orderBits    = 32
)

// openIndexes makes them.
func (b *Bench) openIndexes(env workload.Env) error {
	v, err := env.OpenIndexes(b.db)
	if err != nil {
		return err
	}
	customers, orders, inserts := bits.Len64(b.customers-1), bits.Len64(b.orders-1), b.perServer*b.districts*uint64(b.opt.Orders)
	list := []struct {
		id   uint8
		name string
		to   *store.OrderedTable
		spec store.IndexSpec
	}{
		{namesID, "customer-name", &b.byName, store.IndexSpec{Bits: []int{nameBits, firstBits, customerBits}, Fill: b.fillNames, Size: b.customers}},
		{placedID, "customer-order", &b.placed, store.IndexSpec{Bits: []int{customers, orderBits}, Spare: inserts, At: b.initialPlaced, Size: b.customers}},
		{queueID, "new-order-queue", &b.queue, store.IndexSpec{Bits: []int{orders}, Spare: inserts, At: b.initialQueue, Size: b.customers - b.initialDelivered()}},
		{linesID, "order-lines", &b.lines, store.IndexSpec{Bits: []int{orders}, Spare: inserts, At: b.initialLinesOf, Size: b.customers}},
	}
	if b.opt.NewOrderOnly {
		list = list[:len(list)-1]
	}
	for _, x := range list {
		x.spec.ID, x.spec.Name, x.spec.Servers, x.spec.Parts = x.id, x.name, b.servers, b.warehouses*b.districts
		if *x.to, err = v.Add(x.spec); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bench) fillNames(district uint64, add func(key, value uint64)) {
	var first [cFirstBytes]byte
	for c := range b.customers {
		key := b.customerKey(district, c)
		b.firstName(key, first[:])
		add(nameKey(b.nameOf(key), first[:], c), c)
	}
}

func nameKey(name uint64, first []byte, c uint64) uint64 {
	key := name
	for _, letter := range first[:firstBits/4] {
		key = key<<4 | uint64(letter-'a')
	}
	return key<<customerBits | c
}

func placedKey(c, o uint64) uint64 { return c<<orderBits | o }

// initialPlaced: each customer has placed one order.
func (b *Bench) initialPlaced(district, c uint64) store.Entry {
	o := b.initialOrder(district, c)
	return store.Entry{Key: placedKey(c, o), Value: o}
}

func (b *Bench) initialQueue(_, i uint64) store.Entry {
	o := b.initialDelivered() + i
	return store.Entry{Key: o, Value: o}
}

func (b *Bench) initialLinesOf(district, o uint64) store.Entry {
	return store.Entry{Key: o, Value: uint64(b.initialLines(b.orderKey(district, o)))}
}

// findCustomer is the customer that the inputs mean: by number, or by last name
// the one in the middle of those that have it (clause 2.5.2.2).
func (r *runner) findCustomer(tx *txn.Tx) (c uint64, err error) {
	if !r.byName {
		return r.c, nil
	}
	const bits = firstBits + customerBits
	list, err := tx.Scan(r.b.byName, store.Range{Part: r.cd, From: r.name << bits, To: (r.name+1)<<bits - 1, Limit: int(r.b.customers)})
	if err != nil {
		return 0, err
	}
	return list[(len(list)-1)/2].Value, nil // each name is a customer's
}
