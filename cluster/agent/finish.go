package agent

import (
	"context"
	"time"

	"drtmx/engine/result"
)

// Finish drains a system. It does not run any further: the caller closes it.
func (a *Agent) Finish(ctx context.Context, sys string) (*result.Result, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(a.ctx, stop)()
	return fetch(ctx, a, sys, func(m *member) (*result.Result, error) {
		if err := m.free(); err != nil {
			return nil, err
		}
		m.agent.standby.Drop(m) // which has no drain to follow
		m.endRecording()        // a replay ends before the drain
		m.paused = true
		err := m.Sys.DrainWith(ctx, nil)
		m.collect()
		if err != nil {
			m.fail(err)
			return nil, err
		}
		m.publish(time.Now())
		m.endHistory()
		return m.Sys.Result(), nil
	})
}
