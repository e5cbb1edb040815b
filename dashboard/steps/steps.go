package steps

import (
	"bytes"
	"embed"
	"fmt"

	"gopkg.in/yaml.v3"

	"drtmx/engine/experiment"
)

//go:embed *.yaml
var stepFiles embed.FS

// Offer are what "Try this" offers for one shipped spec.
type Offer struct {
	Spec  string `yaml:"spec" json:"spec"`
	Steps []Step `yaml:"steps" json:"steps"`
	// Each says that a step is for all systems side by side, which one spec lists.
	Each bool `yaml:"-" json:"each,omitempty"`
}

// Step is a question, the click that answers it, and what the thesis says.
type Step struct {
	Question string `yaml:"question" json:"question"`
	Hint     string `yaml:"hint" json:"hint"` // what to look at
	// Start is what the step assumes: the page names it and offers to go there first. With
	// a preset it means the preset as it is, without changes to its knobs.
	Start experiment.Knobs `yaml:"start" json:"start"`
	// Set is what the click changes, no more than the button says.
	Button  string           `yaml:"button" json:"button"`
	Set     experiment.Knobs `yaml:"set" json:"set"`
	Thesis  string           `yaml:"thesis" json:"thesis"`
	Section string           `yaml:"section" json:"section"`
}

// Load reads the embedded files; a test reads them first, so a bad one
// never ships.
func Load() []Offer {
	out, err := readSteps()
	if err != nil {
		panic(err)
	}
	return out
}

func readSteps() ([]Offer, error) {
	entries, err := stepFiles.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var out []Offer
	for _, e := range entries {
		b, err := stepFiles.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		d := yaml.NewDecoder(bytes.NewReader(b))
		d.KnownFields(true)
		var s Offer
		if err := d.Decode(&s); err != nil {
			return nil, fmt.Errorf("steps/%s: %w", e.Name(), err)
		}
		out = append(out, s)
	}
	return out, nil
}
