package cluster

import (
	"runtime"

	"drtmx/engine/experiment"
)

// Finish ends a cluster of this process, or a fork, as a batch run ends: see Cluster.Finish.
func (c *Client) Finish() (*Result, error) {
	l, ok := c.d.(*local)
	if !ok {
		return nil, &experiment.SpecError{Field: "system", Value: c.sys, Rule: "is another process's and cannot be finished from here", Next: "open a cluster here with Up"}
	}
	defer runtime.KeepAlive(c)
	r, err := l.Agent.Finish(c.context(), c.sys)
	if err != nil {
		return nil, err
	}
	ws, err := l.WindowsFrom(c.context(), c.sys, r.FromNS)
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
