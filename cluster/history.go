package cluster

import (
	"runtime"

	"drtmx/engine/experiment"
)

// History writes every access of every transaction from the beginning on to a file: lines of JSON
// if its name ends in .jsonl, a Jepsen history if it ends in .edn. See Cluster.History.
func (c *Client) History(path string) error {
	l, ok := c.d.(*local)
	if !ok {
		return &experiment.SpecError{Field: "system", Value: c.sys, Rule: "is another process's, whose history is not written here", Next: "open a cluster here with Up, or replay its session: drtmx replay SESSION --history FILE"}
	}
	defer runtime.KeepAlive(c)
	return l.Agent.RecordHistory(c.context(), c.sys, path)
}

// History writes every access of every transaction to a file, streamed as the cluster runs: lines
// of JSON if its name ends in .jsonl, a Jepsen history for Elle's rw-register if it ends in .edn.
// Call it before the first Run, or after a Reset. The file is whole after Finish, Close or Reset;
// the result of Finish says if it could not be written.
func (c *Cluster) History(path string) *Cluster {
	must(c.c.History(path))
	return c
}
