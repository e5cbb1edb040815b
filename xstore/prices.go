package xstore

import (
	"drtmx/engine/fabric/profile"
	"drtmx/xstore/model"
)

// prices are what the steps of a lookup take, in ns of whatever limits how many there can be in a second: of the server's RNICs, of its
// cores and of the cores of clients, each divided by how many of them there are. Their sum is the total demand of operational
// analysis: it bounds throughput where few requests are under way, and its largest part where many are.
type prices struct {
	predict float64 // posting and waiting, without the cycles
	cycle   float64
	leaf    float64 // READ of a leaf's keys, and the search in it
	entry   float64 // READ of a sub-model or of entries of its table
	value   float64
	rpc     float64
}

// of is the demand of a lookup of which a share asks the server instead of reading leaves.
func (p *prices) of(leaves, asks float64, topCycles int, cache Mode) float64 {
	ns := p.predict + p.cycle*float64(topCycles+model.SubCycles)
	switch cache {
	case Model:
		ns += p.entry
	case Top:
		ns += 2 * p.entry
	}
	return ns + (1-asks)*(leaves*p.leaf+p.value) + asks*p.rpc
}

// prices are those of a server of the cluster.
func (p *part) prices() prices {
	s := p.s
	servers := s.spec.Servers
	clients, others := 0, 0
	for m := range s.cl.Machines() {
		if m >= servers {
			clients += s.cl.Threads(m)
		}
		others += s.cl.Threads(m)
	}
	if clients == 0 { // servers are each other's clients
		clients = others
	}
	f := s.cl.Fabric()
	return pricesOf(f.Profile(), f.Machine(p.server).Type, s.opt, site{s.spec.ValueBytes, p.tree.Stats().Levels, s.cl.Threads(p.server), float64(clients) / float64(servers)})
}

// site is what prices depend on beside the hardware.
type site struct {
	valueBytes int
	levels     int     // of the tree
	threads    int     // of the server
	clients    float64 // client threads for each server
}

// pricesOf are the prices on a server of a type. A node of the tree is taken as a line of DRAM, a walk of the TLB
// and the next line, half of the time on the other socket: upper levels are nearer, and the HTM region's retries are left out.
func pricesOf(p *profile.Profile, t *profile.NodeType, o Options, at site) prices {
	rnics := max(t.NICs.Value, 1)
	cpu, mem := &p.CPU, &p.Memory
	post := cpu.PostWQE.Value + cpu.PollCQE.Value
	wait := cpu.MMIO.Value + cpu.CoroutineSwitch.Value
	read := func(bytes int) float64 { return readNS(p, bytes)/rnics + post/at.clients }
	node := mem.DRAM.Value + mem.DRAMNext.Value + mem.TLBWalk.Value + mem.CrossSocket.Value/2
	message := max(p.NIC.TxSend.Value, p.NIC.RxSend.Value, (float64(at.valueBytes)+p.Wire.Header.Value)/p.Wire.Bandwidth.Value)
	serve := post + cpu.RecvRefill.Value + cpu.MMIO.Value + cpu.Dispatch.Value + cpu.HTMRegion.Value + node*float64(at.levels+1)
	cycle := 1e3 / t.Frequency.Value
	x := prices{cycle: cycle / at.clients, predict: wait / at.clients}
	x.leaf = read(o.readBytes()) + searchCycles*x.cycle
	x.entry = read(model.SubBytes) + wait/at.clients
	x.value = read(at.valueBytes) + wait/at.clients
	x.rpc = message/rnics + (post+cpu.RecvRefill.Value+wait)/at.clients + serve/float64(max(at.threads, 1))
	return x
}

// readNS is what a READ of so many bytes takes of the RNIC that answers it: of its slower pipeline, or of the link.
func readNS(p *profile.Profile, bytes int) float64 {
	wire := float64(bytes+int(p.Wire.Header.Value)) / p.Wire.Bandwidth.Value
	return max(p.NIC.RxRead.Value, p.NIC.TxReadResponse.Value, wire)
}
