package workloadtest

import "slices"

// Pairs lists rows of choices such that every two choices have all their values together in some row. levels says how many values
// each choice has. Most faults need two choices to meet, and such rows are few: about as many as the two choices with the most values
// have pairs. The list is a function of levels alone.
func Pairs(levels []int) (rows [][]int) {
	p := pairs{levels: levels, left: map[pair]bool{}}
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
	for len(p.order) > 0 {
		row := p.row()
		p.strike(row)
		rows = append(rows, row)
	}
	return rows
}

// pair is two choices, the first before the second, and their values.
type pair struct{ a, b, x, y int }

type pairs struct {
	levels []int
	left   map[pair]bool
	order  []pair // those left, in a fixed order
}

// row begins with the first pair that is left and gives each further choice the value with which it makes the most of them.
func (p *pairs) row() []int {
	row, first := slices.Repeat([]int{-1}, len(p.levels)), p.order[0]
	row[first.a], row[first.b] = first.x, first.y
	for c := range row {
		if row[c] >= 0 {
			continue
		}
		best, most := 0, -1
		for row[c] = range p.levels[c] {
			if n := p.gain(row, c); n > most {
				best, most = row[c], n
			}
		}
		row[c] = best
	}
	return row
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
