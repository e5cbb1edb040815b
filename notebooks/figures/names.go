package figures

import "drtmx/notebooks/figures/figure"

// What notebooks and programs name of package figure.
type (
	Figure = figure.Figure
	Recipe = figure.Recipe
	Needs  = figure.Needs
)

// The scales, and the form of figures that take no run.
const (
	Quick    = figure.Quick
	Paper    = figure.Paper
	FormDots = figure.FormDots
)
