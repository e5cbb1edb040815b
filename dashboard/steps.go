package dashboard

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"net/http"

	"gopkg.in/yaml.v3"

	"drtmx/engine/experiment"
)

//go:embed steps/*.yaml
var stepFiles embed.FS

// Steps are what "Try this" offers for one shipped spec.
type Steps struct {
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

// loadSteps reads the embedded files; a test reads them first, so a bad one
// never ships.
func loadSteps() []Steps {
	out, err := readSteps()
	if err != nil {
		panic(err)
	}
	return out
}

func readSteps() ([]Steps, error) {
	entries, err := stepFiles.ReadDir("steps")
	if err != nil {
		return nil, err
	}
	var out []Steps
	for _, e := range entries {
		b, err := stepFiles.ReadFile("steps/" + e.Name())
		if err != nil {
			return nil, err
		}
		d := yaml.NewDecoder(bytes.NewReader(b))
		d.KnownFields(true)
		var s Steps
		if err := d.Decode(&s); err != nil {
			return nil, fmt.Errorf("steps/%s: %w", e.Name(), err)
		}
		out = append(out, s)
	}
	return out, nil
}

// trySteps answers with the steps of the spec that runs.
func (p *page) trySteps(w http.ResponseWriter, r *http.Request) {
	spec, err := p.source.Spec(r.Context(), sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	sys, err := snapshotOf(p.source, sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	name := cmp.Or(sys.Of, spec.Name)
	for _, s := range p.steps {
		if s.Spec == name {
			s.Each = sys.Of != ""
			answer(w, s)
			return
		}
	}
	answer(w, Steps{Spec: name, Steps: []Step{}})
}
