package ordered

import (
	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// newCluster is one that ends with its test.
func newCluster(t interface {
	Fatal(...any)
	Cleanup(func())
}, seed uint64, hardware fabric.Config, c r2.Config) (*sim.Sim, *r2.Cluster) {
	s := sim.New(sim.Options{Seed: seed})
	t.Cleanup(s.Close)
	f, err := fabric.New(s, hardware)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	cl, err := r2.New(s, f, c)
	if err != nil {
		t.Fatal(err)
	}
	return s, cl
}
