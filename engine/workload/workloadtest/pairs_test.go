package workloadtest

import (
	"reflect"
	"testing"
)

// Each pair is in some row, and rows are few.
func TestPairs(t *testing.T) {
	many := []int{4, 4, 3, 3, 3}
	for range 30 {
		many = append(many, 2)
	}
	for _, c := range []struct {
		levels []int
		most   int // rows
	}{
		{[]int{3, 4}, 12}, {[]int{2, 2, 2}, 4}, {[]int{2, 3, 4, 4, 8}, 34}, {[]int{1, 2, 2}, 4}, {many, 26},
	} {
		rows := Pairs(c.levels)
		if !reflect.DeepEqual(rows, Pairs(c.levels)) {
			t.Errorf("%v: another list the second time", c.levels)
		}
		if len(rows) > c.most {
			t.Errorf("%v: %d rows, want %d at most", c.levels, len(rows), c.most)
		}
		seen := map[pair]bool{}
		for _, row := range rows {
			for a := range row {
				if row[a] < 0 || row[a] >= c.levels[a] {
					t.Fatalf("%v: row %v", c.levels, row)
				}
				for b := range a {
					seen[pair{b, a, row[b], row[a]}] = true
				}
			}
		}
		for a := range c.levels {
			for b := range a {
				for x := range c.levels[a] {
					for y := range c.levels[b] {
						if !seen[pair{b, a, y, x}] {
							t.Errorf("%v: no row has choice %d at %d and %d at %d", c.levels, b, y, a, x)
						}
					}
				}
			}
		}
	}
}
