package dashboard

import (
	"math"
	"net/http"
	"slices"

	"drtmx/dashboard/charts"
	"drtmx/engine/metrics"
	"drtmx/engine/result"
)

// The gauges of parts draw themselves: the page knows of them what they were registered with.

// gaugesOf is what they show in a window, in the order of metrics.Gauges; nil: nothing.
func gaugesOf(w *result.Window) []float32 {
	if len(w.Gauges) == 0 {
		return nil
	}
	all := metrics.Gauges()
	out := make([]float32, len(all))
	for i, g := range all {
		out[i] = nan
		if x, ok := w.Gauges[g.Key()]; ok {
			out[i] = float32(x)
		}
	}
	return out
}

// gaugeTracks are those that show something in one of some histories.
func gaugeTracks(hs []history) []measure {
	var out []measure
	for i, g := range metrics.Gauges() {
		shows := func(m moment) bool { return i < len(m.gauges) && m.gauges[i] == m.gauges[i] }
		if !slices.ContainsFunc(hs, func(h history) bool { return slices.ContainsFunc(h.moments, shows) }) {
			continue
		}
		out = append(out, measure{charts.Axis{Label: g.Label, Unit: g.Unit}, func(m *moment) float64 {
			if i >= len(m.gauges) {
				return math.NaN()
			}
			return float64(m.gauges[i])
		}, false})
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
