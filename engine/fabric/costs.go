package fabric

import (
	"math/bits"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// costs is the profile as integers, in the form the hot path wants.
type costs struct {
	txRequest  [numOpcodes]sim.Time // send pipeline, by opcode of the request
	txResponse [numOpcodes]sim.Time // send pipeline, by opcode of the request answered
	rxRequest  [numOpcodes]sim.Time
	rxResponse [numOpcodes]sim.Time
	gather     sim.Time // per KB
	scatter    sim.Time // per KB
	completion sim.Time // receive pipeline
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

	oneWay     sim.Time
	pcie       sim.Time // per KB
	pcieHead   sim.Time // header of a packet that writes; a read request is no more than that
	pcieReply  sim.Time // header of a packet that answers a read
	pcieCQE    sim.Time // a completion
	pcieRecv   sim.Time // a receive request's share of the packet that is fetched
	pciePacket uint     // largest payload of a packet, as a shift

	atomicUnit   sim.Time
	conflictHold sim.Time
	atomicHold   sim.Time
	qpFetch      sim.Time
	xlateFetch   sim.Time
	roundTrip    sim.Time // PCIe and LLC: latency of a fetch from the host

	host.Costs

	blueFlame, maxInline, wqe uint32
	retries, rnrRetries       uint8
	timeout, rnrTimer         sim.Time
	recovery                  sim.Time
	latency                   sim.Time // of a message between machines, at least
	interrupt                 sim.Time // 0 with RDMA, as what follows
	softirq, softirqSegment   sim.Time
	softirqLimit              sim.Time
}

func newCosts(p *profile.Profile) costs {
	n, w, e := &p.NIC, &p.Wire, &p.PCIe
	c := costs{
		gather: n.TxGather.PerKB(), scatter: n.RxScatter.PerKB(), completion: n.RxCompletion.Time(), txLatency: n.TxLatency.Time(), rxLatency: n.RxLatency.Time(),
		headNext: uint32(w.Header.Int()), headUD: uint32(w.HeaderUD.Int()), mtu: uint32(w.MTU.Int()),
		wire: w.Bandwidth.PerKB(), hop: 2*w.Cable.Time() + w.Switch.Time(), loopback: w.Loopback.Time(),
		oneWay: e.OneWay.Time(), pcie: e.Bandwidth.PerKB(),
		atomicUnit: n.AtomicUnit.Time(), conflictHold: n.ConflictHold.Time(),
		qpFetch: n.QPFetch.Time(), xlateFetch: n.TranslationFetch.Time(),
		Costs:     host.NewCosts(p),
		blueFlame: uint32(n.BlueFlame.Int()), maxInline: uint32(n.MaxInline.Int()), wqe: uint32(e.WQE.Int()),
		retries: uint8(n.RetryCount.Int()), rnrRetries: uint8(n.RNRRetry.Int()),
		timeout: sim.Time(4096) * sim.Nanosecond << n.TimeoutExponent.Int(), rnrTimer: n.RNRTimer.Time(),
		recovery: n.LossRecovery.Time(),
	}
	c.pcieHead = c.pcieTime(uint32(e.Header.Int()))
	c.pcieCQE = c.pcieHead + c.pcieTime(uint32(e.CQE.Int()))
	c.pcieReply = c.pcieTime(uint32(e.HeaderReply.Int()))
	c.pcieRecv = (c.pcieReply + c.pcieTime(uint32(e.MaxPayload.Int()))) * sim.Time(e.RecvWQE.Int()) / sim.Time(e.MaxPayload.Int())
	c.pciePacket = uint(bits.TrailingZeros(uint(e.MaxPayload.Int())))
	// An atomic keeps its slot until its write is on the bus, memory's latency longer;
	// reads behind it cannot pass it there. The picosecond keeps the two events apart.
	c.atomicHold = 2*c.oneWay + c.fetched(0, 8) + 1
	c.roundTrip = 2*c.oneWay + c.LLCDMA
	c.pipelines(n)
	c.headers(w)
	c.latency = c.txLatency + c.hop
	if p.TCP != nil {
		c.interrupt, c.recovery = p.TCP.Interrupt.Time(), p.TCP.Retransmit.Time()
		c.softirq, c.softirqSegment, c.softirqLimit = p.TCP.Softirq.Time(), p.TCP.SoftirqSegment.Time(), p.TCP.SoftirqLimit.Time()
	}
	return c
}

func (c *costs) pipelines(n *profile.NICNumbers) {
	set := func(op Opcode, tx, txResp, rx, rxResp profile.Number) {
		c.txRequest[op], c.txResponse[op] = tx.Time(), txResp.Time()
		c.rxRequest[op], c.rxResponse[op] = rx.Time(), rxResp.Time()
	}
	set(Send, n.TxSend, n.TxAck, n.RxSend, n.RxAck)
	set(Write, n.TxWrite, n.TxAck, n.RxWrite, n.RxAck)
	set(Read, n.TxRead, n.TxReadResponse, n.RxRead, n.RxResponse)
	set(CompareSwap, n.TxAtomic, n.TxAtomicResponse, n.RxAtomic, n.RxResponse)
	set(FetchAdd, n.TxAtomic, n.TxAtomicResponse, n.RxAtomic, n.RxResponse)
}

func (c *costs) headers(w *profile.WireNumbers) {
	base, remote := uint32(w.Header.Int()), uint32(w.HeaderRemote.Int())
	atomic, ack := uint32(w.HeaderAtomic.Int()), uint32(w.HeaderAck.Int())
	c.headRequest = [numOpcodes]uint32{Send: base, Write: base + remote, Read: base + remote,
		CompareSwap: base + atomic, FetchAdd: base + atomic}
	c.headResponse = [numOpcodes]uint32{Send: base + ack, Write: base + ack, Read: base + ack,
		CompareSwap: base + ack + 8, FetchAdd: base + ack + 8}
}

func (c *costs) pcieTime(bytes uint32) sim.Time { return sim.Time(bytes) * c.pcie >> 10 }

// written is the PCIe time of a DMA write: its bytes, and a header for each packet.
// Packets end at multiples of the largest payload.
func (c *costs) written(a space.Addr, n uint32) sim.Time {
	return sim.Time(c.packets(a, n))*c.pcieHead + c.pcieTime(n)
}

// fetched is the same of a DMA read.
func (c *costs) fetched(a space.Addr, n uint32) sim.Time {
	return sim.Time(c.packets(a, n))*c.pcieReply + c.pcieTime(n)
}

// fetchedBehind is fetched of n bytes behind others of the same read.
func (c *costs) fetchedBehind(others, n uint32) sim.Time {
	t := c.fetched(0, others+n)
	if others > 0 {
		t -= c.fetched(0, others)
	}
	return t
}

func (c *costs) packets(a space.Addr, n uint32) space.Addr {
	if n == 0 { // an empty access is a packet too
		return 1
	}
	return (a+space.Addr(n)-1)>>c.pciePacket - a>>c.pciePacket + 1
}

// serialize is the time on the wire of a message whose first packet has head
// bytes of headers.
func (c *costs) serialize(n, head uint32) sim.Time {
	if n > c.mtu {
		head += (n - 1) / c.mtu * c.headNext
	}
	return sim.Time(n+head) * c.wire >> 10
}
