package dashboard

import (
	"fmt"
	"net/http"

	"drtmx/cluster"
	"drtmx/cluster/agent"
	"drtmx/dashboard/charts"
)

// staleness draws how old what snapshots read was, of all systems in which they run, each with its bound.
func (p *page) staleness(w http.ResponseWriter, r *http.Request) {
	hs, stamp := p.histories(r.Context())
	var lines []charts.Series
	var of []agent.Staleness
	for _, h := range hs {
		s, err := p.source.Staleness(r.Context(), h.snap.Sys)
		if err != nil || s.Reads.Count() == 0 { // it was closed since, or no snapshot has read
			continue
		}
		lines, of = append(lines, charts.Series{Name: h.name(), System: h.snap.Sys, Dashed: h.ghost}), append(of, s)
		stamp += fmt.Sprintf("%s %d %v\n", h.snap.Sys, s.BoundNS, s.Bounded)
	}
	if len(of) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	p.draw(w, r, stamp, func() *charts.Chart { return cluster.StalenessChart(sizeOf(r), lines, of) })
}
