package workload

import (
	"drtmx/engine/owned"
	"drtmx/engine/r2"
)

// Tally counts by key. Each machine writes down what it counts, and Sum adds that up while none of them runs.
type Tally struct {
	counts []uint64
	logs   owned.Each[[]uint64]
}

// Open prepares it for so many keys.
func (t *Tally) Open(machines int, keys uint64) {
	t.counts, t.logs = make([]uint64, keys), owned.New[[]uint64](machines, nil)
}

// Add counts a key once more.
func (t *Tally) Add(c *r2.Co, key uint64) {
	log := t.logs.Of(c.Machine())
	*log = append(*log, key)
}

// Sum adds up what machines have written down.
func (t *Tally) Sum() {
	for _, log := range t.logs.All() {
		for _, key := range *log {
			t.counts[key]++
		}
		*log = (*log)[:0]
	}
}

// Of is the count of a key, as far as it was added up.
func (t *Tally) Of(key uint64) uint64 { return t.counts[key] }
