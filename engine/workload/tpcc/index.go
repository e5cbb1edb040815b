package tpcc

import (
	"drtmx/engine/kv/ordered"
	"drtmx/engine/txn"
)

// The secondary indexes. Each has a part per district.
//
//	names    last name, first name -> customer; never changes
//	placed   customer, order -> order: the latest one is that with the largest key
//	queue    orders that are not delivered
//	lines    order -> how many lines it has; not of TPC-C/no, where nobody reads it
const (
	namesID = 1 + iota
	placedID
	queueID
	linesID
)

const (
	customerBits = 17 // of a key
	firstBits    = 24 // six of the 16 letters of a first name, which sort as the whole does but for one pair in 10^7
	orderBits    = 32
)

// openIndexes makes them.
func (b *Bench) openIndexes() (err error) {
	v := ordered.NewService(b.db.Cluster())
	list := []struct {
		id   uint8
		name string
		to   **ordered.Table
		fill func(part uint64, add func(key, value uint64))
	}{
		{namesID, "customer-name", &b.byName, b.fillNames},
		{placedID, "customer-order", &b.placed, b.fillPlaced},
		{queueID, "new-order-queue", &b.queue, b.fillQueue},
		{linesID, "order-lines", &b.lines, b.fillLines},
	}
	if b.opt.NewOrderOnly {
		list = list[:len(list)-1]
	}
	for _, x := range list {
		if *x.to, err = v.Add(ordered.Spec{ID: x.id, Name: x.name, Servers: b.servers, Parts: b.warehouses * districts, Fill: x.fill}); err != nil {
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

func (b *Bench) fillPlaced(district uint64, add func(key, value uint64)) {
	if b.placedBy == nil {
		b.placedBy = make([]uint32, b.customers)
	}
	for o := range b.customers { // each customer has placed one
		b.placedBy[b.initialCustomer(district, o)] = uint32(o)
	}
	for c, o := range b.placedBy {
		add(placedKey(uint64(c), uint64(o)), uint64(o))
	}
}

func (b *Bench) fillQueue(_ uint64, add func(key, value uint64)) {
	for o := b.initialDelivered(); o < b.customers; o++ {
		add(o, o)
	}
}

func (b *Bench) fillLines(district uint64, add func(key, value uint64)) {
	for o := range b.customers {
		add(o, uint64(b.initialLines(b.orderKey(district, o))))
	}
}

// findCustomer is the customer that the inputs mean: by number, or by last name
// the one in the middle of those that have it (clause 2.5.2.2).
func (r *runner) findCustomer(tx *txn.Tx) (c uint64, err error) {
	if !r.byName {
		return r.c, nil
	}
	const bits = firstBits + customerBits
	list, err := tx.Scan(r.b.byName, ordered.Range{Part: r.cd, From: r.name << bits, To: (r.name+1)<<bits - 1, Limit: int(r.b.customers)})
	if err != nil {
		return 0, err
	}
	return list[(len(list)-1)/2].Value, nil // each name is somebody's
}
