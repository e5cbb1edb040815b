package chapter3

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"drtmx/notebooks/figures/figure"
)

// Figures are those of chapter 3, in the order of the thesis.
func Figures() []*figure.Definition {
	return inOrder(comparisons, modelFigures, timelines, runFigures)
}

// inOrder are figures of a chapter by their numbers and letters, tables behind them.
func inOrder(lists ...[]*figure.Definition) []*figure.Definition {
	all := slices.Concat(lists...)
	number := func(d *figure.Definition) (n int) {
		if _, err := fmt.Sscanf(d.ID, fmt.Sprintf("%d-%%d", d.Chapter), &n); err != nil {
			return math.MaxInt // a table
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b *figure.Definition) int {
		return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a.ID, b.ID))
	})
	return all
}
