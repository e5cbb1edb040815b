package fabric

// Addr is an address in one machine's memory.
type Addr = uint64

const (
	lineShift  = 6
	lineBytes  = 1 << lineShift // a cache line and a PCIe data word
	blockShift = 9
	blockBytes = 1 << blockShift // a block of lazily made memory
	hugeShift  = 21              // a page of the translation caches (2 MB)
)
