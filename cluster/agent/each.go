package agent

import (
	"context"
	"maps"
	"slices"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// SetEach changes knobs of several systems now: of all of them or, if one refuses, of none. Each changes at its own
// virtual time. None goes on between the look whether all accept the change and the change, so what was found is what is.
func (a *Agent) SetEach(ctx context.Context, systems []string, k experiment.Knobs, by string) (map[string]result.Change, error) {
	if len(k) == 0 {
		return nil, errNoKnobs
	}
	stopped := map[string]*member{}
	release := make(chan struct{})
	defer close(release)
	for _, sys := range slices.Sorted(slices.Values(systems)) { // always in the same order, so that two callers do not wait for each other
		if stopped[sys] != nil {
			continue
		}
		m, err := a.standStill(ctx, sys, release)
		if err != nil {
			return nil, err
		}
		stopped[sys] = m
	}
	names := slices.Sorted(maps.Keys(stopped))
	accepted := map[string]engine.Accepted{}
	for _, sys := range names {
		var err error
		if accepted[sys], err = stopped[sys].accepts(k); err != nil {
			return nil, err
		}
	}
	if err := refuseIdle(stopped, accepted); err != nil {
		return nil, err
	}
	out := map[string]result.Change{}
	for _, sys := range names {
		m := stopped[sys]
		var err error
		if failed := m.attempt(func() { out[sys], err = m.apply(accepted[sys], by) }); failed != nil {
			err = failed
		}
		m.store()
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// standStill lets the loop of a system stand between two slices until release is closed. Meanwhile its fields are the caller's.
func (a *Agent) standStill(ctx context.Context, sys string, release <-chan struct{}) (*member, error) {
	m, err := a.member(sys)
	if err != nil {
		return nil, err
	}
	stands := make(chan struct{})
	ended := make(chan error, 1)
	go func() { ended <- m.do(ctx, func() { close(stands); <-release }) }()
	select {
	case <-stands:
		return m, nil
	case err := <-ended:
		return nil, err
	}
}
