// Package config sizes the framework of package r2.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/sim"
)

// Time is virtual time in picoseconds.
type Time = sim.Time

// Transport is how the messages of RPCs travel (thesis §2.2.2).
type Transport uint8

const (
	// Datagrams: requests and replies are SENDs over UD, as R2 has it.
	Datagrams Transport = iota
	// Writes: requests and replies are WRITEs into buffers that the receiver
	// polls, one for each thread that sends to it [FaRM].
	Writes
	// Hybrid: requests are WRITEs, replies SENDs over UD [HERD].
	Hybrid
)

// Config sizes the framework. The zero value of a field means its default.
type Config struct {
	Threads       int       // worker threads per machine, one per core; default all cores
	PerMachine    []int     // threads of each machine, where they differ; overrides Threads. A machine with 0 is a memory node
	Coroutines    int       // coroutines per thread that Spawn may be called for; sizes queues; default 8
	EmulatedNodes int       // RC queue pairs as in a cluster of this size (thesis §2.2.4); default the machines
	RandomQP      bool      // choose among the emulated queue pairs at random (§2.2.4) instead of round robin (§4.4.2)
	SendDepth     int       // send queue of an RC queue pair; default 128 [rlib]
	RecvDepth     []int     // RECVs posted by a thread of each machine; default Config.RecvDepths. A message that finds none is lost, and repeated later
	PollBatch     int       // completions taken per poll; default 16
	MaxMessage    int       // largest RPC message, header included; default 4096 (the path MTU)
	MaxRequest    int       // largest request, header included; default MaxMessage. What is longer than that goes in segments
	MaxReply      int       // largest reply likewise; default and at least MaxRequest
	Scratch       int       // registered scratch a coroutine begins with, in bytes; default 1088. It grows
	Transport     Transport // how RPC messages travel; default as datagrams
	SharedContext bool      // one driver context per RNIC for all threads of a machine, whose queue pairs then share doorbell buffers (§2.2.2)
	ResendAfter   Time      // an unanswered request is sent again after this, later where answers take longer; default 200 us, over TCP twice what its own repetition takes
	Epochs        bool      // requests carry the epoch of their sender's machine, 4 bytes, and receivers refuse old ones; default off
	ConnectTime   Time      // making one RC queue pair when a machine restarts; default 50 us, see the package's doc

	// Between, if not nil, is called between two machines whose queue pairs New makes, done of
	// them so far: a large cluster takes a while. Its error ends New.
	Between func(done, total int) error
}

// MaxMessage is Config.MaxMessage unless told: the path MTU.
const MaxMessage = 4096

// WithDefaults is the configuration with its defaults for a fabric.
func (c Config) WithDefaults(f *fabric.Fabric) Config {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.Threads, f.Machine(0).Cores())
	def(&c.Coroutines, 8)
	def(&c.EmulatedNodes, f.Machines())
	def(&c.SendDepth, 128)
	def(&c.PollBatch, 16)
	def(&c.MaxMessage, MaxMessage)
	c.MaxRequest = max(c.MaxRequest, c.MaxMessage)
	c.MaxReply = max(c.MaxReply, c.MaxRequest)
	if f.TCP() != nil { // the kernel cuts
		c.MaxMessage = c.MaxReply
	}
	def(&c.Scratch, 1088)
	if c.RecvDepth == nil {
		threads := c.PerMachine
		if threads == nil {
			threads = slices.Repeat([]int{c.Threads}, f.Machines())
		}
		c.RecvDepth = c.RecvDepths(threads, c.Coroutines, datagram.RequestWindow)
	}
	if c.ResendAfter == 0 {
		c.ResendAfter = ResendAfter(f.TCP())
	}
	if c.ConnectTime == 0 {
		c.ConnectTime = 50 * sim.Microsecond
	}
	return c
}

// ResendAfter is Config.ResendAfter unless told, where messages go by tcp or, if nil, by RNICs.
func ResendAfter(tcp *profile.TCPCosts) Time {
	if tcp != nil {
		return 2 * tcp.Retransmit
	}
	return 200 * sim.Microsecond
}

