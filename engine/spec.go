package engine

// Knobs are settings by knob name. Values are bool, int, float64 or string; text such as "5us" or
// "300MB" works wherever a person types.
type Knobs map[string]any

// Spec names a system to open. Everything that Set does not name has its default, or what the
// preset says.
type Spec struct {
	Name     string `yaml:"name,omitempty" json:"name,omitempty"`
	Preset   string `yaml:"preset,omitempty" json:"preset,omitempty"`
	Workload string `yaml:"workload,omitempty" json:"workload,omitempty"`
	Set      Knobs  `yaml:"set,omitempty" json:"set,omitempty"`
}
