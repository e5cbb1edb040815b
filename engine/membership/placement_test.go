package membership

import (
	"slices"
	"testing"
)

// Each machine has its own records and one copy of those of the machines before it, in a ring; no machine has two copies of a record, and
// clients and oracles have none.
func TestRing(t *testing.T) {
	for servers := 1; servers <= 5; servers++ {
		for copies := 1; copies <= servers; copies++ {
			table := New(servers, Server).Add(2, Client).Add(1, Oracle)
			p, has := table.Placement(First, copies), make([]int, servers)
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
	if got := New(3, Symmetric).Placement(First, 3).Backups(1); !slices.Equal(got, []int{2, 0}) {
		t.Errorf("the backups of machine 1 of 3 are %v, want the next one and then the one behind it", got)
	}
}

// Backups may be machines of their own.
func TestBackupsApart(t *testing.T) {
	p := New(2, Primary|Client).Add(3, Backup|Memory).Placement(First, 3)
	if a, b := p.Backups(0), p.Backups(1); !slices.Equal(a, []int{2, 3}) || !slices.Equal(b, []int{2, 3}) {
		t.Errorf("copies are on %v and %v", a, b)
	}
}
