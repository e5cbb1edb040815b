package windows

import "drtmx/engine/result"

// HostTraffic is what a window says of bytes between RNICs and memory; NaN: nothing, or
// nothing to divide by. Rates are per second, shares in percent.
type HostTraffic struct {
	PCIe, DRAM float32 // busiest unit
	Media      float32 // of the NVM, likewise
	Amplified  float32 // bytes that its media write per byte requested
	MediaGbps  float32
	Buffer     float32 // what that of the fullest DIMM has and its media do not

	Reads, Writes float32 // PCIe words
	Partial       [5]float32
	DDIO, Evicted float32 // lines that DDIO found in the LLC; dirty ones that left for others
	Contexts      float32 // found in the RNIC
	Pages         float32
}

func hostTrafficOf(w *result.Window) HostTraffic {
	x := HostTraffic{PCIe: float32(100 * w.Utilization["pcie"].Max), DRAM: float32(100 * w.Utilization["memory"].Max),
		Media: nan, Amplified: nan, MediaGbps: nan, Buffer: nan, Reads: nan, Writes: nan, DDIO: nan, Evicted: nan, Contexts: nan, Pages: nan,
		Partial: [5]float32{nan, nan, nan, nan, nan}}
	ns := float64(max(w.T1NS-w.T0NS, 1))
	rate := func(n uint64) float32 { return float32(float64(n) / ns * 1e9) }
	if n := w.NVM; n != nil {
		x.Media = float32(100 * w.Utilization["nvm_write"].Max)
		x.MediaGbps = float32(8 * float64(n.MediaWriteBytes) / ns)
		if n.WriteReq > 0 {
			x.Amplified = float32(n.WriteAmplification)
		}
		for _, d := range n.DIMMs {
			if b := float32(100 * d.Dirty); !(b <= x.Buffer) { // nor a number yet
				x.Buffer = b
			}
		}
	}
	if b := w.PCIe; b != nil {
		x.Reads, x.Writes = rate(b.ReadWords), rate(b.WriteWords.Sum())
		of := [5]uint64{b.Partial.Write, b.Partial.Message, b.Partial.Fill, b.Partial.Atomic, b.Partial.Completion}
		for i, all := range [5]uint64{b.WriteWords.Write, b.WriteWords.Message, b.WriteWords.Fill, b.WriteWords.Atomic, b.WriteWords.Completion} {
			if all > 0 {
				x.Partial[i] = rate(of[i])
			}
		}
	}
	if c := w.Caches; c != nil {
		x.DDIO = found(c.DDIOHits, c.DDIOMisses)
		if c.DDIOHits+c.DDIOMisses > 0 {
			x.Evicted = rate(c.DDIOEvictions)
		}
		x.Contexts = found(c.Contexts-c.ContextMisses, c.ContextMisses)
		x.Pages = found(c.Translations-c.TranslationMisses, c.TranslationMisses)
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
