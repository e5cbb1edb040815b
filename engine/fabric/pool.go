package fabric

import (
	"fmt"
	"math/bits"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
)

// A verb belongs to one machine at a time: that which knows its number from the last event. It crosses with its message, with all that
// it brings. A machine takes verbs of its own. Those of others that end here, as datagrams do, go back several together.
//
// They lie in chunks that never move. A number is the machine that made the chunk, the chunk and a place in it.
const (
	placeBits = 8
	places    = 1 << placeBits
	chunkBits = 10
)

// chunk is some verbs, with room for what each brings.
type chunk struct {
	verbs [places]verb
	small [places][smallRoom]byte
	large [places][]byte // of those that had more to bring, as much as ever
}

// smallRoom is a line: most of what messages bring is records and headers.
const smallRoom = 64

// none is no verb. No machine is so large that one has this number.
const none = ^uint32(0)

func (f *part) verb(i uint32) *verb { return &f.chunks[i>>placeBits].verbs[i%places] }

// allocVerb gives a fresh verb.
func (f *part) allocVerb() (uint32, *verb) {
	if f.free == none {
		f.grow()
	}
	i := f.free
	v := f.verb(i)
	f.free = v.next
	f.live++
	return i, v
}

// grow makes a chunk.
func (f *part) grow() {
	if f.made == 1<<chunkBits {
		panic(fmt.Sprintf("fabric: machine %d has %d verbs under way, and no numbers for more", f.id, f.made*places))
	}
	number := uint32(f.id)<<chunkBits | uint32(f.made)
	c := new(chunk)
	f.chunks[number] = c
	for k := places - 1; k >= 0; k-- {
		c.verbs[k].data, c.verbs[k].next = none, f.free
		f.free = number<<placeBits | uint32(k)
	}
	f.made++
	// Where so much is under way the host's cache holds a part of it only.
	if f.made*places*(len(f.firstNIC)-1) >= 2048 {
		f.sim.LookAhead(true)
	}
}

// freeVerb ends a verb.
func (f *part) freeVerb(i uint32, v *verb) {
	v.data = none
	f.dropList(v)
	f.live--
	v.q = nil
	if home := i >> (placeBits + chunkBits); home != uint32(f.id) {
		f.keep(home, i, v)
		return
	}
	v.next = f.free
	f.free = i
}

// guests are ended verbs of another machine.
type guests struct{ first, n uint32 }

// together is how many go back at once: so many that it costs next to nothing, and few enough that their machine does not miss them.
const together = 32

// keep holds an ended verb of another machine until there are enough to be sent back. They are a list, of which the event has the head.
func (f *part) keep(home, i uint32, v *verb) {
	g := &f.guests[home]
	if v.next = none; g.n > 0 {
		v.next = g.first
	}
	if g.first, g.n = i, g.n+1; g.n == together {
		f.sim.Post(f.parts[home].sim, f.sim.Now()+f.cost.latency, f.kBack, i)
		g.n = 0
	}
}

// onBack: ended verbs are back.
func (f *part) onBack(i uint32) {
	for i != none {
		v := f.verb(i)
		next := v.next
		v.next, f.free = f.free, i
		i = next
	}
}

// makeRoom gives verb i room for the bytes that it brings.
func (f *part) makeRoom(i uint32, v *verb) []byte {
	if v.data = i; v.len > smallRoom {
		if room := &f.chunks[i>>placeBits].large[i%places]; len(*room) < int(v.len) {
			*room = make([]byte, 1<<bits.Len32(v.len-1))
		}
	}
	return f.bytes(v)
}

// bytes are the bytes that a verb brings.
func (f *Fabric) bytes(v *verb) []byte {
	if v.len == 0 || v.data == none {
		return nil
	}
	c, k := f.chunks[v.data>>placeBits], v.data%places
	if v.len <= smallRoom {
		return c.small[k][:v.len]
	}
	return c.large[k][:v.len]
}

// split makes a second half of verb i, which takes along what it brings: the message, where the first goes back as its answer.
func (f *part) split(i uint32, v *verb) (uint32, *verb) {
	j, d := f.allocVerb()
	*d = *v
	d.flags = v.flags & loop
	if v.data != none {
		if v.len <= smallRoom {
			f.chunks[j>>placeBits].small[j%places] = f.chunks[i>>placeBits].small[i%places]
		} else {
			a, b := &f.chunks[i>>placeBits].large[i%places], &f.chunks[j>>placeBits].large[j%places]
			*a, *b = *b, *a
		}
		v.data, d.data = none, j
	}
	return j, d
}

// each calls found with the verbs under way of all machines, which stand still.
func (f *Fabric) each(found func(v *verb)) {
	for _, c := range f.chunks {
		for k := range places {
			if c != nil && c.verbs[k].q != nil {
				found(&c.verbs[k])
			}
		}
	}
}

// writing says that a verb is a WRITE between the RNIC and the memory.
func (v *verb) writing() bool {
	return v.op == Write && v.flags&memory != 0 && v.len > 0 && v.data != none
}

// writing gives the bytes of the WRITEs between an RNIC of a machine and its memory.
func (f *Fabric) writing(m *host.Machine, each func(a space.Addr, b []byte)) {
	f.each(func(v *verb) {
		if v.writing() && &f.nics[v.to].machine.Machine == m {
			each(v.remote, f.bytes(v))
		}
	})
}
