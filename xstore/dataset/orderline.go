package dataset

import "fmt"

// OrderLine are keys of TPC-C's order lines: four fields of 16 bits, warehouse, district, order and line, each
// counted from 1. Of all lines that the population of TPC-C has (clause 4.3.3.1), ten districts of 3,000 orders of
// 5 to 15 lines a warehouse, it has a sample.
//
// Two neighbouring orders have 20 lines together, so that where a line is can be computed: the number of lines of
// an order is uniform as it should be, and that of its neighbour follows.
//
// Assumed: how the fields are packed; that the sample is drawn at random from all warehouses; and how many there are,
// WarehousesMin or as many as make the sample a tenth of the lines. With fewer, keys in a district would have
// no gaps; with more, nothing changes but the size of the gaps.
type OrderLine struct {
	s    sample
	seed uint64
}

const (
	// WarehousesMin is the least number of warehouses: there is something to be seen of the field.
	WarehousesMin = 10

	districts      = 10
	orders         = 3000
	linesOfTwo     = 20
	lineMin        = 5
	lineSpan       = 11
	linesOfMany    = districts * orders * linesOfTwo / 2 // of a warehouse
	sampledOf      = 10
	fieldBits      = 16
	mostWarehouses = 1<<fieldBits - 1
)

// NewOrderLine makes a sample of order lines.
func NewOrderLine(o Options) (*OrderLine, error) {
	warehouses := max(WarehousesMin, (o.Keys*sampledOf+linesOfMany-1)/linesOfMany)
	if warehouses > mostWarehouses {
		return nil, fmt.Errorf("data set %s of %d keys: at most %d", OrderLineName, o.Keys, mostWarehouses*uint64(linesOfMany)/sampledOf)
	}
	return &OrderLine{newSample(o.Keys, warehouses*linesOfMany, uint64(max(o.Noise, 1)), o.Seed), o.Seed}, nil
}

// Len is the number of keys.
func (x *OrderLine) Len() uint64 { return x.s.n }

// Key is the i-th.
func (x *OrderLine) Key(i uint64) uint64 { return x.line(x.s.key(i)) }

// Rank searches.
func (x *OrderLine) Rank(key uint64) (uint64, bool) { return rankOf(x, key) }

func (x *OrderLine) append(dst []uint64, from, n uint64) []uint64 {
	first := len(dst)
	dst = x.s.append(dst, from, n)
	for i := first; i < len(dst); i++ {
		dst[i] = x.line(dst[i])
	}
	return dst
}

// line is the key of the n-th of all lines.
func (x *OrderLine) line(n uint64) uint64 {
	two, line := n/linesOfTwo, n%linesOfTwo
	order := 2 * two
	if first := lineMin + below(seeded(x.seed^lowSeed, two), lineSpan); line >= first {
		line -= first
		order++
	}
	return Pack(1+order/(orders*districts), 1+order/orders%districts, 1+order%orders, 1+line)
}

// Pack is the key of an order line.
func Pack(warehouse, district, order, line uint64) uint64 {
	return warehouse<<(3*fieldBits) | district<<(2*fieldBits) | order<<fieldBits | line
}

// Fields are the four predictors of figure 3-14.
func (x *OrderLine) Fields() []Field {
	list := []Field{{Name: "warehouse"}, {Name: "district"}, {Name: "order"}, {Name: "line"}}
	for i := range list {
		list[i].Shift, list[i].Bits = uint(3-i)*fieldBits, fieldBits
	}
	return list
}
