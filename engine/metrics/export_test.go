package metrics

// What only tests of this package use.

// Stamp adds a verb's stamp to phase p.
func (b Breakdown) Stamp(p Phase, s *Stamp) {
	row := &b[p]
	for m, d := range s {
		row[m] += int64(d)
	}
}
