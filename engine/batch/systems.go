package batch

import (
	"context"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// RunSystems runs every system that a spec lists, in parallel, and compares them.
func RunSystems(ctx context.Context, spec experiment.Spec, o SweepOptions) (*result.Systems, error) {
	list, err := spec.Each()
	if err != nil {
		return nil, err
	}
	runs, err := RunAll(ctx, list, o)
	if err != nil {
		return nil, err
	}
	for i, r := range runs { // equal systems share a run, and a run that was kept may be of another spec
		own := *r
		own.Name, runs[i] = list[i].Name, &own
	}
	return result.CompareSystems(runs), nil
}
