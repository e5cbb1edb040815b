package engine

import (
	"drtmx/engine/fabric"
	"drtmx/engine/sim"
	"drtmx/rdpma/nvm"
)

// NodeInside is what the parts of a machine did in a span of time: how busy each was, as a share of
// the time, and what went through it per second.
type NodeInside struct {
	Node    int            `json:"node"`
	Type    string         `json:"type"`
	Role    string         `json:"role"` // "symmetric", "server" or "client"
	Down    bool           `json:"down,omitempty"`
	FromNS  int64          `json:"from_ns"`
	ToNS    int64          `json:"to_ns"`
	NICs    []NICInside    `json:"nics"`
	Sockets []SocketInside `json:"sockets"`
	Between []float64      `json:"between_sockets,omitempty"` // how busy the way between sockets to NVM was, by direction
}

// Flow is what went through a link or a bus.
type Flow struct {
	Busy        float64 `json:"busy"`
	BytesPerSec float64 `json:"bytes_per_s"` // headers included
	OpsPerSec   float64 `json:"ops_per_s"`
}

// NICInside is an RNIC.
type NICInside struct {
	NIC           int     `json:"nic"`
	Socket        int     `json:"socket"`
	Send          Flow    `json:"send"`     // pipelines; they have no bytes of their own
	Receive       Flow    `json:"receive"`  //
	Atomics       Flow    `json:"atomics"`  // the unit that executes them
	Contexts      Flow    `json:"contexts"` // the fetching of contexts and pages that it does not keep
	ContextHits   float64 `json:"context_hits"`
	PageHits      float64 `json:"page_hits"`
	Out           Flow    `json:"out"` // to the switch
	In            Flow    `json:"in"`
	WritesToHost  Flow    `json:"writes_to_host"` // over PCIe
	ReadsFromHost Flow    `json:"reads_from_host"`
}

// SocketInside is a processor with its cache and its memory.
type SocketInside struct {
	Socket        int        `json:"socket"`
	Cores         int        `json:"cores"`
	Threads       []float64  `json:"threads"` // how busy each worker thread's core was
	LLCBytes      int        `json:"llc_bytes"`
	Ways          int        `json:"llc_ways"`
	DDIO          bool       `json:"ddio"`
	DDIOWays      int        `json:"ddio_ways"`
	DDIOHits      float64    `json:"ddio_hits"`      // lines of DMA writes per second that the cache had
	DDIOMisses    float64    `json:"ddio_misses"`    //
	DDIOEvictions float64    `json:"ddio_evictions"` // dirty lines that left for them
	DRAM          Flow       `json:"dram"`           // of all channels; Busy is the busiest
	Channels      []float64  `json:"dram_channels"`  // how busy each was
	NVM           *NVMInside `json:"nvm,omitempty"`  // nil without
}

// NVMInside is what was asked of a socket's NVM, in requests of 64 bytes, and its DIMMs.
type NVMInside struct {
	ReadsPerSec  float64      `json:"reads_per_s"`
	WritesPerSec float64      `json:"writes_per_s"`
	DIMMs        []DIMMInside `json:"dimms"`
}

// DIMMInside is what the media of a DIMM did, and how full its buffer was at the end.
type DIMMInside struct {
	Read   Flow    `json:"read"`
	Write  Flow    `json:"write"`
	Buffer float64 `json:"buffer"`
	Dirty  float64 `json:"buffer_dirty"`
}

// load is what the parts of all machines have done since time 0.
type load struct {
	ps       int64
	version  int
	machines []machineLoad
}

type machineLoad struct {
	fabric.MachineLoad
	threads []int64     // busy ps
	nvm     []nvm.Stats // by socket; nil without
	dimms   [][]dimmLoad
}

type dimmLoad struct {
	stats       nvm.Stats
	read, write sim.Time
}

// loads reads everything.
func (s *System) loads() load {
	now := s.sim.Now()
	l := load{ps: now, version: s.version, machines: make([]machineLoad, s.fab.Machines())}
	for m := range l.machines {
		x := machineLoad{MachineLoad: s.fab.Machine(m).Load(), threads: make([]int64, s.cl.Threads(m))}
		for t := range x.threads {
			x.threads[t] = s.cl.BusyPS(m, t)
		}
		l.machines[m] = x
	}
	s.eachDevice(func(m, _ int, d *nvm.Device) {
		x := &l.machines[m]
		var ds []dimmLoad
		for i := range d.Config().DIMMs {
			read, write := d.MediaBusy(i, now)
			ds = append(ds, dimmLoad{d.DIMMStats(i), read, write})
		}
		x.nvm, x.dimms = append(x.nvm, d.Stats()), append(x.dimms, ds)
	})
	return l
}

// insideOver is how many windows the inside of the machines is a mean of, and the recent latency is of, at most.
const insideOver = 10

// keepLoad remembers the load at the end of a window.
func (s *System) keepLoad(l load) {
	if len(s.recent) > insideOver {
		s.recent = append(s.recent[:0], s.recent[1:]...)
	}
	s.recent = append(s.recent, l)
}

