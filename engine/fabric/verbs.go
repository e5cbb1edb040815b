package fabric

import (
	"fmt"

	"drtmx/engine/fabric/space"
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// Transport is the service a queue pair gives (thesis table 2-2).
type Transport uint8

const (
	// RC is reliable connection: all verbs, in order, acknowledged.
	RC Transport = iota
	// UC is unreliable connection: SEND and WRITE, unacknowledged.
	UC
	// UD is unreliable datagram: SEND only, one queue pair reaches everybody.
	UD
	// TCP is messages through the kernel, on NICs without RDMA and only there. Its
	// queue pair is all connections of a thread, addressed like a datagram's.
	TCP
)

var transportNames = [...]string{"RC", "UC", "UD", "TCP"}

func (t Transport) String() string {
	if int(t) < len(transportNames) {
		return transportNames[t]
	}
	return fmt.Sprintf("transport %d", uint8(t))
}

// Allows says whether the transport supports the verb (thesis table 2-2).
func (t Transport) Allows(op Opcode) bool {
	switch op {
	case Send:
		return t <= TCP
	case Write:
		return t == RC || t == UC
	case Read, CompareSwap, FetchAdd:
		return t == RC
	}
	return false
}

// connected says that a queue pair has one peer.
func (t Transport) connected() bool { return t < UD }

// Opcode is a verb.
type Opcode uint8

const (
	// Send delivers the bytes at Local into the receiver's next RECV buffer.
	Send Opcode = iota
	// Write stores the bytes at Local to Remote.
	Write
	// Read loads Len bytes from Remote to Local.
	Read
	// CompareSwap replaces the 8 bytes at Remote by Swap if they equal Compare;
	// what was there comes to Local.
	CompareSwap
	// FetchAdd adds Swap to the 8 bytes at Remote; what was there comes to Local.
	FetchAdd
	// Recv is the opcode of the completion of a receive request.
	Recv
	numOpcodes
)

var opcodeNames = [...]string{"SEND", "WRITE", "READ", "CAS", "FAA", "RECV"}

func (o Opcode) String() string {
	if int(o) < len(opcodeNames) {
		return opcodeNames[o]
	}
	return fmt.Sprintf("opcode %d", uint8(o))
}

func (o Opcode) atomic() bool { return o == CompareSwap || o == FetchAdd }

// reads says that the verb brings bytes back and counts against the limit of
// outstanding READs and ATOMICs.
func (o Opcode) reads() bool { return o == Read || o == CompareSwap || o == FetchAdd }

// Status is the result in a completion. Everything but Success has moved the
// queue pair into its error state.
type Status uint8

const (
	// Success means done.
	Success Status = iota
	// LocalLength is a message longer than the RECV buffer, seen by the receiver.
	LocalLength
	// LocalProtection is a local buffer outside of its memory region, or a wrong
	// local key.
	LocalProtection
	// RemoteInvalidRequest is what the sender of a message gets that did not fit
	// the RECV buffer, and of a misaligned atomic.
	RemoteInvalidRequest
	// RemoteAccess is a remote address outside of its memory region, a wrong
	// remote key or a missing permission.
	RemoteAccess
	// RNRRetryExceeded means that the receiver had no RECV posted, too often.
	RNRRetryExceeded
	// RetryExceeded means that the peer did not answer.
	RetryExceeded
	// Flushed is a request given up because an earlier one of its queue failed.
	Flushed
)

var statusNames = [...]string{
	"success", "local length error", "local protection error", "remote invalid request error",
	"remote access error", "RNR retry counter exceeded", "transport retry counter exceeded", "work request flushed",
}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// SendWR is a work request for the send queue.
type SendWR struct {
	// ID comes back in the completion.
	ID uint64
	Op Opcode
	// Signaled asks for a completion. An unsignaled request is known to be done
	// when a later signaled one of the same queue pair is.
	Signaled bool
	// Inline copies the payload into the request when it is posted, so the
	// buffer is free at once and the RNIC needs no DMA to fetch it.
	Inline bool
	// Local, LKey and Len are the buffer: source of SEND and WRITE, destination
	// of READ (Len bytes) and of atomics (8 bytes). It belongs to the RNIC until
	// the completion.
	Local space.Addr
	LKey  uint32
	Len   uint32
	// Further are more segments of the buffer of a SEND, WRITE or READ, behind the first one, which is Local. The list is the
	// caller's again when it is posted. nil: the buffer is in one place.
	Further []Segment
	// Remote and RKey are the other machine's memory, for one-sided verbs.
	Remote space.Addr
	RKey   uint32
	// Compare and Swap are the operands of CompareSwap; FetchAdd adds Swap.
	Compare, Swap uint64
	// Dest is where a SEND of a UD or TCP queue pair goes.
	Dest AH
	// Beside is what the simulator knows of a SEND: its receiver finds it in the completion, and no byte of the message says it.
	Beside uint64
}

// RecvWR is a work request for the receive queue: a buffer for one message. The
// 40 bytes of a datagram's global route header are not stored in front of it.
type RecvWR struct {
	ID    uint64
	Local space.Addr
	LKey  uint32
	Len   uint32
	// Further are more segments, as of a SendWR.
	Further []Segment
}

// AH is the address of a queue pair.
type AH struct {
	Machine uint16
	NIC     uint8
	QPN     uint32
}

// CQE is a completion.
type CQE struct {
	// ID is the one of the work request.
	ID     uint64
	Op     Opcode
	Status Status
	// Segment is the one of the gather list that LocalProtection is about, from 0.
	Segment uint8
	// Bytes is the length of the message or of what was read or written.
	Bytes uint32
	// QPN is the local queue pair.
	QPN uint32
	// Src is the sender, in the completion of a RECV.
	Src AH
	// At is when the completion became visible to the core.
	At sim.Time
	// Stamp is where the time went between the doorbell and At. The completion of
	// a RECV has the message's way.
	Stamp metrics.Stamp
	// Beside is the SEND's, in the completion of a RECV.
	Beside uint64
}
