package cluster

import (
	"runtime"

	"drtmx/engine/experiment"
	"drtmx/engine/txn"
)

// AddTransaction adds a transaction to the workload of a cluster of this
// process; see Cluster.AddTransaction.
func (c *Client) AddTransaction(name string, weight int, body func(tx *txn.Tx) error) error {
	l, ok := c.d.(*local)
	if !ok {
		return &experiment.SpecError{Field: "transaction", Value: name, Rule: "cannot be sent to another process", Next: "start the cluster here with Up"}
	}
	defer runtime.KeepAlive(c)
	return l.Agent.AddTransaction(c.context(), c.sys, name, weight, body)
}

// AddTransaction adds a transaction of your own to the workload, for what
// begins from now on. weight is relative to those of the workload's own, which
// sum to 100. body returns the errors of tx as they are; tx.Rollback() gives a
// transaction up; another error, or a panic, ends the run with a line that
// names the transaction. In body, c cannot be asked to Run, Set and the like.
func (c *Cluster) AddTransaction(name string, weight int, body func(tx *txn.Tx) error) {
	must(c.c.AddTransaction(name, weight, body))
}
