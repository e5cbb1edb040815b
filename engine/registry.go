package engine

// Registry lists every knob, in the order of the page.
func Registry() []Knob { return nil }

// Resolve validates a spec and returns the value of every knob.
func Resolve(spec Spec) (Knobs, error) { return Knobs{}, nil }

// Describe lists the registry with the values that a spec gives.
func Describe(spec Spec) ([]KnobState, error) { return nil, nil }

// ParseSpec reads YAML.
func ParseSpec(text []byte) (Spec, error) { return Spec{}, nil }

// LoadSpec finds a shipped spec by name or reads a file.
func LoadSpec(nameOrFile string) (Spec, error) { return Spec{}, nil }

// SpecNames lists the shipped specs, the default first.
func SpecNames() []string { return nil }

// ParseSetting splits "knob=value".
func ParseSetting(s string) (name, value string, err error) { return "", "", nil }

// PresetNames lists the presets.
func PresetNames() []string { return nil }

// PresetKnobs is what a preset sets.
func PresetKnobs(name string) (Knobs, error) { return nil, nil }

// CodeVersion identifies the source that this binary was built from.
func CodeVersion() string { return "dev" }
