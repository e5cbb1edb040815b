package datagram

import "drtmx/engine/wire"

const (
	// SegmentHead is what a segment and a grant have behind their header: a number and flags.
	SegmentHead = 8

	// SegmentWindow is how many segments of a message may be under way, half of it how many
	// arrive for a grant. With RECVs for it, messages find them however long they are.
	SegmentWindow = 8
)

// Flags of a grant: which message it is of, and that what was sent beyond it is to be sent again.
const (
	GrantsReply = 1 << iota
	GrantsAgain
)

// Whole is the payload of the largest message that is one datagram.
type Whole int

// Segments is how many segments a payload of n bytes takes; 0: it fits a datagram.
func (w Whole) Segments(n int) uint16 {
	if n <= int(w) {
		return 0
	}
	per := int(w) - SegmentHead
	return uint16((n + per - 1) / per)
}

// Segment are the bytes of a payload that travel in its i-th segment.
func (w Whole) Segment(payload []byte, i uint16) []byte {
	per := int(w) - SegmentHead
	from := int(i) * per
	return payload[from:min(from+per, len(payload))]
}

// Carried is how many bytes a datagram has behind its header.
func (w Whole) Carried(h Header, b []byte) int {
	if h.Size <= int(w) {
		return h.Size
	}
	per := int(w) - SegmentHead
	number, _ := ParseSegment(b)
	return SegmentHead + min(per, h.Size-int(number)*per)
}

// PutSegment writes the head of a segment or a grant.
func PutSegment(b []byte, number uint16, flags uint32) {
	wire.Put32(b, uint32(number))
	wire.Put32(b[4:], flags)
}

// ParseSegment reads it.
func ParseSegment(b []byte) (number uint16, flags uint32) {
	return uint16(wire.Get32(b)), wire.Get32(b[4:])
}

// Part is a request that is here in part.
type Part struct {
	Seq     uint32
	Have    uint16 // segments
	Message []byte
}

// Parts are those of a peer.
type Parts []Part

// Of is what is here of a request, made if nothing is.
func (s *Parts) Of(p *Pool, seq uint32, size int) *Part {
	for i := range *s {
		if x := &(*s)[i]; x.Seq == seq {
			return x
		}
	}
	*s = append(*s, Part{Seq: seq, Message: p.Take(size)})
	return &(*s)[len(*s)-1]
}

// Abandon drops what is here of the requests below one, which their caller has given up.
func (s *Parts) Abandon(p *Pool, arrived uint32) {
	kept := (*s)[:0]
	for _, x := range *s {
		if int32(x.Seq-arrived) < 0 {
			p.Give(x.Message)
			continue
		}
		kept = append(kept, x)
	}
	clear((*s)[len(kept):])
	*s = kept
}

// Complete takes out the message of a request that is complete.
func (s *Parts) Complete(x *Part) []byte {
	message, last := x.Message, len(*s)-1
	*x = (*s)[last]
	(*s)[last] = Part{}
	*s = (*s)[:last]
	return message
}
