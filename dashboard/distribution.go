package dashboard

import (
	"net/http"

	"drtmx/cluster"
	"drtmx/dashboard/charts"
	"drtmx/engine/result"
)

// distribution draws the latencies of all systems over each other, each of its latest windows.
func (p *page) distribution(w http.ResponseWriter, r *http.Request) {
	hs, stamp := p.histories(r.Context())
	var lines []charts.Series
	var of []*result.Histogram
	for _, h := range hs {
		if d, err := p.source.Latency(r.Context(), h.snap.Sys); err == nil && d.Count() > 0 { // else it was closed since, or has nothing yet
			lines, of = append(lines, charts.Series{Name: h.name(), System: h.snap.Sys, Dashed: h.ghost}), append(of, d)
		}
	}
	if len(of) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	p.draw(w, r, stamp, func() *charts.Chart { return cluster.CDFChart(sizeOf(r), "", lines, of) })
}
