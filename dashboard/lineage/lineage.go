package lineage

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/engine/experiment"
)

// A lineage is what every knob of a system was under each version of its knobs.
// It says what has changed since the start and what takes a change back, also
// where one setting (a preset) changes many knobs.
type Lineage struct {
	Epoch  string
	Start  experiment.Knobs
	states []State // by version, from first on
	first  int
	Spec   experiment.Spec // of the last version
}

// State is a system under one version of its knobs.
type State struct {
	spec   experiment.Spec
	Values experiment.Knobs
	Down   []int // machines, the last to crash at the end
}

// versionsKept bounds what is remembered of a system whose knobs a script turns
// in a loop.
const versionsKept = 512

// FirstSystem is the one that is never closed: another epoch of it is a reset.
const FirstSystem = "a"

// Source is what has the changes of some systems, and the sessions that they record.
type Source interface {
	Events(ctx context.Context, sys string) ([]session.Event, error)
	Session(ctx context.Context, sys string) ([]byte, error)
}

// Systems has the lineage of every system.
type Systems struct {
	source Source
	mu     sync.Mutex
	of     map[string]*Lineage
}

// New makes one that follows what s has.
func New(s Source) *Systems { return &Systems{source: s, of: map[string]*Lineage{}} }

// At is the system under a version; its values are nil if that is not known
// (any more).
func (l *Lineage) At(version int) State {
	if i := version - l.first; i >= 0 && i < len(l.states) {
		return l.states[i]
	}
	return State{}
}

func (l *Lineage) last() int { return l.first + len(l.states) - 1 }

// follow adds a change; only the next version can be added.
func (l *Lineage) follow(version int, set experiment.Knobs) error {
	if version != l.last()+1 {
		return fmt.Errorf("knobs version %d does not follow %d", version, l.last())
	}
	spec, err := l.Spec.With(set)
	if err != nil {
		return err
	}
	return l.add(spec, obeyed(l.At(l.last()).Down, set, spec.Set))
}

func (l *Lineage) add(spec experiment.Spec, down []int) error {
	v, err := experiment.Resolve(spec)
	if err != nil {
		return err
	}
	l.Spec, l.states = spec, append(l.states, State{spec, v, down})
	if n := len(l.states) - versionsKept; n > 0 {
		l.states, l.first = append([]State(nil), l.states[n:]...), l.first+n
	}
	return nil
}

// Get brings the lineage of a system up to its present version. The copy that it
// returns does not change.
func (ls *Systems) Get(ctx context.Context, s system.Snapshot) (Lineage, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.of[s.Sys]
	if l != nil && l.Epoch == s.Epoch && l.last() >= s.KnobsVersion {
		return *l, nil
	}
	if l != nil && l.Epoch == s.Epoch {
		events, err := ls.source.Events(ctx, s.Sys)
		if err != nil {
			return Lineage{}, err
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
		return Lineage{}, err
	}
	if s.Sys == FirstSystem && was != nil && was.Start["workload"] == l.Start["workload"] && was.Start["profile"] == l.Start["profile"] {
		l.Start = was.Start // a reset keeps what was changed before it; known if a page was open then
	}
	ls.of[s.Sys] = l
	return *l, nil
}

// read makes a lineage of the session that the system records.
func (ls *Systems) read(ctx context.Context, s system.Snapshot) (*Lineage, error) {
	text, err := ls.source.Session(ctx, s.Sys)
	if err != nil {
		return nil, err
	}
	session, err := session.Read(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	g := session.Segments[len(session.Segments)-1]
	l := &Lineage{Epoch: s.Epoch, first: 1}
	if err := l.add(g.Header.Spec, nil); err != nil {
		return nil, err
	}
	l.Start = l.states[0].Values
	if n := l.Start[Crash].(int); n != experiment.NoMachine {
		l.states[0].Down = []int{n}
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
	AddMissing(set, after, before)
	return set
}

// AddMissing adds to set what is missing for a spec to resolve to the values wanted.
// DDIO follows hint H3, which may only just have been set: so knobs are looked at
// twice. The switches of a phase follow its primitive, so they come after it.
func AddMissing(set experiment.Knobs, spec experiment.Spec, want experiment.Knobs) {
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

// Inverse takes one version back, nil when that is not known.
func (l *Lineage) Inverse(version int) experiment.Knobs { return l.Back(version-1, version) }

// Back is what has to be set under a version to be as under an earlier one, nil when that is not known.
func (l *Lineage) Back(base, version int) experiment.Knobs {
	before, after := l.At(base), l.At(version)
	if before.Values == nil || after.Values == nil {
		return nil
	}
	set := inverse(before.Values, after.spec)
	revoke(set, before.Down, after.Down)
	return set
}
