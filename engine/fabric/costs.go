package fabric

import "drtmx/engine/sim"

// costs is the profile as integers, in the form the hot path wants.
type costs struct {
	txRequest  [numOpcodes]sim.Time // send pipeline, by opcode of the request
	txResponse [numOpcodes]sim.Time // send pipeline, by opcode of the request answered
	rxRequest  [numOpcodes]sim.Time
	rxResponse [numOpcodes]sim.Time
	gather     sim.Time // per KB
	txLatency  sim.Time
	rxLatency  sim.Time

	headRequest  [numOpcodes]uint32 // header bytes of the first packet
	headResponse [numOpcodes]uint32
	headNext     uint32 // header bytes of each further packet
	headUD       uint32
	mtu          uint32
	wire         sim.Time // per KB
	hop          sim.Time // cable, switch, cable
	loopback     sim.Time

	oneWay  sim.Time
	pcie    sim.Time // per KB
	pcieTLP sim.Time // one 64-byte word with its header
	pcieReq sim.Time // a read request: a header alone

	atomicUnit   sim.Time
	conflictHold sim.Time
	atomicHold   sim.Time
	qpFetch      sim.Time
	xlateFetch   sim.Time
	roundTrip    sim.Time // PCIe and LLC: latency of a fetch from the host

	llcHit, llcNext, llcStore, llcDMA sim.Time
	dram, dramNext, dramStore         sim.Time
	dramRandom                        sim.Time
	cross, walk                       sim.Time

	blueFlame, maxInline, wqe uint32
	retries, rnrRetries       uint8
	timeout, rnrTimer         sim.Time
	recovery                  sim.Time
	interrupt                 sim.Time // 0 with RDMA
}

func newCosts(p *Profile) costs {
	n, w, e, m := &p.NIC, &p.Wire, &p.PCIe, &p.Memory
	c := costs{
		gather: n.TxGather.perKB(), txLatency: n.TxLatency.Time(), rxLatency: n.RxLatency.Time(),
		headNext: uint32(w.Header.Int()), headUD: uint32(w.HeaderUD.Int()), mtu: uint32(w.MTU.Int()),
		wire: w.Bandwidth.perKB(), hop: 2*w.Cable.Time() + w.Switch.Time(), loopback: w.Loopback.Time(),
		oneWay: e.OneWay.Time(), pcie: e.Bandwidth.perKB(),
		atomicUnit: n.AtomicUnit.Time(), conflictHold: n.ConflictHold.Time(),
		qpFetch: n.QPFetch.Time(), xlateFetch: n.TranslationFetch.Time(),
		llcHit: m.LLCHit.Time(), llcNext: m.LLCNext.Time(), llcStore: m.LLCStore.Time(), llcDMA: m.LLCDMA.Time(),
		dram: m.DRAM.Time(), dramNext: m.DRAMNext.Time(), dramStore: m.DRAMStore.Time(),
		dramRandom: m.DRAMRandom.Time(),
		cross:      m.CrossSocket.Time(), walk: m.TLBWalk.Time(),
		blueFlame: uint32(n.BlueFlame.Int()), maxInline: uint32(n.MaxInline.Int()), wqe: uint32(e.WQE.Int()),
		retries: uint8(n.RetryCount.Int()), rnrRetries: uint8(n.RNRRetry.Int()),
		timeout: sim.Time(4096) * sim.Nanosecond << n.TimeoutExponent.Int(), rnrTimer: n.RNRTimer.Time(),
		recovery: n.LossRecovery.Time(),
	}
	c.pcieTLP = c.pcieTime(lineBytes + uint32(e.Header.Int()))
	c.pcieReq = c.pcieTime(uint32(e.Header.Int()))
	c.roundTrip = 2*c.oneWay + c.llcDMA
	// An atomic keeps its slot until its write is on the bus; reads behind it
	// cannot pass it there. The picosecond keeps the two events apart.
	c.atomicHold = 2*c.oneWay + c.dram + 1
	c.pipelines(n)
	c.headers(w)
	if p.TCP != nil {
		c.interrupt, c.recovery = p.TCP.Interrupt.Time(), p.TCP.Retransmit.Time()
	}
	return c
}

func (c *costs) pipelines(n *NICNumbers) {
	set := func(op Opcode, tx, txResp, rx, rxResp Number) {
		c.txRequest[op], c.txResponse[op] = tx.Time(), txResp.Time()
		c.rxRequest[op], c.rxResponse[op] = rx.Time(), rxResp.Time()
	}
	set(Send, n.TxSend, n.TxAck, n.RxSend, n.RxAck)
	set(Write, n.TxWrite, n.TxAck, n.RxWrite, n.RxAck)
	set(Read, n.TxRead, n.TxReadResponse, n.RxRead, n.RxResponse)
	set(CompareSwap, n.TxAtomic, n.TxAtomicResponse, n.RxAtomic, n.RxResponse)
	set(FetchAdd, n.TxAtomic, n.TxAtomicResponse, n.RxAtomic, n.RxResponse)
}

func (c *costs) headers(w *WireNumbers) {
	base, remote := uint32(w.Header.Int()), uint32(w.HeaderRemote.Int())
	atomic, ack := uint32(w.HeaderAtomic.Int()), uint32(w.HeaderAck.Int())
	c.headRequest = [numOpcodes]uint32{Send: base, Write: base + remote, Read: base + remote,
		CompareSwap: base + atomic, FetchAdd: base + atomic}
	c.headResponse = [numOpcodes]uint32{Send: base + ack, Write: base + ack, Read: base + ack,
		CompareSwap: base + ack + 8, FetchAdd: base + ack + 8}
}

func (c *costs) pcieTime(bytes uint32) sim.Time { return sim.Time(bytes) * c.pcie >> 10 }

// words is the PCIe time of an access: every 64-byte word it touches is a
// packet of its own.
func (c *costs) words(a Addr, n uint32) sim.Time {
	if n == 0 {
		return c.pcieReq
	}
	return sim.Time((a+Addr(n)-1)>>lineShift-a>>lineShift+1) * c.pcieTLP
}

// serialize is the time on the wire of a message whose first packet has head
// bytes of headers.
func (c *costs) serialize(n, head uint32) sim.Time {
	if n > c.mtu {
		head += (n - 1) / c.mtu * c.headNext
	}
	return sim.Time(n+head) * c.wire >> 10
}
