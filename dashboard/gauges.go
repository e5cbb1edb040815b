package dashboard

import (
	"math"
	"net/http"
	"slices"

	"drtmx/dashboard/charts"
	"drtmx/dashboard/windows"
	"drtmx/engine/metrics"
)

// The gauges of parts draw themselves: the page knows of them what they were registered with.

// gaugeTracks are those that show something in one of some histories.
func gaugeTracks(hs []history) []measure {
	var out []measure
	for _, g := range metrics.Gauges() {
		i := g.Place()
		shows := func(m windows.Moment) bool { return i < len(m.Gauges) && m.Gauges[i] == m.Gauges[i] }
		if !slices.ContainsFunc(hs, func(h history) bool { return slices.ContainsFunc(h.moments, shows) }) {
			continue
		}
		out = append(out, measure{charts.Axis{Label: g.Label, Unit: g.Unit}, func(m *windows.Moment) float64 {
			if i >= len(m.Gauges) {
				return math.NaN()
			}
			return float64(m.Gauges[i])
		}, false, nil})
	}
	return out
}

// gauges draws them on the time axis of the live charts.
func (p *page) gauges(w http.ResponseWriter, r *http.Request) {
	hs, stamp := p.histories(r.Context())
	hs = p.alike(r.Context(), hs, sysOf(r))
	tracks := gaugeTracks(hs)
	if len(tracks) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	from, to := spanOf(r, hs)
	p.draw(w, r, stamp, func() *charts.Chart { return drawTracks(hs, from, to, tracks, sizeOf(r)) })
}
