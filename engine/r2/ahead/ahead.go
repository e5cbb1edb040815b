// Package ahead says what a coroutine will touch of the host's memory when it goes on, so that the host has it in its cache by then:
// thousands of coroutines take turns, and little of what one needs is there. Nothing here has an effect on results.
package ahead

import (
	"unsafe"

	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// Hint is where the memory of a coroutine of type C is, without touching it: one line.
type Hint[C any] struct {
	Co        *C
	Proc      *sim.Proc      // nil while it goes on in steps
	use       unsafe.Pointer // see Use
	also      unsafe.Pointer // see Also
	data      unsafe.Pointer // see Data
	more      func()
	lines     uint32
	alsoLines uint32
	_         [8]byte
}

// Use names n bytes that the coroutine will touch, and what asks, by Prefetch, for what they lead to.
func (h *Hint[C]) Use(use unsafe.Pointer, n uintptr, more func()) {
	h.use, h.lines, h.more = use, uint32(linesOf(use, n)), more
}

// Also names further bytes, which are asked for together with those of Use.
func (h *Hint[C]) Also(x unsafe.Pointer, n uintptr) {
	h.also, h.alsoLines = x, uint32(linesOf(x, n))
}

// Data names what the coroutine's latest READ fills.
func (h *Hint[C]) Data(b []byte) {
	if len(b) > 0 {
		h.data = unsafe.Pointer(&b[0])
	}
}

// Ask asks for lines of the coroutine, and for all that is named.
func (h *Hint[C]) Ask(lines int) {
	sim.PrefetchLines(unsafe.Pointer(h.Co), lines)
	if h.Proc != nil {
		h.Proc.Ahead()
	}
	if h.use != nil {
		sim.PrefetchLines(h.use, int(h.lines))
		sim.Prefetch(*(*unsafe.Pointer)(unsafe.Pointer(&h.more)))
	}
	if h.also != nil {
		sim.PrefetchLines(h.also, int(h.alsoLines))
	}
	if h.data != nil {
		sim.Prefetch(h.data)
	}
}

// AskMore asks for what that leads to, once it is there.
func (h *Hint[C]) AskMore() {
	if h.more != nil {
		h.more()
	}
}

// All asks for a list's values.
func All[T any](list []T) {
	if len(list) > 0 {
		p := unsafe.Pointer(&list[0])
		sim.PrefetchLines(p, linesOf(p, uintptr(len(list))*unsafe.Sizeof(list[0])))
	}
}

// linesOf is over how many lines n bytes reach.
func linesOf(p unsafe.Pointer, n uintptr) int {
	return int((uintptr(p)%space.LineBytes + n + space.LineBytes - 1) / space.LineBytes)
}
