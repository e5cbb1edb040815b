package fabric

import "drtmx/engine/sim"

// TCPNumbers is the kernel between a thread and a NIC without RDMA. A message is a
// system call of its own at the sender and one at the receiver, which sees it by
// epoll. Interrupts come to the core whose thread the connection belongs to.
type TCPNumbers struct {
	SendCall       Number `yaml:"send_call" unit:"ns"`
	SendSegment    Number `yaml:"send_segment" unit:"ns"`
	ReceiveCall    Number `yaml:"receive_call" unit:"ns"`
	ReceiveSegment Number `yaml:"receive_segment" unit:"ns"`
	CopyLine       Number `yaml:"copy_line" unit:"ns"`
	Poll           Number `yaml:"poll" unit:"ns"`
	Interrupt      Number `yaml:"interrupt" unit:"ns"`
	Retransmit     Number `yaml:"retransmit" unit:"ns"`
}

// TCPCosts is what the kernel takes of a core, as virtual time. engine/r2 charges it.
type TCPCosts struct {
	sendCall, sendSegment, receiveCall, receiveSegment, copyLine sim.Time
	segment                                                      int // bytes
	// Retransmit is how late a message comes of which a segment was lost.
	Retransmit sim.Time
}

// TCP is what the kernel's messages cost; nil where the NICs have RDMA.
func (f *Fabric) TCP() *TCPCosts {
	n := f.profile.TCP
	if n == nil {
		return nil
	}
	return &TCPCosts{
		sendCall: n.SendCall.Time(), sendSegment: n.SendSegment.Time(),
		receiveCall: n.ReceiveCall.Time(), receiveSegment: n.ReceiveSegment.Time(),
		copyLine: n.CopyLine.Time(), segment: f.profile.Wire.MTU.Int(), Retransmit: n.Retransmit.Time(),
	}
}

// Send is the core's time to send a message of n bytes.
func (c *TCPCosts) Send(n int) sim.Time { return c.sendCall + c.beyond(n, c.sendSegment) }

// Receive is the core's time to receive it, interrupts included.
func (c *TCPCosts) Receive(n int) sim.Time { return c.receiveCall + c.beyond(n, c.receiveSegment) }

// beyond is what a message costs beyond one of a line: its further segments, and the
// copy of its further lines between user and kernel.
func (c *TCPCosts) beyond(n int, segment sim.Time) sim.Time {
	if n <= lineBytes {
		return 0
	}
	return sim.Time((n-1)/c.segment)*segment + sim.Time((n-1)/lineBytes)*c.copyLine
}

// tcpLimits are those of the numbers that a queue of messages cannot work without.
var tcpLimits = map[string]limits{
	"tcp.send_call":    {min: 1, max: maxNS},
	"tcp.receive_call": {min: 1, max: maxNS},
	"tcp.poll":         {min: 1, max: maxNS},
	"tcp.retransmit":   {min: 1, max: maxNS},
}
