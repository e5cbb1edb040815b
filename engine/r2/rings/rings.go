package rings

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/sim"
)

// Ring is a buffer in a thread's memory that one other thread writes its messages into. C is the conversation with it.
type Ring[C comparable] struct {
	datagram.Slots
	Channel C
	Next    uint32 // request that is expected; not used for replies
	Replies bool
}

// Rings are those of a thread. Each turn of its loop looks at all of them.
type Rings[C comparable] struct {
	List   []Ring[C]
	At     int      // the next to look at in this turn
	Found  bool     // a message in this turn
	Looked sim.Time // in this turn
	Key    uint32   // remote key of their memory

	mem    *host.Memory
	space  space.Addr // of rings not given yet
	stride int        // of a slot
}

// Remote is where the messages of a conversation go: the peer's rings for them.
type Remote struct {
	Requests, Replies datagram.Slots // none: as datagrams
	Answers           datagram.Slots // our ring, for the peer's replies; none: they are datagrams
	Key               uint32
}

// New takes the memory of a thread's rings, for requests and replies of so many others, each of at most so many bytes.
func New[C comparable](mem *host.Memory, machine, thread, socket, others, message int) (*Rings[C], error) {
	r := &Rings[C]{mem: mem, stride: datagram.SlotBytes(message)}
	bytes := uint64(2 * others * datagram.RequestWindow * r.stride)
	a, err := mem.Alloc(host.Alloc{Name: fmt.Sprintf("r2.rings.%d", thread), Bytes: bytes, Socket: socket})
	if err != nil {
		return nil, fmt.Errorf("r2: message rings of machine %d thread %d: %w", machine, thread, err)
	}
	r.space, r.Key = a, mem.Register(a, bytes, host.RemoteWrite).RKey
	return r, nil
}

// Give is the next of them, for the messages of a conversation.
func (r *Rings[C]) Give(to C, replies bool) datagram.Slots {
	s := datagram.Slots{Base: r.space, Stride: r.stride, Beside: new(datagram.Beside)}
	r.space += space.Addr(s.Bytes())
	r.List = append(r.List, Ring[C]{Slots: s, Channel: to, Replies: replies})
	return s
}

// Header is what the slot of a message has at its end, where the header comes last.
func (r *Rings[C]) Header(s datagram.Slots, seq uint32) datagram.Header {
	return datagram.ParseLast(r.last(s, seq))
}

// Empty takes out what is left in a slot: the header.
func (r *Rings[C]) Empty(s datagram.Slots, seq uint32) { clear(r.last(s, seq)) }

func (r *Rings[C]) last(s datagram.Slots, seq uint32) []byte {
	return r.mem.Bytes(s.End(seq)-datagram.HeaderBytes, datagram.HeaderBytes)
}

// Renew gives the rings of a conversation to another one, and empties them.
func (r *Rings[C]) Renew(was, is C) {
	for i := range r.List {
		g := &r.List[i]
		if g.Channel != was {
			continue
		}
		g.Channel, g.Next = is, 0
		for slot := range uint32(datagram.RequestWindow) {
			r.Empty(g.Slots, slot)
		}
	}
}
