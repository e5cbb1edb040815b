package calibration

import (
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/result"
)

// measure is how a row is measured: by runs, by a figure that claims it, by asking
// the hardware model, or, what the model was given, by reading the profile.
type measure struct {
	id   string
	note string // what is measured where the row leaves it open

	// Runs, and the number read from their results.
	runs []experiment.Spec
	read func(r []*result.Result) float64

	// A figure that claims it.
	figure string

	// The hardware of a profile: what it was given, or an experiment on it.
	profile string
	given   number
	probe   func(p *profile.Profile) (float64, error)
}

// measures are the rows that exist in this version.
func measures() []measure {
	return slices.Concat(valMeasures(), nvmMeasures(), xstoreMeasures(), tsMeasures())
}

// number is read from a profile and the node type of the same name.
type number func(p *profile.Profile, t *profile.NodeType) float64

// ask is the number of a profile that is asked, or that is experimented on.
func (m *measure) ask(p *profile.Profile) (float64, error) {
	if m.probe != nil {
		return m.probe(p)
	}
	t, err := p.NodeType(p.Name)
	if err != nil {
		return 0, err
	}
	return m.given(p, t), nil
}

// one makes a reader of the only run's result.
func one(read func(r *result.Result) float64) func([]*result.Result) float64 {
	return func(r []*result.Result) float64 { return read(r[0]) }
}

// drop is by how many percent the second run's throughput is below the first's.
func drop(r []*result.Result) float64 { return 100 * (1 - r[1].Throughput/r[0].Throughput) }

func meanLatency(r *result.Result) float64 { return r.LatencyUS.Mean }

// spec is a workload with knobs, later ones on top.
func spec(workload string, sets ...experiment.Knobs) experiment.Spec {
	all := experiment.Knobs{}
	for _, set := range sets {
		for name, v := range set { // order-free: fills a map
			all[name] = v
		}
	}
	return experiment.Spec{Workload: workload, Set: all}
}
