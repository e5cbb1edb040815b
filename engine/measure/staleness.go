package measure

import (
	"drtmx/engine/metrics"
	"drtmx/engine/owned"
	"drtmx/engine/result"
)

// Staleness is how old what snapshots read was: in the open window, in the measured interval, and in the latest windows. Each machine
// takes in the reads of its own clients; what is fresh of them is folded into window and interval where these are read.
type Staleness struct {
	fresh          owned.Each[metrics.Hist]
	window, marked metrics.Hist
	closed         bool
	recent         Latencies
}

// NewStaleness is that of so many machines.
func NewStaleness(machines int) Staleness {
	return Staleness{fresh: owned.New[metrics.Hist](machines, nil), window: metrics.Hist{Coarse: true}}
}

// Add takes in the read of a record by a client of a machine.
func (s *Staleness) Add(machine int, ps int64) { s.fresh.Of(machine).Record(ps) }

func (s *Staleness) fold() {
	for _, h := range s.fresh.All() {
		if h.Count() == 0 {
			continue
		}
		s.window.Merge(h)
		if !s.closed {
			s.marked.Merge(h)
		}
		h.Reset()
	}
}

// Mark begins a measured interval, Close ends it.
func (s *Staleness) Mark()  { s.fold(); s.marked.Reset(); s.closed = false }
func (s *Staleness) Close() { s.fold(); s.closed = true }

// Measured is what there is to say of the measured interval, nil where no snapshot has read. bounded says that the
// scheme promises boundNS.
func (s *Staleness) Measured(boundNS int64, bounded bool) *result.StalenessStat {
	s.fold()
	return stalenessStat(&s.marked, boundNS, bounded)
}

// Cut is what there is to say of the open window, which ends, under a version of the knobs.
func (s *Staleness) Cut(version int, boundNS int64, bounded bool) *result.StalenessStat {
	s.fold()
	stat := stalenessStat(&s.window, boundNS, bounded)
	if stat != nil || s.recent.Next > 0 {
		s.recent.Keep(version, &s.window)
		s.window.Reset()
	}
	return stat
}

// Recent is the distribution in the latest windows under the knobs of the last one; nil while no snapshot has read.
func (s *Staleness) Recent() *result.Histogram { return s.recent.Recent() }

func stalenessStat(h *metrics.Hist, boundNS int64, bounded bool) *result.StalenessStat {
	if h.Count() == 0 {
		return nil
	}
	quantile := func(q float64) *int64 {
		if ns, ok := h.QuantileNS(q); ok {
			return &ns
		}
		return nil
	}
	stat := &result.StalenessStat{Reads: h.Count(), P50: quantile(0.5), P99: quantile(0.99), Max: h.MaxNS()}
	if bounded {
		stat.Bound = &boundNS
	}
	return stat
}
