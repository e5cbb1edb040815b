package dashboard

import (
	"fmt"
	"math"
	"net/http"
	"slices"

	"drtmx/dashboard/charts"
	"drtmx/dashboard/windows"
	"drtmx/engine/result"
)

// The names of tracks are short: they stand beside them.
func ofHost(label, unit string, of func(w *windows.HostTraffic) float32) measure {
	return measure{charts.Axis{Label: label, Unit: unit}, func(m *windows.Moment) float64 { return float64(of(&m.HostTraffic)) }, false, nil}
}

// memoryTracks are how busy the busiest PCIe bus, DRAM channel and DIMM's media are,
// what the media write, how much more that is than was requested, and what waits in
// the buffer of the fullest DIMM.
var memoryTracks = []measure{
	ofHost("PCIe", "%", func(w *windows.HostTraffic) float32 { return w.PCIe }),
	ofHost("DRAM", "%", func(w *windows.HostTraffic) float32 { return w.DRAM }),
	ofHost("NVM", "%", func(w *windows.HostTraffic) float32 { return w.Media }),
	ofHost("media", "Gbps", func(w *windows.HostTraffic) float32 { return w.MediaGbps }),
	ofHost("amplified", "x", func(w *windows.HostTraffic) float32 { return w.Amplified }),
	ofHost("XBuffer", "%", func(w *windows.HostTraffic) float32 { return w.Buffer }),
}

// pcieTracks are words read and written, and by cause those written in part.
var pcieTracks = []measure{
	ofHost("reads", "/s", func(w *windows.HostTraffic) float32 { return w.Reads }),
	ofHost("writes", "/s", func(w *windows.HostTraffic) float32 { return w.Writes }),
	ofHost("part WRITE", "/s", func(w *windows.HostTraffic) float32 { return w.Partial[0] }),
	ofHost("part RECV", "/s", func(w *windows.HostTraffic) float32 { return w.Partial[1] }),
	ofHost("part READ", "/s", func(w *windows.HostTraffic) float32 { return w.Partial[2] }),
	ofHost("part atomic", "/s", func(w *windows.HostTraffic) float32 { return w.Partial[3] }),
	ofHost("part CQE", "/s", func(w *windows.HostTraffic) float32 { return w.Partial[4] }),
}

// cacheTracks are what of the accesses is found.
var cacheTracks = []measure{
	ofHost("DDIO hits", "%", func(w *windows.HostTraffic) float32 { return w.DDIO }),
	ofHost("evicted", "/s", func(w *windows.HostTraffic) float32 { return w.Evicted }),
	ofHost("QP contexts", "%", func(w *windows.HostTraffic) float32 { return w.Contexts }),
	ofHost("NIC pages", "%", func(w *windows.HostTraffic) float32 { return w.Pages }),
}

// memory, pcie and caches draw what happens on the way to memory, on the same time axis.
func (p *page) memory(w http.ResponseWriter, r *http.Request) { p.tracks(w, r, memoryTracks) }
func (p *page) pcie(w http.ResponseWriter, r *http.Request)   { p.tracks(w, r, pcieTracks) }
func (p *page) caches(w http.ResponseWriter, r *http.Request) { p.tracks(w, r, cacheTracks) }

const (
	dimmsOver  = 10 // windows
	dimmsShown = 24
)

// dimms draws each DIMM of the system shown, over its latest windows: what its media
// move, or with ?of=buffer how full its buffer is.
func (p *page) dimms(w http.ResponseWriter, r *http.Request) {
	hs, stamp := p.histories(r.Context())
	sys, buffer := sysOf(r), r.URL.Query().Get("of") == "buffer"
	from := 0
	for _, h := range hs {
		if n := len(h.moments); h.snap.Sys == sys && n > 0 {
			from = max(h.moments[n-1].Index-dimmsOver+1, 0)
		}
	}
	windows, err := p.source.Windows(r.Context(), sys, from)
	if err != nil {
		windows = nil // closed since: nothing to draw
	}
	if !slices.ContainsFunc(windows, func(w result.Window) bool { return w.NVM != nil && len(w.NVM.DIMMs) > 0 }) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	p.draw(w, r, stamp, func() *charts.Chart { return drawDIMMs(sizeOf(r), windows, buffer) })
}

func drawDIMMs(size charts.Size, ws []result.Window, buffer bool) *charts.Chart {
	y, parts := charts.Axis{Label: "media", Unit: "GB/s"}, []charts.Part{{Name: "written", Colour: charts.Colour(1)}, {Name: "read", Colour: charts.Colour(0)}}
	if buffer {
		y, parts = charts.Axis{Label: "XBuffer in use", Unit: "%"}, []charts.Part{{Name: "dirty", Colour: charts.Colour(4)}, {Name: "clean", Colour: charts.Colour(2)}}
	}
	var bars []charts.Bars
	ns := 0.0
	for i := range ws {
		n := ws[i].NVM
		if n == nil {
			continue
		}
		ns += float64(ws[i].T1NS - ws[i].T0NS)
		if bars == nil {
			for _, d := range n.DIMMs {
				bars = append(bars, charts.Bars{Name: fmt.Sprintf("n%d s%d DIMM %d", d.Node, d.Socket, d.DIMM), Values: make([]float64, len(parts))})
			}
		}
		for k, d := range n.DIMMs[:min(len(n.DIMMs), len(bars))] {
			if buffer {
				bars[k].Values[0], bars[k].Values[1] = 100*d.Dirty, 100*(d.Buffer-d.Dirty)
				continue
			}
			bars[k].Values[0] += float64(d.WriteBytes)
			bars[k].Values[1] += float64(d.ReadBytes)
		}
	}
	if !buffer {
		for _, b := range bars {
			b.Values[0] /= math.Max(ns, 1)
			b.Values[1] /= math.Max(ns, 1)
		}
	}
	bars = busiest(bars)
	size.Height = dimmsHeight(len(bars))
	return charts.StackedSized(size, "", y, parts, bars)
}

// busiest are as many bars as there is room for, in their order.
func busiest(bars []charts.Bars) []charts.Bars {
	if len(bars) <= dimmsShown {
		return bars
	}
	sums := make([]float64, len(bars))
	for i, b := range bars {
		for _, v := range b.Values {
			sums[i] += v
		}
	}
	least := slices.Sorted(slices.Values(sums))[len(bars)-dimmsShown]
	var out []charts.Bars
	for i, b := range bars {
		if sums[i] >= least && len(out) < dimmsShown {
			out = append(out, b)
		}
	}
	return out
}

// dimmsHeight is what suits so many bars, in pixels; web/charts.js has the same.
func dimmsHeight(bars int) int { return 82 + 24*max(bars, 1) }
