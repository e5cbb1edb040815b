package experiment

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
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
	if w.Transactions { // whose reclaims are not waited for
		c.RecvDepth = r2.RecvDepths(c.PerMachine, v.Int("coroutines"), r2.RequestWindow)
	}
	if w.Messages != nil {
		w.Messages(&c, v)
	}
	if k := orderedOf(v); k != nil && k.Messages != nil {
		k.Messages(&c, v)
	}
	return c
}

// orderedOf is the ordered key-value store that the workload sends its requests to, nil if it sends none.
func orderedOf(v Knobs) *store.KVKind {
	if !Workloads.Load(v).Ordered {
		return nil
	}
	return Ordered.Of(v)
}
