package experiment

import (
	"drtmx/engine/r2"
	"drtmx/engine/testbed"
)

func R2Config(v Knobs) r2.Config {
	all, _ := testbed.Machines(v)
	c := r2.Config{Coroutines: max(v.Int("coroutines"), coroutineRoom), EmulatedNodes: v.Int("emulated_nodes"),
		SharedContext: v.Text("nic.context") == "shared" && testbed.HasRDMA(v)}
	for m := range all {
		c.PerMachine = append(c.PerMachine, testbed.ThreadsOf(v, m))
	}
	w := Workloads.Of(v)
	if w.Transactions { // whose reclaims nobody waits for
		c.RecvDepth = r2.RecvDepths(c.PerMachine, v.Int("coroutines"), r2.RequestWindow)
	}
	if w.Messages != nil {
		w.Messages(&c, v)
	}
	return c
}
