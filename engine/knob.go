package engine

// Kind of a knob's value. In Go and JSON: bool, int, float64 or string; a duration is an int of
// nanoseconds, bytes an int.
const (
	KindBool     = "bool"
	KindInt      = "int"
	KindFloat    = "float"
	KindChoice   = "choice"
	KindDuration = "duration"
	KindBytes    = "bytes"
	KindText     = "text"
)

// Knob is one row of the registry.
type Knob struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Default any      `json:"default"`
	Min     any      `json:"min,omitempty"`
	Max     any      `json:"max,omitempty"`
	Choices []string `json:"choices,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	Label   string   `json:"label"`
	Doc     string   `json:"doc"`
	Section string   `json:"section,omitempty"` // of the thesis
	Group   string   `json:"group"`             // heading on the page: the floor that it acts on
	Live    bool     `json:"live"`
}

// KnobState is a knob in one spec or system.
type KnobState struct {
	Name            string   `json:"name"`
	Kind            string   `json:"kind"`
	Value           any      `json:"value"`
	Default         any      `json:"default"`
	Min             any      `json:"min,omitempty"`
	Max             any      `json:"max,omitempty"`
	Choices         []string `json:"choices,omitempty"`
	Unit            string   `json:"unit,omitempty"`
	Label           string   `json:"label"`
	Doc             string   `json:"doc"`
	Section         string   `json:"section,omitempty"`
	Group           string   `json:"group"`
	Live            bool     `json:"live"`
	Active          bool     `json:"active"`
	InactiveBecause string   `json:"inactive_because,omitempty"`
	Preset          any      `json:"preset,omitempty"` // what the preset says, where it says something

	Auto *AutoChoice `json:"auto,omitempty"` // of a phase that is auto: what it came to, and why
}
