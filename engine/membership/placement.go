package membership

// Epoch numbers the times between two changes of what machines hold.
type Epoch uint32

// First is the epoch in which a cluster begins.
const First Epoch = 1

// Placement says which machine holds which copy of a record, for as long as an epoch lasts.
type Placement struct{ holders [][]int } // by primary: itself, then its backups

// Placement is that of an epoch, for so many copies of each record: on its primary and on the next machines that are backups, in a ring.
func (t *Table) Placement(_ Epoch, copies int) Placement {
	var p Placement
	for m := range t.Servers() {
		holders, n := []int{m}, len(t.roles)
		for i := 1; i < n && len(holders) < copies; i++ {
			if b := (m + i) % n; t.roles[b].Has(Backup) {
				holders = append(holders, b)
			}
		}
		p.holders = append(p.holders, holders)
	}
	return p
}

// Holder is the machine with the i-th copy of the records of a primary, whose own is the 0-th.
func (p Placement) Holder(primary, i int) int { return p.holders[primary][i] }

// Backups are the machines with the other copies.
func (p Placement) Backups(primary int) []int { return p.holders[primary][1:] }
