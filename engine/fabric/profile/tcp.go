package profile

import (
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// TCPNumbers is the kernel between a thread and a NIC without RDMA. A message is a
// system call of its own at the sender and one at the receiver, which sees it by
// epoll once the softirq work on it is done; see package fabric.
type TCPNumbers struct {
	SendCall       Number `yaml:"send_call" unit:"ns"`
	SendSegment    Number `yaml:"send_segment" unit:"ns"`
	ReceiveCall    Number `yaml:"receive_call" unit:"ns"`
	Queues         Number `yaml:"queues" unit:"count"`
	Softirq        Number `yaml:"softirq" unit:"ns"`
	SoftirqSegment Number `yaml:"softirq_segment" unit:"ns"`
	SoftirqLimit   Number `yaml:"softirq_limit" unit:"ns"`
	CopyLine       Number `yaml:"copy_line" unit:"ns"`
	Poll           Number `yaml:"poll" unit:"ns"`
	Interrupt      Number `yaml:"interrupt" unit:"ns"`
	Retransmit     Number `yaml:"retransmit" unit:"ns"`
}

// TCPCosts is what the kernel takes of the cores of threads that call it, as virtual
// time. engine/r2 charges it.
type TCPCosts struct {
	sendCall, sendSegment, receiveCall, copyLine sim.Time
	segment                                      int // bytes
	// Retransmit is how late a message comes of which a segment was lost.
	Retransmit sim.Time
}

// TCPCosts is what the kernel's messages cost; nil where the NICs have RDMA.
func (p *Profile) TCPCosts() *TCPCosts {
	n := p.TCP
	if n == nil {
		return nil
	}
	return &TCPCosts{
		sendCall: n.SendCall.Time(), sendSegment: n.SendSegment.Time(), receiveCall: n.ReceiveCall.Time(),
		copyLine: n.CopyLine.Time(), segment: p.Wire.MTU.Int(), Retransmit: n.Retransmit.Time(),
	}
}

// Send is the core's time to send a message of n bytes.
func (c *TCPCosts) Send(n int) sim.Time {
	return c.sendCall + FurtherSegments(n, c.segment)*c.sendSegment + c.copied(n)
}

// Receive is the core's time to take it from its socket.
func (c *TCPCosts) Receive(n int) sim.Time { return c.receiveCall + c.copied(n) }

// copied is the copy of a message's further lines between user and kernel.
func (c *TCPCosts) copied(n int) sim.Time { return sim.Time(max(n-1, 0)/space.LineBytes) * c.copyLine }

// FurtherSegments are those of a message beyond its first.
func FurtherSegments(n, segment int) sim.Time { return sim.Time(max(n-1, 0) / segment) }

// tcpLimits are those of the numbers that a queue of messages cannot work without.
var tcpLimits = map[string]limits{
	"tcp.send_call":    {min: 1, max: maxNS},
	"tcp.receive_call": {min: 1, max: maxNS},
	"tcp.queues":       {min: 1, max: 128},
	"tcp.poll":         {min: 1, max: maxNS},
	"tcp.retransmit":   {min: 1, max: maxNS},
}
