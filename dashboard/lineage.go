package dashboard

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
)

// A lineage is what every knob of a system was under each version of its knobs.
// It says what has changed since the start and what takes a change back, also
// where one setting (a preset) changes many knobs.
type lineage struct {
	epoch  string
	start  experiment.Knobs
	states []knobsAt // by version, from first on
	first  int
	spec   experiment.Spec // of the last version
}

// knobsAt is a system under one version of its knobs.
type knobsAt struct {
	spec   experiment.Spec
	values experiment.Knobs
	down   []int // machines, the last to crash at the end
}

// versionsKept bounds what is remembered of a system whose knobs a script turns
// in a loop.
const versionsKept = 512

// firstSystem is the one that is never closed: another epoch of it is a reset.
const firstSystem = "a"

// lineages has that of every system.
type lineages struct {
	source Source
	mu     sync.Mutex
	of     map[string]*lineage
}

func newLineages(s Source) *lineages { return &lineages{source: s, of: map[string]*lineage{}} }

// at is the system under a version; its values are nil if that is not known
// (any more).
func (l *lineage) at(version int) knobsAt {
	if i := version - l.first; i >= 0 && i < len(l.states) {
		return l.states[i]
	}
	return knobsAt{}
}

func (l *lineage) last() int { return l.first + len(l.states) - 1 }

// follow adds a change; only the next version can be added.
func (l *lineage) follow(version int, set experiment.Knobs) error {
	if version != l.last()+1 {
		return fmt.Errorf("knobs version %d does not follow %d", version, l.last())
	}
	spec, err := l.spec.With(set)
	if err != nil {
		return err
	}
	return l.add(spec, obeyed(l.at(l.last()).down, set, spec.Set))
}

func (l *lineage) add(spec experiment.Spec, down []int) error {
	v, err := experiment.Resolve(spec)
	if err != nil {
		return err
	}
	l.spec, l.states = spec, append(l.states, knobsAt{spec, v, down})
	if n := len(l.states) - versionsKept; n > 0 {
		l.states, l.first = append([]knobsAt(nil), l.states[n:]...), l.first+n
	}
	return nil
}

// get brings the lineage of a system up to its present version. The copy that it
// returns does not change.
func (ls *lineages) get(ctx context.Context, s system.Snapshot) (lineage, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.of[s.Sys]
	if l != nil && l.epoch == s.Epoch && l.last() >= s.KnobsVersion {
		return *l, nil
	}
	if l != nil && l.epoch == s.Epoch {
		events, err := ls.source.Events(ctx, s.Sys)
		if err != nil {
			return lineage{}, err
		}
		for _, e := range events {
			if e.Version == l.last()+1 && l.follow(e.Version, e.Set) != nil {
				break
			}
		}
		if l.last() >= s.KnobsVersion {
			return *l, nil
		}
	}
	was := l
	l, err := ls.read(ctx, s)
	if err != nil {
		return lineage{}, err
	}
	if s.Sys == firstSystem && was != nil && was.start["workload"] == l.start["workload"] && was.start["profile"] == l.start["profile"] {
		l.start = was.start // a reset keeps what was changed before it; known if a page was open then
	}
	ls.of[s.Sys] = l
	return *l, nil
}

// read makes a lineage of the session that the system records.
func (ls *lineages) read(ctx context.Context, s system.Snapshot) (*lineage, error) {
	text, err := ls.source.Session(ctx, s.Sys)
	if err != nil {
		return nil, err
	}
	session, err := session.Read(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	g := session.Segments[len(session.Segments)-1]
	l := &lineage{epoch: s.Epoch, first: 1}
	if err := l.add(g.Header.Spec, nil); err != nil {
		return nil, err
	}
	l.start = l.states[0].values
	if n := l.start[crashKnob].(int); n != experiment.Nobody {
		l.states[0].down = []int{n}
	}
	for _, step := range g.Steps {
		if c := step.Change; c != nil {
			if err := l.follow(c.Version, c.Set); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// inverse is what has to be set on a spec to get back to values that were.
func inverse(before experiment.Knobs, after experiment.Spec) experiment.Knobs {
	set := experiment.Knobs{}
	if v, err := experiment.Resolve(after); err == nil && v["preset"] != before["preset"] {
		set["preset"] = before["preset"]
	}
	settle(set, after, before)
	return set
}

// settle adds to set what is missing for a spec to resolve to the values wanted.
// DDIO follows hint H3, which may only just have been set: so knobs are looked at
// twice. The switches of a phase follow its primitive, so they come after it.
func settle(set experiment.Knobs, spec experiment.Spec, want experiment.Knobs) {
	for _, switches := range []bool{false, false, true} {
		next, err := spec.With(set)
		if err != nil {
			return
		}
		have, err := experiment.Resolve(next)
		if err != nil {
			return
		}
		for name, v := range want {
			if experiment.IsSwitch(name) == switches && !experiment.IsGroup(name) && !experiment.IsOrder(name) && have[name] != v {
				set[name] = v
			}
		}
	}
}

// knobState is a knob as the page needs it.
type knobState struct {
	experiment.KnobState
	Start   any  `json:"start"`             // its value when the system began
	Changed bool `json:"changed,omitempty"` // since then
	Follows bool `json:"follows,omitempty"` // only because the preset changed
}

// knobs is the registry as it stands, and what takes the latest change back.
func (p *page) knobs(w http.ResponseWriter, r *http.Request) {
	s, err := snapshotOf(p.source, sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	states, err := p.source.Knobs(r.Context(), s.Sys)
	if err != nil {
		fail(w, err)
		return
	}
	l, err := p.lines.get(r.Context(), s)
	if err != nil {
		fail(w, err)
		return
	}
	if r.URL.Query().Get("hardware") == "all" {
		if states, err = withNumbers(states, l.spec); err != nil {
			fail(w, err)
			return
		}
	}
	out, err := pageKnobs(states, l)
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, map[string]any{"sys": s.Sys, "version": s.KnobsVersion, "knobs": out, "down": l.at(s.KnobsVersion).down, "undo": inverseOf(l, s.KnobsVersion)})
}

// pageKnobs puts beside the knobs what they were when the system began.
func pageKnobs(states []experiment.KnobState, l lineage) ([]knobState, error) {
	states, err := withStart(states, l)
	if err != nil {
		return nil, err
	}
	out := make([]knobState, len(states))
	preset := valueOf(states, "preset")
	for i, k := range states {
		s := knobState{KnobState: k, Start: l.start.Value(k.Name)}
		s.Changed = s.Start != k.Value && !experiment.IsGroup(k.Name)
		s.Follows = s.Changed && l.start["preset"] != preset && k.Preset != nil && k.Preset == k.Value
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
func withStart(states []experiment.KnobState, l lineage) ([]experiment.KnobState, error) {
	var gone []string
	for _, name := range sortedNames(l.start) {
		if experiment.IsHardware(name) && valueOf(states, name) == nil {
			gone = append(gone, name)
		}
	}
	return withDescribed(states, l.spec, gone)
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

// inverseOf takes one version back, nil when that is not known.
func inverseOf(l lineage, version int) experiment.Knobs {
	before, after := l.at(version-1), l.at(version)
	if before.values == nil || after.values == nil {
		return nil
	}
	set := inverse(before.values, after.spec)
	revoke(set, before.down, after.down)
	return set
}
