// Package lazy has arrays in simulated memory whose elements are pure functions of their numbers until an operation touches
// them, so that a table of a hundred million entries takes address space and no memory.
//
// Fabric makes initial bytes in blocks of 512. Elements need not divide them: an element that reaches over the edge of a
// block is made for each of its blocks.
package lazy

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
)

const blockBytes = 512

// Array is elements of one size, one behind the other.
type Array struct {
	mem  *host.Memory
	base r2.Addr
	size uint64
	room uint64
}

// Options describe an array.
type Options struct {
	Name   string // for messages to people
	Socket int
	// Interleaved has its pages go round the sockets, see fabric.Alloc.
	Interleaved bool

	Size int    // of an element in bytes
	N    uint64 // elements that Make makes; others are zeros
	Room uint64 // elements in all
	// Make writes the initial bytes of an element. It must be a pure function of its number. b is zeros.
	Make func(i uint64, b []byte)
}

// New takes address space on a machine.
func New(cl *r2.Cluster, machine int, o Options) (*Array, error) {
	a := &Array{mem: cl.Mem(machine), size: uint64(o.Size), room: max(o.Room, o.N, 1)}
	of := host.Alloc{Name: o.Name, Bytes: a.room * a.size, Socket: o.Socket, Interleaved: o.Interleaved}
	if o.Make != nil {
		of.Fill = a.filler(o)
	}
	base, err := a.mem.Alloc(of)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	a.base = base
	return a, nil
}

// filler makes blocks.
func (a *Array) filler(o Options) func(block uint64, dst []byte) {
	scratch := make([]byte, o.Size)
	return func(block uint64, dst []byte) {
		from := block * blockBytes
		for i := from / a.size; i < o.N && i*a.size < from+blockBytes; i++ {
			at := i * a.size
			if at >= from && at+a.size <= from+blockBytes {
				o.Make(i, dst[at-from:][:a.size:a.size])
				continue
			}
			clear(scratch)
			o.Make(i, scratch)
			if at >= from {
				copy(dst[at-from:], scratch)
			} else {
				copy(dst, scratch[from-at:])
			}
		}
	}
}

// At is the address of an element.
func (a *Array) At(i uint64) r2.Addr { return a.base + r2.Addr(i*a.size) }

// Number is the element at an address, which At has given.
func (a *Array) Number(at r2.Addr) uint64 { return uint64(at-a.base) / a.size }

// Room is how many elements there are.
func (a *Array) Room() uint64 { return a.room }

// Bytes are an element as it is now, without charge.
func (a *Array) Bytes(i uint64) []byte { return a.mem.Bytes(a.At(i), int(a.size)) }

// Touched reports whether any part of an element has come into being.
func (a *Array) Touched(i uint64) bool { return a.mem.Touched(a.At(i), a.size) }
