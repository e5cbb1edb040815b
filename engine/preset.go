package engine

// Preset names a row of Table 4-3 as knob settings.
type preset struct {
	name  string
	title string
	set   Knobs
}

// presets lists what differs from presetBase. Passive ACK, the hybrid execution and speculation are
// DrTM+H's own; the emulated systems get outstanding requests, doorbell batching and coroutines,
// as section 4.4.3 says. Of those only DrTM+R has the location cache.
var presets = []preset{
	{"farm", "FaRM: one-sided but for lock and commit", Knobs{
		"phase.lock": "two-sided", "phase.commit": "two-sided",
		"opt.commit.pa": false, "cache.enabled": false, "txn.speculative": false,
	}},
	{"drtm+r", "DrTM+R: one-sided throughout, with the location cache", Knobs{
		"opt.commit.pa": false, "txn.speculative": false,
	}},
	{"fasst", "FaSST: RPC throughout", Knobs{
		"phase.execution": "two-sided", "phase.lock": "two-sided", "phase.validation": "two-sided",
		"phase.logging": "two-sided", "phase.commit": "two-sided",
		"phase.ro_read": "two-sided", "phase.ro_validation": "two-sided",
		"opt.commit.pa": false, "cache.enabled": false, "txn.speculative": false,
	}},
	// The lock is auto so that choosing a two-sided commit takes the lock along (section 4.4.1:
	// one-sided commit if one-sided ATOMIC is used in validation, else two-sided).
	{"drtm+h", "DrTM+H: the best primitive for each phase", Knobs{
		"phase.execution": "hybrid", "phase.ro_read": "hybrid",
		"phase.lock": "auto", "phase.commit": "auto",
	}},
}

// presetBase has every knob that presets govern.
func presetBase() Knobs {
	k := Knobs{"cache.enabled": true, "txn.speculative": true, "opt.co": true}
	for _, p := range phaseNames {
		k["phase."+p] = "one-sided"
		for _, o := range optNames {
			k["opt."+p+"."+o] = allowedPrims(p, o) != neverAllowed
		}
	}
	return k
}

// PresetNames lists the presets.
func PresetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// PresetKnobs is everything that a preset sets.
func PresetKnobs(name string) (Knobs, error) {
	for _, p := range presets {
		if p.name == name {
			k := presetBase()
			for knob, v := range p.set {
				k[knob] = v
			}
			return k, nil
		}
	}
	_, err := knobByName["preset"].parse(name)
	return nil, err
}

// presetDiff lists the governed knobs whose value is not the preset's.
func presetDiff(v Knobs) Knobs {
	diff := Knobs{}
	base, err := PresetKnobs(v.text("preset"))
	if err != nil {
		panic("engine: resolved spec with preset " + v.text("preset"))
	}
	for name, want := range base {
		if v[name] != want {
			diff[name] = v[name]
		}
	}
	return diff
}
