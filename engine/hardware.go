package engine

import (
	"drtmx/engine/fabric/host"
	"drtmx/engine/measure"
	"drtmx/engine/metrics"
	"drtmx/engine/result"
	"drtmx/engine/sim"
	"drtmx/rdpma/nvm"
)

// traffic is that of all sockets.
func (s *System) traffic() (sum host.Traffic) {
	for m := range s.fab.Machines() {
		for k := range s.fab.Machine(m).Type.Sockets.Int() {
			t := s.fab.Machine(m).Traffic(k)
			sum.Add(&t)
		}
	}
	return sum
}

// dimms reads all counters, in the order of eachDevice.
func (s *System) dimms() (out []measure.DIMM) {
	s.eachDevice(func(_, _ int, d *nvm.Device) {
		room := d.Config().XBufferXLines
		lines := room * d.Config().XLineBytes / nvm.LineBytes
		for i := range d.Config().DIMMs {
			x := d.DIMMStats(i)
			out = append(out, measure.DIMM{Read: uint32(x.MediaRead), Write: uint32(x.MediaWrite), Buffer: uint32(1000 * x.BufferXLines / room), Dirty: uint32(1000 * x.DirtyLines / lines)})
		}
	})
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

// loads reads everything.
func (s *System) loads() measure.Load {
	now := s.sim.Now()
	l := measure.Load{PS: now, Version: s.version, Machines: make([]measure.MachineLoad, s.fab.Machines())}
	for m := range l.Machines {
		x := measure.MachineLoad{MachineLoad: s.fab.Machine(m).Load(), Threads: make([]int64, s.cl.Threads(m))}
		for t := range x.Threads {
			x.Threads[t] = s.cl.BusyPS(m, t)
		}
		l.Machines[m] = x
	}
	s.eachDevice(func(m, _ int, d *nvm.Device) {
		x := &l.Machines[m]
		var ds []measure.DIMMLoad
		for i := range d.Config().DIMMs {
			read, write := d.MediaBusy(i, now)
			ds = append(ds, measure.DIMMLoad{Stats: d.DIMMStats(i), Read: read, Write: write})
		}
		x.NVM, x.DIMMs = append(x.NVM, d.Stats()), append(x.DIMMs, ds)
	})
	return l
}

// keepLoad remembers the load at the end of a window.
func (s *System) keepLoad(l measure.Load) {
	if len(s.recent) > measure.InsideOver {
		s.recent = append(s.recent[:0], s.recent[1:]...)
	}
	s.recent = append(s.recent, l)
}

// Inside is what the parts of each machine did in the latest windows, ten at most, and only those
// under the present knobs if there are any. It is empty before the first window has ended.
func (s *System) Inside() []result.NodeInside {
	n := len(s.recent)
	if n < 2 {
		return nil
	}
	from := n - 2
	for from > 0 && s.recent[from-1].Version == s.recent[n-1].Version {
		from--
	}
	return s.inside(&s.recent[from], &s.recent[n-1])
}

// inside compares two loads.
func (s *System) inside(from, to *measure.Load) []result.NodeInside {
	if to.PS <= from.PS {
		return nil
	}
	out := make([]result.NodeInside, len(to.Machines))
	for m := range out {
		n := result.NodeInside{Node: m, Type: s.res.Nodes[m].Type, Role: s.res.Nodes[m].Role, Down: !s.cl.Up(m), FromNS: from.PS / sim.Nanosecond, ToNS: to.PS / sim.Nanosecond}
		x := insideOf{s, m, from, to, to.PS - from.PS}
		for i := range to.Machines[m].NICs {
			n.NICs = append(n.NICs, x.nic(i))
		}
		for k := range to.Machines[m].Sockets {
			n.Sockets = append(n.Sockets, x.socket(k))
		}
		for i, b := range to.Machines[m].Between {
			n.Between = append(n.Between, x.flow(from.Machines[m].Between[i], b, 0).Busy)
		}
		out[m] = n
	}
	return out
}

// insideOf is one machine between two loads.
type insideOf struct {
	s        *System
	m        int
	from, to *measure.Load
	ps       int64
}

func (x *insideOf) perSec(n uint64) float64 { return measure.PerSecond(n, x.ps) }

// flow is what a station did; gbps is its bandwidth in GB/s, 0 if it serves no bytes.
func (x *insideOf) flow(from, to host.UnitLoad, gbps float64) result.Flow {
	busy := float64(to.BusyPS-from.BusyPS) / float64(x.ps)
	return result.Flow{Busy: busy, BytesPerSec: busy * gbps * 1e9, OpsPerSec: x.perSec(to.N - from.N)}
}

func (x *insideOf) nic(i int) result.NICInside {
	a, b := &x.from.Machines[x.m].NICs[i], &x.to.Machines[x.m].NICs[i]
	p := x.s.fab.Profile()
	wire, pcie := p.Wire.Bandwidth.Value, p.PCIe.Bandwidth.Value
	return result.NICInside{
		NIC: i, Socket: b.Socket,
		Send: x.flow(a.Tx, b.Tx, 0), Receive: x.flow(a.Rx, b.Rx, 0), Atomics: x.flow(a.Atomic, b.Atomic, 0), Contexts: x.flow(a.Fetch, b.Fetch, 0),
		ContextHits: hitRate(b.ContextsNeeded-a.ContextsNeeded, b.ContextMisses-a.ContextMisses),
		PageHits:    hitRate(b.PagesRequired-a.PagesRequired, b.PageMisses-a.PageMisses),
		Out:         x.flow(a.LinkOut, b.LinkOut, wire), In: x.flow(a.LinkIn, b.LinkIn, wire),
		WritesToHost: x.flow(a.PCIeUp, b.PCIeUp, pcie), ReadsFromHost: x.flow(a.PCIeDown, b.PCIeDown, pcie),
	}
}

// hitRate is 1 where nothing was needed.
func hitRate(needed, missed uint64) float64 {
	if needed == 0 {
		return 1
	}
	return 1 - float64(missed)/float64(needed)
}

func (x *insideOf) socket(k int) result.SocketInside {
	machine := x.s.fab.Machine(x.m)
	a, b := &x.from.Machines[x.m].Sockets[k], &x.to.Machines[x.m].Sockets[k]
	out := result.SocketInside{Socket: k, Cores: machine.Type.CoresPerSocket.Int(), LLCBytes: b.LLCBytes, Ways: b.Ways, DDIO: b.DDIO, DDIOWays: b.DDIOWays,
		DDIOHits: x.perSec(b.DDIOHits - a.DDIOHits), DDIOMisses: x.perSec(b.DDIOMisses - a.DDIOMisses), DDIOEvictions: x.perSec(b.DDIOEvicted - a.DDIOEvicted)}
	for t, busy := range x.to.Machines[x.m].Threads {
		if core, _ := machine.Assign(t); machine.CoreSocket(core) == k {
			out.Threads = append(out.Threads, float64(busy-x.from.Machines[x.m].Threads[t])/float64(x.ps))
		}
	}
	for i := range b.Channels {
		f := x.flow(a.Channels[i], b.Channels[i], machine.Type.ChannelBandwidth.Value)
		out.Channels = append(out.Channels, f.Busy)
		out.DRAM.Busy = max(out.DRAM.Busy, f.Busy)
		out.DRAM.BytesPerSec += f.BytesPerSec
		out.DRAM.OpsPerSec += f.OpsPerSec
	}
	if len(x.to.Machines[x.m].NVM) > k {
		x.device(k, &out)
	}
	return out
}

// device adds a socket's NVM.
func (x *insideOf) device(k int, out *result.SocketInside) {
	a, b := &x.from.Machines[x.m], &x.to.Machines[x.m]
	c := x.s.device(x.m, k).Config()
	out.NVM = &result.NVMInside{ReadsPerSec: x.perSec(b.NVM[k].ReadReq - a.NVM[k].ReadReq), WritesPerSec: x.perSec(b.NVM[k].WriteReq - a.NVM[k].WriteReq)}
	for i := range b.DIMMs[k] {
		p, q := &a.DIMMs[k][i], &b.DIMMs[k][i]
		media := func(lines uint64, busy sim.Time) result.Flow {
			return result.Flow{Busy: float64(busy) / float64(x.ps), BytesPerSec: nvm.LineBytes * x.perSec(lines), OpsPerSec: x.perSec(lines)}
		}
		out.NVM.DIMMs = append(out.NVM.DIMMs, result.DIMMInside{
			Read: media(q.Stats.MediaRead-p.Stats.MediaRead, q.Read-p.Read), Write: media(q.Stats.MediaWrite-p.Stats.MediaWrite, q.Write-p.Write),
			Buffer: float64(q.Stats.BufferXLines) / float64(c.XBufferXLines),
			Dirty:  float64(q.Stats.DirtyLines) / float64(c.XBufferXLines*c.XLineBytes/nvm.LineBytes)})
	}
}
