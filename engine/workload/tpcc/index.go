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
		spec ordered.Spec
	}{
		{namesID, "customer-name", &b.byName, ordered.Spec{Fill: b.fillNames}},
		{placedID, "customer-order", &b.placed, ordered.Spec{At: b.initialPlaced, Size: b.customers}},
		{queueID, "new-order-queue", &b.queue, ordered.Spec{At: b.initialQueue, Size: b.customers - b.initialDelivered()}},
		{linesID, "order-lines", &b.lines, ordered.Spec{At: b.initialLinesOf, Size: b.customers}},
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
func (b *Bench) initialPlaced(district, c uint64) ordered.Entry {
	o := b.initialOrder(district, c)
	return ordered.Entry{Key: placedKey(c, o), Value: o}
}

func (b *Bench) initialQueue(_, i uint64) ordered.Entry {
	o := b.initialDelivered() + i
	return ordered.Entry{Key: o, Value: o}
}

func (b *Bench) initialLinesOf(district, o uint64) ordered.Entry {
	return ordered.Entry{Key: o, Value: uint64(b.initialLines(b.orderKey(district, o)))}
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
