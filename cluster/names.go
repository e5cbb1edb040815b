package cluster

import (
	"drtmx/cluster/agent"
	"drtmx/cluster/job"
	"drtmx/cluster/keep"
	"drtmx/cluster/system"
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

// Spec and Knobs are those of the engine, so that a notebook needs one
// import.
type (
	Spec  = experiment.Spec
	Knobs = experiment.Knobs
)

// Names of figures, which are computed above this package.
type (
	Figure       = job.Figure
	FigureInfo   = job.FigureInfo
	FigurePart   = job.FigurePart
	FigureReport = job.FigureReport
	Verdicts     = job.Verdicts
)

var SetFigures = job.SetFigures

// Names of what a client hands out.
type (
	Snapshot  = system.Snapshot
	Staleness = agent.Staleness
)
