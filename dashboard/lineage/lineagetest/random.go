// Package lineagetest makes changes for tests of what follows them.
package lineagetest

import (
	"math/rand/v2"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// RandomChange sets up to three live knobs, not always to values that are accepted.
func RandomChange(r *rand.Rand) experiment.Knobs {
	set := experiment.Knobs{}
	all := experiment.Registry()
	for range 1 + r.IntN(3) {
		k := all[r.IntN(len(all))]
		if !k.Live {
			continue
		}
		switch {
		case k.Kind == knob.Bool:
			set[k.Name] = r.IntN(2) == 0
		case len(k.Choices) > 0:
			set[k.Name] = k.Choices[r.IntN(len(k.Choices))]
		case k.Kind == knob.Int:
			set[k.Name] = 1 + r.IntN(16)
		case k.Kind == knob.Float:
			set[k.Name] = float64(r.IntN(10)) / 100
		}
	}
	return set
}
