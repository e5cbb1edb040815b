package rdpma

import (
	"fmt"
	"strings"
)

// Granularities of Table 2-3.
const (
	// LineBytes is what CPU, PCIe and XController handle at once.
	LineBytes = 64
	// XLineBytes is what the media handle at once, and from where on a write is
	// large ("small writes, i.e. below XPLine").
	XLineBytes = 256
	// wordBytes is the alignment of offsets, and of allocations without a hint.
	wordBytes = 8
)

// Hints are the design advice of Table 2-4, one switch each. The zero value
// treats NVM as if it were DRAM.
type Hints struct {
	H1 bool // avoid cross-socket NVM accesses
	H2 bool // limit concurrent access to a single DIMM (two-sided)
	H3 bool // disable DDIO (one-sided); if it must stay, large writes two-sided
	H4 bool // ntstore instead of store for large writes (two-sided)
	H5 bool // XPLine granularity for writes
	H6 bool // 64 B granularity for small writes (one-sided)
	H7 bool // 64 B granularity with ntstore for small writes (two-sided)
	H8 bool // data of atomic operations in DRAM
	H9 bool // persistent WRITE and its READ in one doorbell (one-sided)
}

// AllHints is the optimized configuration.
func AllHints() Hints {
	return Hints{true, true, true, true, true, true, true, true, true}
}

// fields are the switches in order, for text.
func (h *Hints) fields() [9]*bool {
	return [9]*bool{&h.H1, &h.H2, &h.H3, &h.H4, &h.H5, &h.H6, &h.H7, &h.H8, &h.H9}
}

// String lists the hints that are on, as ParseHints reads them.
func (h Hints) String() string {
	var on []string
	for i, f := range h.fields() {
		if *f {
			on = append(on, fmt.Sprintf("H%d", i+1))
		}
	}
	switch len(on) {
	case 0:
		return "none"
	case 9:
		return "all"
	}
	return strings.Join(on, ",")
}

// Primitive is how an operation reaches the server's memory.
type Primitive uint8

// The primitives.
const (
	OneSided Primitive = iota // the server's RNIC does it
	TwoSided                  // the server's CPU does it
)

// String is the name.
func (p Primitive) String() string {
	if p == OneSided {
		return "one-sided"
	}
	return "two-sided"
}

// granule is to what a write of n bytes is aligned and padded: H6 or H7 below
// an XLine, else H5.
func (h *Hints) granule(how Primitive, n int) int {
	small := h.H6
	if how == TwoSided {
		small = h.H7
	}
	switch {
	case n < XLineBytes && small:
		return LineBytes
	case h.H5:
		return XLineBytes
	}
	return wordBytes
}

// nonTemporal says whether a server stores n bytes with ntstore: H4 for large
// writes, H7 for small ones.
func (h *Hints) nonTemporal(n int) bool {
	if n < XLineBytes {
		return h.H7
	}
	return h.H4
}
