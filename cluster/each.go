package cluster

import (
	"context"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// SetEach changes knobs of several systems now: of all of them or, if one refuses, of none. Each changes at its own
// virtual time.
func (a *Agent) SetEach(ctx context.Context, systems []string, k experiment.Knobs, by string) ([]result.Change, error) {
	for _, sys := range systems {
		err := a.call(ctx, sys, func(m *member) error {
			if err := m.live(); err != nil {
				return err
			}
			return m.Sys.Check(k)
		})
		if err != nil {
			return nil, err
		}
	}
	var out []result.Change
	for _, sys := range systems {
		c, err := a.Set(ctx, sys, k, by)
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}
