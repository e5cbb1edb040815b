package tpcc

import (
	"fmt"

	"drtmx/engine/workload"
)

// onlineAtMost bounds what a look costs: more warehouses are gone through in turn.
const onlineAtMost = 64

// online is what was seen while transactions ran.
type online struct {
	next   uint64 // warehouse
	looked bool
	bad    string // the first violation
}

// CheckOnline looks at condition 1 while transactions run: at warehouses of which no transaction
// holds the row or a district's at this moment. A transaction that changes a sum holds the locks of both
// until both are written, whatever the primitives, so where all are free the sums agree.
// The other sums have terms in rows that come and go, and wait for a drain.
func (b *Bench) CheckOnline() []workload.Invariant {
	for range min(b.warehouses, onlineAtMost) {
		w := b.online.next
		b.online.next = (w + 1) % b.warehouses
		ytd, sum, free := b.takings(w)
		if !free {
			continue
		}
		b.online.looked = true
		if ytd != sum && b.online.bad == "" {
			b.online.bad = fmt.Sprintf("warehouse %d has taken %d cents, its districts %d", w, ytd, sum)
		}
	}
	if !b.online.looked {
		return nil
	}
	return []workload.Invariant{condition(1, b.online.bad)}
}

// takings are those of a warehouse and of its districts in sum, if none of the rows is locked.
func (b *Bench) takings(w uint64) (ytd, sum int64, free bool) {
	ware, district := make([]byte, warehouseBytes), make([]byte, districtBytes)
	if free, _ := b.db.Value(Warehouse, w, ware); !free {
		return 0, 0, false
	}
	for d := w * b.districts; d < (w+1)*b.districts; d++ {
		if free, _ := b.db.Value(District, d, district); !free {
			return 0, 0, false
		}
		sum += i64(district[dYTD:])
	}
	return i48(ware[wYTD:]), sum, true
}
