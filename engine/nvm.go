package engine

import (
	"drtmx/engine/metrics"
	"drtmx/rdpma/nvm"
)

// NVMStat is what the NVM of all machines did, as its counters say (section 2.3.2.1): requests are of
// 64 bytes, and the amplification is what the media wrote for each byte of a write request.
type NVMStat struct {
	ReadReq            uint64  `json:"read_req"`
	WriteReq           uint64  `json:"write_req"`
	MediaReadBytes     uint64  `json:"media_read_bytes"`
	MediaWriteBytes    uint64  `json:"media_write_bytes"`
	WriteAmplification float64 `json:"write_amplification"`
	// DIMMs are each DIMM's part, of a window only.
	DIMMs []DIMMStat `json:"dimms,omitempty"`
}

// DIMMStat is what the media of one DIMM moved, and how much of its buffer was in use at the end.
type DIMMStat struct {
	Node       int     `json:"node"`
	Socket     int     `json:"socket"`
	DIMM       int     `json:"dimm"` // counted from 1, as workload.dimm
	ReadBytes  uint64  `json:"media_read_bytes"`
	WriteBytes uint64  `json:"media_write_bytes"`
	Buffer     float64 `json:"buffer"`       // share of its XLines that are in use
	Dirty      float64 `json:"buffer_dirty"` // share of its bytes that the media do not have yet
}

// dimm is a DIMM's counters, in lines, and its buffer in per mille.
type dimm struct{ read, write, buffer, dirty uint32 }

// dimms reads all counters, in the order of eachDevice.
func (s *System) dimms() (out []dimm) {
	s.eachDevice(func(_, _ int, d *nvm.Device) {
		room := d.Config().XBufferXLines
		lines := room * d.Config().XLineBytes / nvm.LineBytes
		for i := range d.Config().DIMMs {
			x := d.DIMMStats(i)
			out = append(out, dimm{uint32(x.MediaRead), uint32(x.MediaWrite), uint32(1000 * x.BufferXLines / room), uint32(1000 * x.DirtyLines / lines)})
		}
	})
	return out
}

// since is what happened between two cuts. Counters may wrap, differences do not.
func since(from, to []dimm) []dimm {
	out := make([]dimm, len(to))
	for i, x := range to {
		out[i] = dimm{x.read - from[i].read, x.write - from[i].write, x.buffer, x.dirty}
	}
	return out
}

// unpack gives the named DIMMs their numbers.
func unpack(names []DIMMStat, packed []dimm) []DIMMStat {
	out := append([]DIMMStat(nil), names...)
	for i, x := range packed {
		out[i].ReadBytes, out[i].WriteBytes = uint64(x.read)*nvm.LineBytes, uint64(x.write)*nvm.LineBytes
		out[i].Buffer, out[i].Dirty = float64(x.buffer)/1000, float64(x.dirty)/1000
	}
	return out
}

// Resources of the NVM in utilisations: the media of each DIMM.
const (
	nvmWrite = "nvm_write"
	nvmRead  = "nvm_read"
)

// device is the NVM of a socket, nil if it has none.
func (s *System) device(m, socket int) *nvm.Device {
	d, _ := s.fab.Machine(m).NVM(socket).(*nvm.Device)
	return d
}

// eachDevice visits every device of the cluster.
func (s *System) eachDevice(f func(m, socket int, d *nvm.Device)) {
	for m := range s.fab.Machines() {
		for k := range s.fab.Machine(m).Type.Sockets.Int() {
			if d := s.device(m, k); d != nil {
				f(m, k, d)
			}
		}
	}
}

// nvmStats are the counters of all devices, nil without any.
func (s *System) nvmStats() *nvm.Stats {
	var sum *nvm.Stats
	s.eachDevice(func(_, _ int, d *nvm.Device) {
		if sum == nil {
			sum = new(nvm.Stats)
		}
		x := d.Stats()
		sum.ReadReq += x.ReadReq
		sum.WriteReq += x.WriteReq
		sum.MediaRead += x.MediaRead
		sum.MediaWrite += x.MediaWrite
	})
	return sum
}

// nvmStat is what happened between two cuts.
func nvmStat(from, to *nvm.Stats) *NVMStat {
	if from == nil || to == nil {
		return nil
	}
	d := nvm.Stats{ReadReq: to.ReadReq - from.ReadReq, WriteReq: to.WriteReq - from.WriteReq,
		MediaRead: to.MediaRead - from.MediaRead, MediaWrite: to.MediaWrite - from.MediaWrite}
	return &NVMStat{ReadReq: d.ReadReq, WriteReq: d.WriteReq, MediaReadBytes: d.MediaRead * nvm.LineBytes,
		MediaWriteBytes: d.MediaWrite * nvm.LineBytes, WriteAmplification: d.WriteAmplification()}
}

// nvmUsage appends how long the media of each DIMM were busy.
func (s *System) nvmUsage(to []metrics.Usage) []metrics.Usage {
	s.eachDevice(func(m, k int, d *nvm.Device) {
		for i := range d.Config().DIMMs {
			read, write := d.MediaBusy(i, s.sim.Now())
			at := k*d.Config().DIMMs + i
			to = append(to,
				metrics.Usage{Node: m, Resource: nvmWrite, Index: at, BusyPS: write, Servers: 1},
				metrics.Usage{Node: m, Resource: nvmRead, Index: at, BusyPS: read, Servers: 1})
		}
	})
	return to
}
