package kv

import (
	"fmt"
	"math/bits"
)

// Numbers numbers the records that tables have from the start, those of one table
// behind those of the other. The location caches of all machines share it.
type Numbers struct {
	tables [256]*Table // by id
	base   [256]uint64 // number of a table's first record
	parts  []part      // in rising order
	partAt []uint16    // by the upper bits of a number: the part of the least such
	coarse uint        // the lower bits
	total  uint64
}

// part is the numbers from from on: the records of a shard.
type part struct {
	from  uint64
	shard *shard
}

// partSteps is how many entries partAt has about: few enough to stay in the host's cache.
const partSteps = 1 << 8

// NumberRecords numbers the records of tables with different ids.
func NumberRecords(tables []*Table) (*Numbers, error) {
	x := &Numbers{}
	for _, t := range tables {
		if x.tables[t.spec.ID] != nil {
			return nil, fmt.Errorf("location cache: two tables have id %d", t.spec.ID)
		}
		x.tables[t.spec.ID], x.base[t.spec.ID] = t, x.total
		for _, shards := range t.shards {
			for _, s := range shards {
				if s.records > 0 {
					x.parts = append(x.parts, part{x.total + s.before, s})
				}
			}
		}
		x.total += t.records
	}
	x.index()
	return x, nil
}

// index prepares partOf.
func (x *Numbers) index() {
	x.coarse = uint(max(0, bits.Len64(x.total)-bits.Len64(partSteps-1)))
	for n, i := uint64(0), 0; n < x.total; n += 1 << x.coarse {
		for i+1 < len(x.parts) && x.parts[i+1].from <= n {
			i++
		}
		x.partAt = append(x.partAt, uint16(i))
	}
}

// partOf is the part that a number is in.
func (x *Numbers) partOf(n uint64) *part {
	i := int(x.partAt[n>>x.coarse])
	for i+1 < len(x.parts) && x.parts[i+1].from <= n {
		i++
	}
	return &x.parts[i]
}
