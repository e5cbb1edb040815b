package measure

import (
	"drtmx/engine/result"
	"drtmx/rdpma/nvm"
)

// DIMM is a DIMM's counters, in lines, and its buffer in per mille.
type DIMM struct{ Read, Write, Buffer, Dirty uint32 }

// Since is what happened between two cuts. Counters may wrap, differences do not.
func Since(from, to []DIMM) []DIMM {
	out := make([]DIMM, len(to))
	for i, x := range to {
		out[i] = DIMM{x.Read - from[i].Read, x.Write - from[i].Write, x.Buffer, x.Dirty}
	}
	return out
}

// unpack gives the named DIMMs their numbers.
func unpack(names []result.DIMMStat, packed []DIMM) []result.DIMMStat {
	out := append([]result.DIMMStat(nil), names...)
	for i, x := range packed {
		out[i].ReadBytes, out[i].WriteBytes = uint64(x.Read)*nvm.LineBytes, uint64(x.Write)*nvm.LineBytes
		out[i].Buffer, out[i].Dirty = float64(x.Buffer)/1000, float64(x.Dirty)/1000
	}
	return out
}

// NVMStatOf is what happened between two cuts.
func NVMStatOf(from, to *nvm.Stats) *result.NVMStat {
	if from == nil || to == nil {
		return nil
	}
	d := nvm.Stats{ReadReq: to.ReadReq - from.ReadReq, WriteReq: to.WriteReq - from.WriteReq,
		MediaRead: to.MediaRead - from.MediaRead, MediaWrite: to.MediaWrite - from.MediaWrite}
	return &result.NVMStat{ReadReq: d.ReadReq, WriteReq: d.WriteReq, MediaReadBytes: d.MediaRead * nvm.LineBytes,
		MediaWriteBytes: d.MediaWrite * nvm.LineBytes, WriteAmplification: d.WriteAmplification()}
}