// RecvDepths is the function of that name with room for the segments of messages as long as c
// allows: those of the requests that others send, and of the replies that a thread's own
// coroutines, each in number, wait for.
func (c Config) RecvDepths(threads []int, each, burst int) []int {
	whole := cmp.Or(c.MaxMessage, MaxMessage)
	if c.MaxRequest > whole {
		return RecvDepths(threads, datagram.SegmentWindow*each, datagram.SegmentWindow*burst)
	}
	depths := RecvDepths(threads, each, burst)
	if c.MaxReply > whole {
		for m := range depths {
			depths[m] = min(depths[m]+datagram.SegmentWindow*each, 2048)
		}
	}
	return depths
}

// RecvDepths is how many RECVs a thread of each machine posts unless told, from 64 to 2048
// [rlib]. threads are those of each machine, each the requests that a thread sends to another
// at a time. Passive ones that come on top find RECVs that are free just then; where several
// threads of a machine talk to one, they come from all at once, and each of those has burst.
func RecvDepths(threads []int, each, burst int) []int {
	depths := make([]int, len(threads))
	for m, own := range threads {
		if own == 0 { // no thread sends to a memory node
			continue
		}
		senders, each := 0, each
		for _, n := range threads {
			senders += (n + own - 1) / own
		}
		if senders > len(threads) {
			each = burst
		}
		depths[m] = min(max(64, senders*each), 2048)
	}
	return depths
}

// Check refuses what does not fit the fabric, and messages that a header cannot tell the size of.
func (c *Config) Check(f *fabric.Fabric) error {
	most := max(c.MaxRequest, c.MaxReply)
	switch {
	case c.PerMachine != nil && len(c.PerMachine) != f.Machines():
		return fmt.Errorf("r2: threads given for %d machines, the fabric has %d", len(c.PerMachine), f.Machines())
	case c.PerMachine != nil && slices.Max(c.PerMachine) < 1:
		return errors.New("r2: no machine has threads: give at least one some")
	case most-datagram.HeaderBytes > datagram.MaxSize:
		return fmt.Errorf("r2: messages of %d bytes, at most %d", most, datagram.MaxSize+datagram.HeaderBytes)
	case c.MaxMessage < most && c.MaxMessage < space.LineBytes:
		return fmt.Errorf("r2: segments of %d bytes, at least %d", c.MaxMessage, space.LineBytes)
	case len(c.RecvDepth) != f.Machines():
		return fmt.Errorf("r2: RECVs given for %d machines, the fabric has %d", len(c.RecvDepth), f.Machines())
	case f.TCP() != nil && (c.Transport != Datagrams || c.SharedContext):
		return fmt.Errorf("r2: RPC by WRITE and driver contexts are of RNICs, and those of profile %s have no RDMA; leave Transport and SharedContext alone", f.Profile().Name)
	}
	return c.checkThreads(f)
}

// ThreadsOf is the number of threads of a machine.
func (c *Config) ThreadsOf(m int) int {
	if c.PerMachine != nil {
		return c.PerMachine[m]
	}
	return c.Threads
}

// checkThreads refuses threads without a core of their own, and machines that nothing can reach.
func (c *Config) checkThreads(f *fabric.Fabric) error {
	for m := range f.Machines() {
		switch n, cores := c.ThreadsOf(m), f.Machine(m).Cores(); {
		case n < 0 || n > cores:
			return fmt.Errorf("r2: %d threads on machine %d, it has %d cores", n, m, cores)
		case n == 0 && f.TCP() != nil:
			return fmt.Errorf("r2: machine %d has no threads, and the NICs of profile %s have no RDMA: nothing could reach it; give it threads", m, f.Profile().Name)
		}
	}
	return nil
}

// PairsTo is how many RC queue pairs a thread has to each of so many machines.
func (c *Config) PairsTo(machines int) int { return (c.EmulatedNodes + machines - 1) / machines }
