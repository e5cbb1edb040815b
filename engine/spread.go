package engine

import (
	"drtmx/engine/sim"
	"drtmx/engine/workload"
)

// spread has the machines run apart, unless something takes one order of all that happens: an exploration numbers the messages of all
// machines, a tracer and the checker of a key-value store follow all clients, and where messages are written into rings every thread
// polls while any has a request open.
func (s *System) spread() {
	var o sim.Spread
	if s.apart() {
		o.Lookahead = s.fab.Lookahead()
	}
	s.sim.Spread(o)
}

func (s *System) apart() bool {
	_, kv := s.load.bench.(workload.OnKV)
	return !kv && !s.rings && s.tracer == nil && s.fab.Exploration() == nil
}
