package service

import (
	"drtmx/engine/knob"
	"drtmx/engine/r2"
)

// Messages gives threads the RECVs that instances of sockets need: a thread serves clients of its own index and of the one
// beside it, all of which may come at once. Datagrams that find no RECV are lost, and repeated much later.
func Messages(c *r2.Config, _ knob.Values) {
	if c.RecvDepth == nil {
		c.RecvDepth = r2.RecvDepths(c.PerMachine, c.Coroutines, r2.RequestWindow)
	}
	for m, n := range c.RecvDepth {
		c.RecvDepth[m] = min(2*n, 2048)
	}
}
