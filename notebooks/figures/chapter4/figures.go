package chapter4

import (
	"slices"

	"drtmx/notebooks/figures/figure"
)

// Figures are those of chapter 4, and every choice of primitives.
func Figures() []*figure.Definition {
	return slices.Concat(executionFigures, lockFigures, commitFigures, loggingFigures, []*figure.Definition{&readOnlyFigure}, machinesFigures, stepFigures, designFigures, breakdowns, tables, []*figure.Definition{&everyChoice})
}
