package dashboard

import (
	"net/http"
	"slices"
	"strings"

	"drtmx/cluster/handbook"
	"drtmx/dashboard/card"
	"drtmx/dashboard/lineage"
	"drtmx/dashboard/windows"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
)

// knobState is a knob as the page needs it.
type knobState struct {
	experiment.KnobState
	Start   any    `json:"start"`             // its value when the system began
	Changed bool   `json:"changed,omitempty"` // since then
	Follows bool   `json:"follows,omitempty"` // only because the preset changed
	Topic   string `json:"topic"`             // the page of the handbook that explains it
}

// knobs is the registry as it stands, and what takes the latest change back.
func (p *page) knobs(w http.ResponseWriter, r *http.Request) {
	s, err := windows.SnapshotOf(p.source, sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	states, err := p.source.Knobs(r.Context(), s.Sys)
	if err != nil {
		fail(w, err)
		return
	}
	l, err := p.lines.Get(r.Context(), s)
	if err != nil {
		fail(w, err)
		return
	}
	if r.URL.Query().Get("hardware") == "all" {
		if states, err = withNumbers(states, l.Spec); err != nil {
			fail(w, err)
			return
		}
	}
	out, err := pageKnobs(states, l)
	if err != nil {
		fail(w, err)
		return
	}
	back := s.KnobsVersion - 1
	if ms, epoch, err := p.keeper.Moments(r.Context(), s.Sys); err == nil && epoch == s.Epoch {
		back = card.Base(ms, s.KnobsVersion) // as the card of the latest change
	}
	answer(w, map[string]any{"sys": s.Sys, "version": s.KnobsVersion, "knobs": out, "transactions": runsTransactions(valueOf(states, "workload")), "down": l.At(s.KnobsVersion).Down, "undo": undo(&l, back, s.KnobsVersion)})
}

// pageKnobs puts beside the knobs what they were when the system began.
func pageKnobs(states []experiment.KnobState, l lineage.Lineage) ([]knobState, error) {
	states, err := withStart(states, l)
	if err != nil {
		return nil, err
	}
	out := make([]knobState, len(states))
	preset := valueOf(states, "preset")
	for i, k := range states {
		s := knobState{KnobState: k, Start: l.Start.Value(k.Name), Topic: handbook.TopicOf(k.Name)}
		s.Changed = s.Start != k.Value && !experiment.IsGroup(k.Name)
		s.Follows = s.Changed && l.Start["preset"] != preset && k.Preset != nil && k.Preset == k.Value
		out[i] = s
	}
	return out, nil
}

// withNumbers adds to the knobs those numbers of the hardware that are as the profile says.
func withNumbers(states []experiment.KnobState, spec experiment.Spec) ([]experiment.KnobState, error) {
	name, _ := valueOf(states, "profile").(string)
	p, err := profile.Load(name)
	if err != nil {
		return nil, err
	}
	var names []string
	p.Each(func(number string, _ *profile.Number) {
		name := "hardware." + number
		if valueOf(states, name) == nil && !strings.HasSuffix(name, ".nvm_generation") { // the knob nvm.generation is for that
			names = append(names, name)
		}
	})
	return withDescribed(states, spec, names)
}

// withStart adds to the knobs the numbers of the hardware with which the system began, and which are the
// profile's again.
func withStart(states []experiment.KnobState, l lineage.Lineage) ([]experiment.KnobState, error) {
	var gone []string
	for _, name := range experiment.SortedNames(l.Start) {
		if experiment.IsHardware(name) && valueOf(states, name) == nil {
			gone = append(gone, name)
		}
	}
	return withDescribed(states, l.Spec, gone)
}

// withDescribed adds numbers of the hardware to the knobs.
func withDescribed(states []experiment.KnobState, spec experiment.Spec, numbers []string) ([]experiment.KnobState, error) {
	if len(numbers) == 0 {
		return states, nil
	}
	all, err := experiment.Describe(spec, numbers...)
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		if slices.Contains(numbers, k.Name) {
			states = append(states, k)
		}
	}
	return states, nil
}

func valueOf(ks []experiment.KnobState, name string) any {
	for _, k := range ks {
		if k.Name == name {
			return k.Value
		}
	}
	return nil
}
