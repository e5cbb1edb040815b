package cluster

import (
	"fmt"
	"runtime"

	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/engine"
)

// TraceOf returns a transaction of a type ("": any) whose latency is that of a quantile, such as 0.99.
func (c *Client) TraceOf(typ string, quantile float64) (*Trace, error) {
	defer runtime.KeepAlive(c)
	p, err := c.d.TraceOf(c.context(), c.sys, engine.Choice{Type: typ, Quantile: quantile}, charts.Progress("trace"))
	if err != nil {
		return nil, err
	}
	return &Trace{Raw: []engine.TxnTrace{p.Txn}, Picked: p}, nil
}

// TraceOf returns a transaction of a type ("": any) whose latency is that of a quantile: c.TraceOf("balance",
// 0.99) is a p99 balance. As last value of a cell it draws itself.
func (c *Cluster) TraceOf(typ string, quantile float64) *Trace {
	t, err := c.c.TraceOf(typ, quantile)
	must(err)
	return t
}

// Words says how near a transaction that was picked is to what was asked for; "" of others.
func (t *Trace) Words() string {
	p := t.Picked
	if p == nil {
		return ""
	}
	what := p.Type
	if what == "" {
		what = "transaction"
	}
	return fmt.Sprintf("A p%g %s: %s, where the %gth percentile of %d transactions is %s.", 100*p.Quantile, what, words.Micros(p.LatencyNS/1e3), 100*p.Quantile, p.Sample, words.Micros(p.TargetNS/1e3))
}
