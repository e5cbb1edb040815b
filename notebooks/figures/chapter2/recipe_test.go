package chapter2

import (
	"testing"

	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"
)

// recipe is that of one of the chapter's figures.
func recipe(t *testing.T, id string) *figure.Recipe {
	t.Helper()
	return figuretest.RecipeOf(t, Figures(), id)
}
