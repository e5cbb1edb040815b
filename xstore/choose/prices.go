package choose

import (
	"drtmx/engine/fabric/profile"
	"drtmx/xstore/model"
)

// Prices are what the steps of a lookup take, in ns of whatever limits how many there can be in a second: of the server's RNICs, of its
// cores and of the cores of clients, each divided by how many of them there are. Their sum is the total demand of operational
// analysis: it bounds throughput where few requests are under way, and its largest part where many are.
type Prices struct {
	predict float64 // posting and waiting, without the cycles
	cycle   float64
	leaf    float64 // READ of a leaf's keys, and the search in it
	entry   float64 // READ of a sub-model or of entries of its table
	value   float64
	rpc     float64
}

// of is the demand of a lookup of which a share asks the server instead of reading leaves.
func (p *Prices) of(leaves, asks float64, topCycles, indexReads int) float64 {
	return p.predict + p.cycle*float64(topCycles+model.SubCycles) + float64(indexReads)*p.entry + (1-asks)*(leaves*p.leaf+p.value) + asks*p.rpc
}

// Site is what prices depend on beside the hardware.
type Site struct {
	LeafBytes    int // of a READ of a leaf's keys
	ValueBytes   int
	Levels       int     // of the tree
	Threads      int     // of the server
	Clients      float64 // client threads for each server
	SearchCycles int     // of a leaf
}

// PricesOf are the prices on a server of a type. A node of the tree is taken as a line of DRAM, a walk of the TLB
// and the next line, half of the time on the other socket: upper levels are nearer, and the HTM region's retries are left out.
func PricesOf(p *profile.Profile, t *profile.NodeType, at Site) Prices {
	rnics := max(t.NICs.Value, 1)
	cpu, mem := &p.CPU, &p.Memory
	post := cpu.PostWQE.Value + cpu.PollCQE.Value
	wait := cpu.MMIO.Value + cpu.CoroutineSwitch.Value
	read := func(bytes int) float64 { return readNS(p, bytes)/rnics + post/at.Clients }
	node := mem.DRAM.Value + mem.DRAMNext.Value + mem.TLBWalk.Value + mem.CrossSocket.Value/2
	message := max(p.NIC.TxSend.Value, p.NIC.RxSend.Value, (float64(at.ValueBytes)+p.Wire.Header.Value)/p.Wire.Bandwidth.Value)
	serve := post + cpu.RecvRefill.Value + cpu.MMIO.Value + cpu.Dispatch.Value + cpu.HTMRegion.Value + node*float64(at.Levels+1)
	cycle := 1e3 / t.Frequency.Value
	x := Prices{cycle: cycle / at.Clients, predict: wait / at.Clients}
	x.leaf = read(at.LeafBytes) + float64(at.SearchCycles)*x.cycle
	x.entry = read(model.SubBytes) + wait/at.Clients
	x.value = read(at.ValueBytes) + wait/at.Clients
	x.rpc = message/rnics + (post+cpu.RecvRefill.Value+wait)/at.Clients + serve/float64(max(at.Threads, 1))
	return x
}

// readNS is what a READ of so many bytes takes of the RNIC that answers it: of its slower pipeline, or of the link.
func readNS(p *profile.Profile, bytes int) float64 {
	wire := float64(bytes+int(p.Wire.Header.Value)) / p.Wire.Bandwidth.Value
	return max(p.NIC.RxRead.Value, p.NIC.TxReadResponse.Value, wire)
}
