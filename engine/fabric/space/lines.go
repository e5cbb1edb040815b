package space

// Addr is an address in one machine's memory.
type Addr = uint64

// The parts of memory: a cache line, which is a PCIe data word too, a block of lazily made
// memory, and a page of the translation caches (2 MB).
const (
	LineShift  = 6
	LineBytes  = 1 << LineShift
	BlockShift = 9
	BlockBytes = 1 << BlockShift
	HugeShift  = 21
)

// MaxBytes bounds what can be allocated in a machine, DRAM and NVM together: no
// host has more, and addresses of reserved memory have to follow.
const MaxBytes = 192 << 30

// MaxAddr bounds addresses, so that line numbers fit 32 bits.
const MaxAddr Addr = 1 << 38

// Lines are those of n bytes at a, at least one.
func Lines(a Addr, n int) (first, last Addr) {
	return a >> LineShift, (a + Addr(max(n, 1)) - 1) >> LineShift
}

// RoundUp is the least multiple of to, a power of two, that n fits into.
func RoundUp(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }
