package cluster

import (
	"context"
	"runtime"
	"time"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Finish ends a cluster of this process, or a fork, as a batch run ends: see Cluster.Finish.
func (c *Client) Finish() (*Result, error) {
	l, ok := c.d.(*local)
	if !ok {
		return nil, &experiment.SpecError{Field: "system", Value: c.sys, Rule: "is another process's and cannot be finished from here", Next: "open a cluster here with Up"}
	}
	defer runtime.KeepAlive(l)
	r, err := l.agent.finish(c.context(), c.sys)
	if err != nil {
		return nil, err
	}
	ws, err := l.windows(c.context(), c.sys, r.FromNS)
	if err != nil {
		return nil, err
	}
	return newResult(r, ws), c.Close()
}

// Finish ends the cluster, or the fork that it is, as a batch run ends: no transaction begins any
// more, those in flight end, the logs are applied; then the history is checked to its end, and
// with it what can be checked at rest only: the workload's invariants, such as the bank's total,
// and the replicas. The numbers are those since the last Run began. The cluster is closed then.
func (c *Cluster) Finish() *Result {
	r, err := c.c.Finish()
	must(err)
	return r
}

// finish drains a system. It does not run any further: whoever asks for it closes it.
func (a *Agent) finish(ctx context.Context, sys string) (*result.Result, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(a.ctx, stop)()
	return fetch(ctx, a, sys, func(m *member) (*result.Result, error) {
		if err := m.free(); err != nil {
			return nil, err
		}
		m.agent.standby.drop(m) // which has no drain to follow
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
