package fabric

// Addr is an address in one machine's memory.
type Addr = uint64

const (
	lineShift = 6
	lineBytes = 1 << lineShift // a cache line and a PCIe data word
	pageShift = 12
	pageBytes = 1 << pageShift // a page of lazily made memory
	hugeShift = 21             // a page of the translation caches (2 MB)
)
