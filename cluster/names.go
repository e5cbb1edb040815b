package cluster

import "drtmx/cluster/keep"

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
