package kv

import (
	"errors"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// Two threads insert into full chains at the same time when one spare node is left: one of them gets it, the other is
// told that there is none.
func TestLastSpareNodeIsGivenOnce(t *testing.T) {
	for _, k := range kinds {
		lastSpareNodeIsGivenOnce(t, k, 8*k.bucket().fill)
	}
}

func lastSpareNodeIsGivenOnce(t *testing.T, k kind, keys uint64) {
	const spare = 2 // keys fill four chains on each of two sockets
	b := newBed(t, 1, 3, 1000)
	b.kind = k
	tb := b.table(keys, 16, spare, 1)
	s, value := tb.shards[0][0], make([]byte, 16)
	chains := make([][]uint64, s.places) // keys that are there
	others := make([][]uint64, s.places) // and some that are not
	for key := range keys + 1000 {
		if of, hash := tb.locate(key); of == s && key < keys {
			chains[of.slotOf(hash)] = append(chains[of.slotOf(hash)], key)
		} else if of == s {
			others[of.slotOf(hash)] = append(others[of.slotOf(hash)], key)
		}
	}
	insert := func(c *r2.Co, chain int) error {
		key := others[chain][0]
		others[chain] = others[chain][1:]
		valueOf(key, value)
		_, _, err := insertLocal(c, tb, key, value)
		return err
	}
	b.do(0, func(c *r2.Co) {
		for _, key := range append(chains[0], chains[1][0]) { // for their rows
			if _, err := deleteLocal(c, tb, key); err != nil {
				t.Fatal(err)
			}
		}
		for chain, n := range []int{0, 1 + s.slots + 1 - len(chains[1]), s.slots - len(chains[2]), s.slots - len(chains[3])} {
			for range n { // then chains 2 and 3 are full, and 1 has taken the first of the two spare nodes
				if err := insert(c, chain); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := deleteLocal(c, tb, chains[1][1]); err != nil {
			t.Fatal(err)
		}
	})
	if s.nextNode+1 != s.nodeEnd {
		t.Fatalf("%d spare nodes are left, the test wants 1", s.nodeEnd-s.nextNode)
	}
	rows := len(s.freeRows) + int(s.rowEnd-s.nextRow)
	at := b.cl.Now() + 50*sim.Microsecond
	var errs [2]error
	var done []*bool
	for thread := range 2 {
		done = append(done, b.spawn(0, 2*thread, func(c *r2.Co) {
			c.Sleep(at - c.Now())
			errs[thread] = insert(c, 2+thread)
		}))
	}
	b.run(done...)
	if s.nextNode != s.nodeEnd {
		t.Errorf("the table has %d nodes, %d were given", s.nodeEnd, s.nextNode)
	}
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs[:]...), ErrFull) {
		t.Errorf("inserts answered %v and %v, one has to be refused", errs[0], errs[1])
	}
	if now := len(s.freeRows) + int(s.rowEnd-s.nextRow); now != rows-1 {
		t.Errorf("%d rows are free, %d were before one record was inserted", now, rows)
	}
}