// Inside is what the parts of each machine did in the latest windows, ten at most, and only those
// under the present knobs if there are any. It is empty before the first window has ended.
func (s *System) Inside() []NodeInside {
	n := len(s.recent)
	if n < 2 {
		return nil
	}
	from := n - 2
	for from > 0 && s.recent[from-1].version == s.recent[n-1].version {
		from--
	}
	return s.inside(&s.recent[from], &s.recent[n-1])
}

// inside compares two loads.
func (s *System) inside(from, to *load) []NodeInside {
	if to.ps <= from.ps {
		return nil
	}
	out := make([]NodeInside, len(to.machines))
	for m := range out {
		n := NodeInside{Node: m, Type: s.res.nodes[m].Type, Role: s.res.nodes[m].Role, Down: !s.cl.Up(m), FromNS: from.ps / sim.Nanosecond, ToNS: to.ps / sim.Nanosecond}
		x := insideOf{s, m, from, to, to.ps - from.ps}
		for i := range to.machines[m].NICs {
			n.NICs = append(n.NICs, x.nic(i))
		}
		for k := range to.machines[m].Sockets {
			n.Sockets = append(n.Sockets, x.socket(k))
		}
		for i, b := range to.machines[m].Between {
			n.Between = append(n.Between, x.flow(from.machines[m].Between[i], b, 0).Busy)
		}
		out[m] = n
	}
	return out
}

// insideOf is one machine between two loads.
type insideOf struct {
	s        *System
	m        int
	from, to *load
	ps       int64
}

func (x *insideOf) perSec(n uint64) float64 { return perSecond(n, x.ps) }

// flow is what a station did; gbps is its bandwidth in GB/s, 0 if it serves no bytes.
func (x *insideOf) flow(from, to fabric.UnitLoad, gbps float64) Flow {
	busy := float64(to.BusyPS-from.BusyPS) / float64(x.ps)
	return Flow{Busy: busy, BytesPerSec: busy * gbps * 1e9, OpsPerSec: x.perSec(to.N - from.N)}
}

func (x *insideOf) nic(i int) NICInside {
	a, b := &x.from.machines[x.m].NICs[i], &x.to.machines[x.m].NICs[i]
	p := x.s.fab.Profile()
	wire, pcie := p.Wire.Bandwidth.Value, p.PCIe.Bandwidth.Value
	return NICInside{
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

func (x *insideOf) socket(k int) SocketInside {
	machine := x.s.fab.Machine(x.m)
	a, b := &x.from.machines[x.m].Sockets[k], &x.to.machines[x.m].Sockets[k]
	out := SocketInside{Socket: k, Cores: machine.Type.CoresPerSocket.Int(), LLCBytes: b.LLCBytes, Ways: b.Ways, DDIO: b.DDIO, DDIOWays: b.DDIOWays,
		DDIOHits: x.perSec(b.DDIOHits - a.DDIOHits), DDIOMisses: x.perSec(b.DDIOMisses - a.DDIOMisses), DDIOEvictions: x.perSec(b.DDIOEvicted - a.DDIOEvicted)}
	for t, busy := range x.to.machines[x.m].threads {
		if core, _ := machine.Place(t); machine.CoreSocket(core) == k {
			out.Threads = append(out.Threads, float64(busy-x.from.machines[x.m].threads[t])/float64(x.ps))
		}
	}
	for i := range b.Channels {
		f := x.flow(a.Channels[i], b.Channels[i], machine.Type.ChannelBandwidth.Value)
		out.Channels = append(out.Channels, f.Busy)
		out.DRAM.Busy = max(out.DRAM.Busy, f.Busy)
		out.DRAM.BytesPerSec += f.BytesPerSec
		out.DRAM.OpsPerSec += f.OpsPerSec
	}
	if len(x.to.machines[x.m].nvm) > k {
		x.device(k, &out)
	}
	return out
}

// device adds a socket's NVM.
func (x *insideOf) device(k int, out *SocketInside) {
	a, b := &x.from.machines[x.m], &x.to.machines[x.m]
	c := x.s.device(x.m, k).Config()
	out.NVM = &NVMInside{ReadsPerSec: x.perSec(b.nvm[k].ReadReq - a.nvm[k].ReadReq), WritesPerSec: x.perSec(b.nvm[k].WriteReq - a.nvm[k].WriteReq)}
	for i := range b.dimms[k] {
		p, q := &a.dimms[k][i], &b.dimms[k][i]
		media := func(lines uint64, busy sim.Time) Flow {
			return Flow{Busy: float64(busy) / float64(x.ps), BytesPerSec: nvm.LineBytes * x.perSec(lines), OpsPerSec: x.perSec(lines)}
		}
		out.NVM.DIMMs = append(out.NVM.DIMMs, DIMMInside{
			Read: media(q.stats.MediaRead-p.stats.MediaRead, q.read-p.read), Write: media(q.stats.MediaWrite-p.stats.MediaWrite, q.write-p.write),
			Buffer: float64(q.stats.BufferXLines) / float64(c.XBufferXLines),
			Dirty:  float64(q.stats.DirtyLines) / float64(c.XBufferXLines*c.XLineBytes/nvm.LineBytes)})
	}
}
