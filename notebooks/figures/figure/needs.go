package figure

import (
	"drtmx/cluster"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
)

// Needs is what computing a figure is going to take, within a factor of about two.
type Needs struct {
	ID          string `json:"figure"`
	Runs        int    `json:"runs"`         // different ones, those that are kept included
	Kept        int    `json:"kept"`         // of these, that a run store has
	CPUMS       int64  `json:"cpu_ms"`       // of all that are not kept
	LongestMS   int64  `json:"longest_ms"`   // of one run: no number of workers is quicker
	MemoryBytes int64  `json:"memory_bytes"` // of the run that needs most
}

// Needs estimates the figure at a scale. The cache, which may be nil, says what is kept. Runs that turn out to be too short, and are
// measured again, are not foreseen.
func (r *Recipe) Needs(scale string, set cluster.Knobs, cache batch.Cache) (Needs, error) {
	n := Needs{ID: r.Definition.ID}
	specs, err := r.And(set).AllSpecs(scale)
	if err != nil {
		return n, err
	}
	seen := map[string]bool{}
	for _, s := range specs {
		key, err := batch.RunKey(s)
		if err != nil {
			return n, err
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		n.Runs++
		if cache != nil {
			if _, kept := cache.Get(key); kept {
				n.Kept++
				continue
			}
		}
		e, err := experiment.EstimateOf(s)
		if err != nil {
			return n, err
		}
		n.CPUMS += e.WallMS
		n.LongestMS = max(n.LongestMS, e.WallMS)
		n.MemoryBytes = max(n.MemoryBytes, e.MemoryBytes)
	}
	return n, nil
}
