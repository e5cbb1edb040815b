package dashboard

import (
	"fmt"
	"math"
	"net/http"
	"slices"

	"drtmx/dashboard/charts"
	"drtmx/engine/result"
)

// hostTraffic is what a window says of bytes between RNICs and memory; NaN: nothing, or
// nothing to divide by. Rates are per second, shares in percent.
type hostTraffic struct {
	pcie, dram float32 // busiest unit
	media      float32 // of the NVM, likewise
	amplified  float32 // bytes that its media write per byte requested
	mediaGbps  float32
	buffer     float32 // what that of the fullest DIMM has and its media do not

	reads, writes float32 // PCIe words
	partial       [5]float32
	ddio, evicted float32 // lines that DDIO found in the LLC; dirty ones that left for others
	contexts      float32 // found in the RNIC
	pages         float32
}

// The names of tracks are short: they stand beside them.
func ofHost(label, unit string, of func(w *hostTraffic) float32) measure {
	return measure{charts.Axis{Label: label, Unit: unit}, func(m *moment) float64 { return float64(of(&m.hostTraffic)) }, false}
}

// memoryTracks are how busy the busiest PCIe bus, DRAM channel and DIMM's media are,
// what the media write, how much more that is than was requested, and what waits in
// the buffer of the fullest DIMM.
var memoryTracks = []measure{
	ofHost("PCIe", "%", func(w *hostTraffic) float32 { return w.pcie }),
	ofHost("DRAM", "%", func(w *hostTraffic) float32 { return w.dram }),
	ofHost("NVM", "%", func(w *hostTraffic) float32 { return w.media }),
	ofHost("media", "Gbps", func(w *hostTraffic) float32 { return w.mediaGbps }),
	ofHost("amplified", "x", func(w *hostTraffic) float32 { return w.amplified }),
	ofHost("XBuffer", "%", func(w *hostTraffic) float32 { return w.buffer }),
}

// pcieTracks are words read and written, and by cause those written in part.
var pcieTracks = []measure{
	ofHost("reads", "/s", func(w *hostTraffic) float32 { return w.reads }),
	ofHost("writes", "/s", func(w *hostTraffic) float32 { return w.writes }),
	ofHost("part WRITE", "/s", func(w *hostTraffic) float32 { return w.partial[0] }),
	ofHost("part RECV", "/s", func(w *hostTraffic) float32 { return w.partial[1] }),
	ofHost("part READ", "/s", func(w *hostTraffic) float32 { return w.partial[2] }),
	ofHost("part atomic", "/s", func(w *hostTraffic) float32 { return w.partial[3] }),
	ofHost("part CQE", "/s", func(w *hostTraffic) float32 { return w.partial[4] }),
}

// cacheTracks are what of the accesses is found.
var cacheTracks = []measure{
	ofHost("DDIO hits", "%", func(w *hostTraffic) float32 { return w.ddio }),
	ofHost("evicted", "/s", func(w *hostTraffic) float32 { return w.evicted }),
	ofHost("QP contexts", "%", func(w *hostTraffic) float32 { return w.contexts }),
	ofHost("NIC pages", "%", func(w *hostTraffic) float32 { return w.pages }),
}

// memory, pcie and caches draw what happens on the way to memory, on the same time axis.
func (p *page) memory(w http.ResponseWriter, r *http.Request) { p.tracks(w, r, memoryTracks) }
func (p *page) pcie(w http.ResponseWriter, r *http.Request)   { p.tracks(w, r, pcieTracks) }
func (p *page) caches(w http.ResponseWriter, r *http.Request) { p.tracks(w, r, cacheTracks) }

func hostTrafficOf(w *result.Window) hostTraffic {
	x := hostTraffic{pcie: float32(100 * w.Utilization["pcie"].Max), dram: float32(100 * w.Utilization["memory"].Max),
		media: nan, amplified: nan, mediaGbps: nan, buffer: nan, reads: nan, writes: nan, ddio: nan, evicted: nan, contexts: nan, pages: nan,
		partial: [5]float32{nan, nan, nan, nan, nan}}
	ns := float64(max(w.T1NS-w.T0NS, 1))
	rate := func(n uint64) float32 { return float32(float64(n) / ns * 1e9) }
	if n := w.NVM; n != nil {
		x.media = float32(100 * w.Utilization["nvm_write"].Max)
		x.mediaGbps = float32(8 * float64(n.MediaWriteBytes) / ns)
		if n.WriteReq > 0 {
			x.amplified = float32(n.WriteAmplification)
		}
		for _, d := range n.DIMMs {
			if b := float32(100 * d.Dirty); !(b <= x.buffer) { // nor a number yet
				x.buffer = b
			}
		}
	}
	if b := w.PCIe; b != nil {
		x.reads, x.writes = rate(b.ReadWords), rate(b.WriteWords.Sum())
		of := [5]uint64{b.Partial.Write, b.Partial.Message, b.Partial.Fill, b.Partial.Atomic, b.Partial.Completion}
		for i, all := range [5]uint64{b.WriteWords.Write, b.WriteWords.Message, b.WriteWords.Fill, b.WriteWords.Atomic, b.WriteWords.Completion} {
			if all > 0 {
				x.partial[i] = rate(of[i])
			}
		}
	}
	if c := w.Caches; c != nil {
		x.ddio = found(c.DDIOHits, c.DDIOMisses)
		if c.DDIOHits+c.DDIOMisses > 0 {
			x.evicted = rate(c.DDIOEvictions)
		}
		x.contexts = found(c.Contexts-c.ContextMisses, c.ContextMisses)
		x.pages = found(c.Translations-c.TranslationMisses, c.TranslationMisses)
	}
	return x
}

// found is the hits in percent.
func found(hits, misses uint64) float32 {
	if hits+misses == 0 {
		return nan
	}
	return float32(100 * float64(hits) / float64(hits+misses))
}

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
			from = max(h.moments[n-1].index-dimmsOver+1, 0)
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
