package cluster

import (
	"drtmx/cluster/keep"
	"drtmx/engine/experiment"
)

// Names of the run store that figures use.
type (
	Computing  = keep.Computing
	KeptFigure = keep.FigureRecord
)

var (
	RunCache   = keep.Cache
	StoreCache = keep.CacheOf
	KeepFigure = keep.Figure
)

// Spec, Knobs and Change are those of the engine, so that a notebook needs one
// import.
type (
	Spec  = experiment.Spec
	Knobs = experiment.Knobs
)
