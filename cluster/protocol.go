package cluster

import (
	"context"
	"fmt"
	"strings"

	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/explore"
	"drtmx/engine/txn"
)

// AddProtocol makes a concurrency control of your own known: kind.Name is a value of the knob cc from now on, the protocol's own knobs are on the list,
// and the checks hold it to kind.Claim. Of a name that was added before the new one takes the place, in clusters that are started from now on: run
// the cell again after a change. What comes back says what is known now. Sweeps compute its points anew each time, for
// a function of a cell may be another one then.
func AddProtocol(kind txn.Kind) string {
	must(plug(kind))
	var names []string
	if kind.Rows != nil {
		for _, r := range kind.Rows(experiment.Workloads.Load) {
			names = append(names, r.Name)
		}
	}
	text := fmt.Sprintf("cc=%s claims %s", kind.Name, kind.Claim)
	if len(names) > 0 {
		text += "; its knobs: " + strings.Join(names, ", ")
	}
	return text
}

// plug returns what experiment.Plug panics with.
func plug(kind txn.Kind) (err error) {
	defer func() {
		if x := recover(); x != nil {
			var ok bool
			if err, ok = x.(error); !ok {
				err = fmt.Errorf("protocol %s: %v", kind.Name, x)
			}
		}
	}()
	experiment.Plug(txn.Kinds{kind}, nil, nil, nil, nil, nil)
	return nil
}

// Explore runs a small system again and again, each time with other messages held back, and has the checks judge each run: so it finds what takes an
// unlucky order. A spec that names neither preset nor workload changes knobs of three transactions on two records, see explore.DefaultSpec;
// others have to be as small. What it reports names the smallest counterexample, and has the spec that opens it.
func Explore(spec Spec, o explore.Options) *explore.Report {
	r, err := ExploreWith(charts.Context(), spec, o)
	must(err)
	return r
}

// ExploreWith is Explore for programs.
func ExploreWith(ctx context.Context, spec Spec, o explore.Options) (*explore.Report, error) {
	if spec.Preset == "" && spec.Workload == "" {
		var err error
		if spec, err = explore.DefaultSpec().With(spec.Set); err != nil {
			return nil, err
		}
	}
	if o.Progress == nil {
		bar := charts.Progress("explore")
		o.Progress = func(_, done, total int) { bar(done, total) }
	}
	return explore.Run(ctx, spec, o)
}
