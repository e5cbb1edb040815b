package agent

import (
	"context"

	"drtmx/engine/result"
)

// Inside is what the parts of each machine did in the latest windows or, if measured, since the
// latest Run began. It is empty before there is anything.
func (a *Agent) Inside(ctx context.Context, sys string, measured bool) ([]result.NodeInside, error) {
	return fetch(ctx, a, sys, func(m *member) ([]result.NodeInside, error) {
		if measured {
			return m.Sys.Result().Inside, nil
		}
		return m.Sys.Inside(), nil
	})
}

// Latency is the distribution of latency in the latest windows of a system under its present knobs, nil while
// nothing was committed.
func (a *Agent) Latency(ctx context.Context, sys string) (*result.Histogram, error) {
	return fetch(ctx, a, sys, func(m *member) (*result.Histogram, error) { return m.Sys.RecentLatency(), nil })
}

// Staleness is how old what snapshots read was, in the latest windows of a system under its present knobs.
type Staleness struct {
	Reads   *result.Histogram // nil while no snapshot has read
	BoundNS int64             // how old it is at most
	Bounded bool              // the scheme promises that
}

// Staleness is that of a system.
func (a *Agent) Staleness(ctx context.Context, sys string) (Staleness, error) {
	return fetch(ctx, a, sys, func(m *member) (Staleness, error) {
		s := Staleness{Reads: m.Sys.RecentStaleness()}
		s.BoundNS, s.Bounded = m.Sys.StalenessBound()
		return s, nil
	})
}
