package membership

// Placement says which machine holds which copy of a record, for as long as an epoch lasts.
type Placement struct{ servers, copies int }

// Ring places the copies of a server's records on that server and on those behind it, in a ring of machines 0 to servers-1.
func Ring(servers, copies int) Placement { return Placement{servers, copies} }

// Holder is the machine with the i-th copy of the records of a primary, whose own is the 0-th.
func (p Placement) Holder(primary, i int) int { return (primary + i) % p.servers }

// Backups are the machines with the other copies.
func (p Placement) Backups(primary int) []int {
	var list []int
	for i := 1; i < p.copies; i++ {
		list = append(list, p.Holder(primary, i))
	}
	return list
}
