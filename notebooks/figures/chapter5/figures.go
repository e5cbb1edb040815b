package chapter5

import (
	"slices"

	"drtmx/notebooks/figures/figure"
)

// Figures are those of chapter 5.
func Figures() []*figure.Definition {
	return slices.Concat(headlines, oracleFigures, schemeFigures, lockingFigures, rococoFigures, stalenessFigures,
		[]*figure.Definition{&figureRTT, &figureOracle, &figureFresh}, figuresHybrid, []*figure.Definition{&clusterTable})
}
