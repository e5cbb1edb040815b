package rdpma

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/r2"
)

// Why an operation is refused. Errors wrap one of these and say more.
var (
	// ErrForeign: the pointer does not come from this Memory.
	ErrForeign = errors.New("foreign pointer")
	// ErrFreed: what it points to was freed.
	ErrFreed = errors.New("pointer to freed memory")
	// ErrStale: what it points to was freed and allocated again.
	ErrStale = errors.New("stale pointer")
	// ErrSize: more bytes than are allocated, than one operation carries, or none.
	ErrSize = errors.New("bad size")
	// ErrRange: the bytes go beyond the end of the allocation.
	ErrRange = errors.New("out of range")
	// ErrMisaligned: the offset is no multiple of 8.
	ErrMisaligned = errors.New("misaligned offset")
	// ErrKind: an atomic on ordinary memory, or the other way round.
	ErrKind = errors.New("wrong kind of memory")
	// ErrVolatile: the write could not become persistent.
	ErrVolatile = errors.New("not persistent")
	// ErrNoSpace: the pool is full.
	ErrNoSpace = errors.New("no space")
)

// Ptr is a fat pointer: a server, an address there, how many bytes, and which
// use of that memory is meant. It is a value; the zero Ptr points nowhere.
// Only Alloc makes one that is accepted (§2.3.5.1: arbitrary pointers could name
// memory that is not aligned and padded, and writes would corrupt it).
type Ptr struct {
	addr    r2.Addr
	seal    uint64 // over everything else, and a secret of the Memory
	block   uint32
	gen     uint32
	size    uint32
	machine uint16
	socket  uint8
	atomic  bool
}

// PtrBytes is the size of an encoded pointer.
const PtrBytes = 32

// Machine is the server.
func (p Ptr) Machine() int { return int(p.machine) }

// Addr is its address in the server's memory: for oracles and plots. Operations
// take the pointer.
func (p Ptr) Addr() r2.Addr { return p.addr }

// Len is how many bytes were asked for.
func (p Ptr) Len() int { return int(p.size) }

// IsNil says that it is the zero pointer.
func (p Ptr) IsNil() bool { return p == Ptr{} }

// String is for messages.
func (p Ptr) String() string {
	if p.IsNil() {
		return "nil"
	}
	return fmt.Sprintf("m%d:%#x+%d", p.machine, p.addr, p.size)
}

// Append encodes the pointer, for keeping it in remote memory or sending it.
func (p Ptr) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, p.seal)
	b = binary.LittleEndian.AppendUint64(b, p.addr<<16|uint64(p.machine))
	b = binary.LittleEndian.AppendUint32(b, p.block)
	b = binary.LittleEndian.AppendUint32(b, p.gen)
	b = binary.LittleEndian.AppendUint32(b, p.size)
	kind := uint32(p.socket)
	if p.atomic {
		kind |= 1 << 8
	}
	return binary.LittleEndian.AppendUint32(b, kind)
}

// ParsePtr decodes a pointer. Whether it is a true one shows when it is used.
func ParsePtr(b []byte) (Ptr, error) {
	if len(b) < PtrBytes {
		return Ptr{}, fmt.Errorf("rdpma: encoded pointer has %d bytes, must have %d: %w", len(b), PtrBytes, ErrForeign)
	}
	at, kind := binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint32(b[28:])
	return Ptr{
		seal: binary.LittleEndian.Uint64(b), addr: at >> 16, machine: uint16(at),
		block: binary.LittleEndian.Uint32(b[16:]), gen: binary.LittleEndian.Uint32(b[20:]),
		size: binary.LittleEndian.Uint32(b[24:]), socket: uint8(kind), atomic: kind>>8&1 != 0,
	}, nil
}

// sealed is the seal of a pointer under a secret. It guards against mistakes,
// not against an adversary.
func (p Ptr) sealed(secret uint64) uint64 {
	h := secret
	for _, x := range [...]uint64{p.addr, uint64(p.block)<<32 | uint64(p.gen),
		uint64(p.size)<<32 | uint64(p.machine)<<16 | uint64(p.socket)} {
		h = (h ^ x) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	if p.atomic {
		h = ^h
	}
	return h
}
