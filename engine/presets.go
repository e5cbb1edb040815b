package engine

import (
	"strings"

	"drtmx/engine/knob"
)

// PresetNames lists the presets.
func PresetNames() []string { return protocols.Presets() }

// PresetKnobs is everything that a preset sets: its row of Table 4-3, and the optimisations of
// Table 4-1 for it.
func PresetKnobs(name string) (Knobs, error) {
	k := protocols.PresetOf(name)
	if k == nil {
		names := PresetNames()
		return nil, &SpecError{Field: "preset", Value: knob.Clip(name), Rule: "must be one of " + strings.Join(names, ", ") + knob.DidYouMean(name, names), Next: "see `drtmx knobs`"}
	}
	return k.PresetKnobs(name), nil
}

// presetKnobs is PresetKnobs of a name that is known to exist.
func presetKnobs(name string) Knobs {
	k, err := PresetKnobs(name)
	if err != nil {
		panic("engine: " + err.Error())
	}
	return k
}

// governed is what the preset says in v, where others of its knobs may be set otherwise.
func governed(v Knobs) Knobs {
	return protocols.PresetOf(v.Text("preset")).Governed(v, workloads.Load(v))
}

// presetDiff lists the governed knobs whose value is not the preset's.
func presetDiff(v Knobs) Knobs {
	diff := Knobs{}
	for name, want := range governed(v) { // order-free: fills a map
		if v[name] != want {
			diff[name] = v[name]
		}
	}
	return diff
}
