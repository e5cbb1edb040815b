package store

// Growing is a partition of which some keys are not there from the start: those that may come are numbered behind
// those that are, in the order of All. A table then has its buckets for all of them from the start.
type Growing struct {
	// All numbers the keys within their servers.
	All Partition
	// Initial is which of a server's keys are there from the start, by their numbers in All: n from the from-th on. Keys
	// before them never come.
	Initial func(server int) (from, n uint64)
}

// Servers is how many there are.
func (p Growing) Servers() int { return p.All.Servers() }

// Primary is the server of a key.
func (p Growing) Primary(key uint64) int { return p.All.Primary(key) }

// Count is the number of keys that a server has from the start.
func (p Growing) Count(server int) uint64 {
	_, n := p.Initial(server)
	return n
}

// Key is the i-th of them.
func (p Growing) Key(server int, i uint64) uint64 {
	from, _ := p.Initial(server)
	return p.All.Key(server, from+i)
}

// Local is the number of a key that is there from the start.
func (p Growing) Local(key uint64) (i uint64, ok bool) {
	i, ok = p.All.Local(key)
	from, n := p.Initial(p.All.Primary(key))
	return i - from, ok && i-from < n
}

// Room is the number of keys that a server may have at some time.
func (p Growing) Room(server int) uint64 {
	from, _ := p.Initial(server)
	return p.All.Count(server) - from
}

// Number is the number of a key that may come, behind those that are there from the start.
func (p Growing) Number(key uint64) (i uint64, ok bool) {
	i, ok = p.All.Local(key)
	from, _ := p.Initial(p.All.Primary(key))
	return i - from, ok && i >= from
}
