package knob

// Kind of a knob's value. In Go and JSON: bool, int, float64 or string; a duration is an int of
// nanoseconds, bytes an int.
const (
	Bool     = "bool"
	Int      = "int"
	Float    = "float"
	Choice   = "choice"
	Duration = "duration"
	Bytes    = "bytes"
	Text     = "text"
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

// State is a knob in one spec or system.
type State struct {
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

	Auto *Auto `json:"auto,omitempty"` // of a phase that is auto: what it came to, and why
}

// Auto says what a knob came to that is auto, and why.
type Auto struct {
	Primitive string `json:"primitive"`
	Because   string `json:"because"`
}
