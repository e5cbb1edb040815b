package ordered

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// TestWholeMessages: a scan from elsewhere that ends where a message does and where keys do finds each entry once.
func TestWholeMessages(t *testing.T) {
	s, cl := newCluster(t, 1, fabric.Config{Machines: 2}, r2.Config{Threads: 1})
	of := uint64(cl.MaxPayload() / entryBytes)
	last := ^uint64(0)
	// The lower half of the keys are the lowest there are, the others the highest.
	at := func(_, i uint64) Entry {
		if i < of {
			return Entry{Key: i, Value: i}
		}
		return Entry{Key: last - (2*of - 1 - i), Value: i}
	}
	x, err := NewService(cl).add(Spec{ID: 1, Name: "edges", Servers: 2, Parts: 2, At: at, Size: 2 * of})
	if err != nil {
		t.Fatal(err)
	}
	done := false
	cl.Spawn(0, 0, func(c *r2.Co) {
		for _, r := range []struct {
			Range
			want, first uint64
		}{
			{Range{To: last, Limit: 1 << 20}, 2 * of, 0},
			{Range{To: last, Limit: 1 << 20, Down: true}, 2 * of, last},
			{Range{To: of - 1, Limit: 1 << 20}, of, 0},
			{Range{To: of - 1, Limit: 1 << 20, Down: true}, of, of - 1},
			{Range{From: last - of + 1, To: last, Limit: 1 << 20}, of, last - of + 1},
			{Range{From: last - of + 1, To: last, Limit: 1 << 20, Down: true}, of, last},
			{Range{To: last, Limit: int(of)}, of, 0},
		} {
			r.Part = 1
			list, err := x.Scan(c, r.Range, nil)
			if err != nil || uint64(len(list)) != r.want || list[0].Key != r.first {
				t.Errorf("%+v: %d entries, want %d; %v", r.Range, len(list), r.want, err)
				continue
			}
			for i := range list[1:] {
				if list[i].Key == list[i+1].Key || list[i].Key > list[i+1].Key != r.Down {
					t.Fatalf("%+v: key %d follows %d", r.Range, list[i+1].Key, list[i].Key)
				}
			}
		}
		done = true
	})
	if err := s.Run(100 * sim.Millisecond); err != nil || !done {
		t.Fatal(err, done)
	}
}

// TestShares: servers have equal shares of the parts, in order, and the last what is left.
func TestShares(t *testing.T) {
	_, cl := newCluster(t, 1, fabric.Config{Machines: 3}, r2.Config{Threads: 1})
	v := NewService(cl)
	for i, x := range []struct {
		servers int
		want    []int // the server of each part
	}{{3, []int{0, 0, 1, 1, 2, 2}}, {2, []int{0, 0, 1, 1}}, {3, []int{0, 0, 1, 1, 2}}, {1, []int{0, 0}}} {
		table, err := v.add(Spec{ID: uint8(i), Name: "shares", Servers: x.servers, Parts: uint64(len(x.want))})
		if err != nil {
			t.Fatal(err)
		}
		for part, want := range x.want {
			if has := table.Primary(uint64(part)); has != want {
				t.Errorf("part %d of %d is on machine %d of %d, want %d", part, len(x.want), has, x.servers, want)
			}
		}
	}
}
