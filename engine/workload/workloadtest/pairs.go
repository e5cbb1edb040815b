package workloadtest

import "slices"

// Pairs lists rows of choices such that every two choices have all their values together in some row. levels says how many values
// each choice has. Most faults need two choices to meet, and such rows are few: about as many as the two choices with the most values
// have pairs. The list is a function of levels alone.
func Pairs(levels []int) [][]int { return PairsWhere(levels, func([]int) bool { return true }) }

// PairsWhere is Pairs of rows that are legal: each has as many values as go together, and -1 for a choice without one. Two values that are
// not legal by themselves meet where others make them so, or not at all.
func PairsWhere(levels []int, legal func(row []int) bool) (rows [][]int) {
	p := pairs{levels: levels, legal: legal, left: map[pair]bool{}}
	for a := range levels {
		for b := range a {
			for x := range levels[a] {
				for y := range levels[b] {
					p.left[pair{b, a, y, x}] = true
					p.order = append(p.order, pair{b, a, y, x})
				}
			}
		}
	}
	for {
		row := p.begin()
		if row == nil {
			return rows
		}
		p.complete(row)
		p.strike(row)
		rows = append(rows, row)
		p.rows++
	}
}

// pair is two choices, the first before the second, and their values.
type pair struct{ a, b, x, y int }

type pairs struct {
	levels []int
	legal  func(row []int) bool
	left   map[pair]bool
	rows   int
	order  []pair // those left that are legal by themselves, or may be, in a fixed order
}

// begin is a row with the first pair that is left, nil if none is.
func (p *pairs) begin() []int {
	for ; len(p.order) > 0; p.order = p.order[1:] {
		row, first := slices.Repeat([]int{-1}, len(p.levels)), p.order[0]
		row[first.a], row[first.b] = first.x, first.y
		if p.legal(row) {
			return row
		}
	}
	return nil
}

// complete gives each further choice the legal value with which it makes the most of the pairs that are left.
func (p *pairs) complete(row []int) {
	for c := range row {
		if row[c] >= 0 {
			continue
		}
		gains := make([]int, p.levels[c])
		for row[c] = range gains {
			gains[row[c]] = p.gain(row, c)
		}
		values := make([]int, p.levels[c])
		for v := range values {
			values[v] = (v + p.rows) % len(values) // what makes nothing of the difference is not the same in all rows
		}
		slices.SortStableFunc(values, func(a, b int) int { return gains[b] - gains[a] })
		i := slices.IndexFunc(values, func(v int) bool { row[c] = v; return p.legal(row) })
		if row[c] = -1; i >= 0 {
			row[c] = values[i]
		}
	}
}

// gain counts the pairs left that the value of c makes with what is chosen.
func (p *pairs) gain(row []int, c int) (n int) {
	for o, v := range row {
		switch {
		case v < 0 || o == c:
		case o < c && p.left[pair{o, c, v, row[c]}], o > c && p.left[pair{c, o, row[c], v}]:
			n++
		}
	}
	return n
}

// strike takes out the pairs of a row.
func (p *pairs) strike(row []int) {
	for a := range row {
		for b := range a {
			delete(p.left, pair{b, a, row[b], row[a]})
		}
	}
	p.order = slices.DeleteFunc(p.order, func(x pair) bool { return !p.left[x] })
}
