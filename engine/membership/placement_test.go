package membership

import (
	"slices"
	"testing"
)

// Each machine has its own records and one copy of those of the machines before it, in a ring; no machine has two copies of a record.
func TestRing(t *testing.T) {
	for servers := 1; servers <= 5; servers++ {
		for copies := 1; copies <= servers; copies++ {
			p, has := Ring(servers, copies), make([]int, servers)
			for m := range servers {
				holders := append([]int{p.Holder(m, 0)}, p.Backups(m)...)
				if holders[0] != m || len(holders) != copies {
					t.Errorf("%d servers, %d copies: machine %d's records are on %v", servers, copies, m, holders)
				}
				for i, h := range holders {
					if has[h]++; p.Holder(m, i) != h || slices.Contains(holders[:i], h) {
						t.Errorf("%d servers, %d copies: copy %d of machine %d's records is on %d and on %d", servers, copies, i, m, h, p.Holder(m, i))
					}
				}
			}
			if slices.Min(has) != copies || slices.Max(has) != copies {
				t.Errorf("%d servers, %d copies: machines have %v", servers, copies, has)
			}
		}
	}
	if got := Ring(3, 3).Backups(1); !slices.Equal(got, []int{2, 0}) {
		t.Errorf("the backups of machine 1 of 3 are %v, want the next one and then the one behind it", got)
	}
}
