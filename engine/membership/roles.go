package membership

// Role is what a machine is there for, or several such.
type Role uint8

// The roles.
const (
	Primary       Role = 1 << iota // has records of its own: its share of each table
	Backup                         // has copies of other machines' records
	Client                         // runs requests
	Oracle                         // answers schemes of timestamps
	Memory                         // has no threads: one-sided requests reach it, and no other
	Configuration                  // says which machines belong to an epoch

	Server    = Primary | Backup
	Symmetric = Server | Client
)

// Has says whether one is among them.
func (r Role) Has(one Role) bool { return r&one != 0 }

// String is the word that results and displays have for a machine of the roles.
func (r Role) String() string {
	switch {
	case r.Has(Primary) && r.Has(Client):
		return "symmetric"
	case r.Has(Memory):
		return "memory"
	case r.Has(Server):
		return "server"
	case r.Has(Client):
		return "client"
	case r.Has(Oracle):
		return "oracle"
	case r.Has(Configuration):
		return "configuration"
	}
	return ""
}

// Table has the roles of a cluster's machines. Machines that have records come first.
type Table struct{ roles []Role }

// New is the table of n machines, all with the same roles.
func New(n int, r Role) *Table { return new(Table).Add(n, r) }

// Add adds n machines behind those that are there.
func (t *Table) Add(n int, r Role) *Table {
	if last := len(t.roles) - 1; n > 0 && last >= 0 && r.Has(Primary) && !t.roles[last].Has(Primary) {
		panic("membership: a machine with records behind one without")
	}
	for range n {
		t.roles = append(t.roles, r)
	}
	return t
}

// Machines is their number.
func (t *Table) Machines() int { return len(t.roles) }

// Servers is the number of those with records: machines 0 to Servers-1.
func (t *Table) Servers() (n int) {
	for n < len(t.roles) && t.roles[n].Has(Primary) {
		n++
	}
	return n
}

// Roles are those of a machine.
func (t *Table) Roles(machine int) Role { return t.roles[machine] }

// Of are the machines of a role, rising.
func (t *Table) Of(one Role) (list []int) {
	for m, r := range t.roles {
		if r.Has(one) {
			list = append(list, m)
		}
	}
	return list
}

// First is the first machine of a role. ok is false where there is none.
func (t *Table) First(one Role) (machine int, ok bool) {
	for m, r := range t.roles {
		if r.Has(one) {
			return m, true
		}
	}
	return 0, false
}
