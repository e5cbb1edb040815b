package chapter2

import (
	"slices"

	"drtmx/notebooks/figures/figure"
)

// Figures are those of chapter 2, in the order of the thesis.
func Figures() []*figure.Definition {
	return slices.Concat([]*figure.Definition{&contexts, &rpcs, &primitives, &connections, &multiReads, &multiWrites},
		nvmFigures, hintFigures, dimmFigures, bulkWrites, extraReads, []*figure.Definition{&figurePersist}, octopus)
}
