package rdpma

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
)

// pool is one registered part of a server's memory, handed out from the front
// and then from what was freed.
type pool struct {
	name   string
	base   r2.Addr
	next   r2.Addr
	end    r2.Addr
	rkey   uint32
	socket uint8
	nvm    bool
	freed  map[shape][]uint32 // blocks to use again, the last freed first
}

// shape is what makes a block fit: its room and its alignment.
type shape struct{ room, granule int }

// block is one allocation, or one that was. Numbers are never given to other
// memory: an old pointer can always be told from a new one.
type block struct {
	addr    r2.Addr
	pool    *pool
	gen     uint32 // odd: in use. A pointer has the generation it was made in
	size    uint32 // bytes asked for
	room    uint32 // bytes it has, padding included
	granule uint16 // to which its address and room are aligned
	atomic  bool
}

// lastGen is where a block is not used again.
const lastGen = 1<<32 - 1

// server is the memory of one machine.
type server struct {
	machine int
	blocks  []block
	spread  []*pool   // data over all DIMMs, by socket
	single  [][]*pool // data on one DIMM, by socket and DIMM; nil until used
	dram    []*pool   // words for atomics, by socket
	turn    int       // socket of the next allocation without a thread
}

// newPool takes and registers memory. dimm 0 is over all of them.
func (m *Memory) newPool(machine, socket, dimm int, bytes uint64, nvm bool) (*pool, error) {
	mem := m.cl.Mem(machine)
	name := fmt.Sprintf("rdpma.dram.%d", socket)
	if nvm {
		name = fmt.Sprintf("rdpma.nvm.%d.%d", socket, dimm)
	}
	p := &pool{name: name, socket: uint8(socket), nvm: nvm, freed: map[shape][]uint32{}}
	a, err := mem.Alloc(poolAlloc(p.name, bytes, socket, dimm, nvm))
	if err != nil {
		return nil, fmt.Errorf("rdpma: pool of machine %d socket %d: %w", machine, socket, err)
	}
	p.base, p.next, p.end = a, a, a+bytes
	p.rkey = mem.Register(a, bytes, host.LocalWrite|host.RemoteRead|host.RemoteWrite|host.RemoteAtomic).RKey
	return p, nil
}

// alloc finds room for size bytes in the pool.
func (s *server) alloc(p *pool, size, granule int, atomic bool) (uint32, error) {
	room := roundUp(size, granule)
	k := shape{room, granule}
	if list := p.freed[k]; len(list) > 0 {
		i := list[len(list)-1]
		p.freed[k] = list[:len(list)-1]
		b := &s.blocks[i]
		b.gen++
		b.size, b.atomic = uint32(size), atomic
		return i, nil
	}
	at := r2.Addr(roundUp(int(p.next), granule))
	if at+r2.Addr(room) > p.end {
		return 0, fmt.Errorf("rdpma: %d bytes on machine %d: %d of %d are left in %s: free something or open a larger pool: %w",
			size, s.machine, p.end-min(p.next, p.end), p.end-p.base, p.name, ErrNoSpace)
	}
	p.next = at + r2.Addr(room)
	s.blocks = append(s.blocks, block{addr: at, pool: p, gen: 1, size: uint32(size), room: uint32(room), granule: uint16(granule), atomic: atomic})
	return uint32(len(s.blocks) - 1), nil
}

// free takes a block back.
func (s *server) free(i uint32) {
	b := &s.blocks[i]
	b.gen++
	if b.gen < lastGen-1 {
		k := shape{int(b.room), int(b.granule)}
		b.pool.freed[k] = append(b.pool.freed[k], i)
	}
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
